/* Hunt corpora: what merge reads, and a hunt that goes on. */
#include "fuzz.h"
#include "referee/hunt/hunt.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    hunt_state hunt = {0};
    error err = {0};
    bool complete;
    bool fine = hunt_load(fuzz_file(bytes, size), &hunt, &complete, &err);
    FUZZ_CHECK(fine || err.code != EXIT_CODE_FINE);
    if (fine)
        hunt_free(&hunt);
    return 0;
}

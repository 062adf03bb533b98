/* A shard of a hunt: what merge and fleet read, and a hunt that goes on. */
#include "fuzz.h"
#include "referee/hunt/shard.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    hunt_shard shard = {0};
    error err = {0};
    bool fine = hunt_shard_read(fuzz_file(bytes, size), &shard, &err);
    FUZZ_CHECK(fine || err.code != EXIT_CODE_FINE);
    if (fine)
        hunt_shard_free(&shard);
    return 0;
}

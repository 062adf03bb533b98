/* Worst rows: the files of reference/worst, and of replay. */
#include "fuzz.h"
#include "inputs/worst.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    worst_list list = {0};
    error err = {0};
    bool fine = worst_list_read(fuzz_file(bytes, size), &list, &err);
    FUZZ_CHECK(fine || err.code != EXIT_CODE_FINE);
    if (fine)
        worst_list_free(&list);
    return 0;
}

/* Fuzzes files of adversarial rows, as reference/worst has them and replay reads them. */
#include "fuzz.h"
#include "base/die.h"
#include "inputs/worst.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static worst_list list;
    die_catcher caught = {0};
    die_caught_by = &caught;
    if (setjmp(caught.place) == 0)
        worst_list_read(fuzz_file(bytes, size), &list);
    worst_list_free(&list);
    return 0;
}

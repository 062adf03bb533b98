/* Fuzzes .npz archives, with and without the name of an array. */
#include "tensor.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_tensor(bytes, size, "x.npz:x", "-1", false);
    fuzz_tensor(bytes, size, "x.npz", "0", true);
    return 0;
}

/* Fuzzes .npy files, as --x reads them. */
#include "tensor.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_tensor(bytes, size, "x.npy", "-1", false);
    fuzz_tensor(bytes, size, "x.npy", "0,-2", true);
    return 0;
}

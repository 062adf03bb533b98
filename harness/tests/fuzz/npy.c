/* .npy files, as --x reads them. */
#include "tensor.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *path = fuzz_file(bytes, size);
    fuzz_tensor(path, "-1", false);
    fuzz_tensor(path, "0,-2", true);
    return 0;
}

/* Fuzzes .safetensors files, with and without the name of a tensor. */
#include "tensor.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_tensor(bytes, size, "x.safetensors:x", "-1", false);
    fuzz_tensor(bytes, size, "x.safetensors", "0", true);
    return 0;
}

/* .safetensors files, by the name of a tensor and without. */
#include "tensor.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char *path;
    static char named[70];
    if (!path)
        snprintf(named, sizeof named, "%s:x", path = fuzz_link(".safetensors"));
    fuzz_file(bytes, size);
    fuzz_tensor(named, "-1", false);
    fuzz_tensor(path, "0", true);
    return 0;
}

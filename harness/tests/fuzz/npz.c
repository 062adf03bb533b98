/* .npz archives, by the name of an array and without. */
#include "tensor.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char *path;
    static char named[70];
    if (!path)
        snprintf(named, sizeof named, "%s:x", path = fuzz_link(".npz"));
    fuzz_file(bytes, size);
    fuzz_tensor(named, "-1", false);
    fuzz_tensor(path, "0", true);
    return 0;
}

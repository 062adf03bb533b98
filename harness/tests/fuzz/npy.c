/* .npy files, as --x reads them. */
#include "fuzz.h"
#include "inputs/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    npy_array array;
    error err = {0};
    char shape[128];
    const char *path = fuzz_file(bytes, size);
    for (int as_bf16 = 0; as_bf16 < 2; as_bf16++) {
        bool fine = npy_read(path, as_bf16 != 0, &array, &err);
        FUZZ_CHECK(fine || (err.code != EXIT_CODE_FINE && !strchr(err.message, '\n')));
        if (fine) {
            npy_shape_text(&array, shape);
            npy_free(&array);
        }
    }
    return 0;
}

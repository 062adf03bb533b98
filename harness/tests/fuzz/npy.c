/* .npy files, and .npz archives, as --x reads them. */
#include "fuzz.h"
#include "inputs/tensor/tensor.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    tensor_array array;
    error err = {0};
    char shape[128];
    const char *path = fuzz_file(bytes, size);
    for (int as_bf16 = 0; as_bf16 < 2; as_bf16++) {
        const tensor_request request = {.path = path, .u2_is_bf16 = as_bf16 != 0};
        bool fine = tensor_read(&request, &array, &err);
        FUZZ_CHECK(fine || (err.code != EXIT_CODE_FINE && !strchr(err.message, '\n')));
        if (fine) {
            tensor_shape_text(&array, shape);
            tensor_free(&array);
        }
    }
    return 0;
}

/* Fuzzes files of FUZZ_FORMAT ("npy", "npz", "safetensors"): --x reads the bytes or refuses them in one line, and the
 * data are as large as their shape says. */
#include "fuzz.h"
#include "base/die.h"
#include "inputs/tensor.h"

/* A parsed safetensors header is not freed when die() is caught; a program would have ended. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

static void fuzz_tensor(const uint8_t *bytes, size_t size, const char *path, const char *axis,
                        bool u2_is_bf16)
{
    static arena memory;
    tensor_array array;
    tensor_axes axes;
    die_catcher caught = {0};
    char shape[128];
    tensor_axes_parse(axis, &axes);
    const tensor_request request = {.path = path, .axes = &axes, .u2_is_bf16 = u2_is_bf16};
    die_caught_by = &caught;
    if (setjmp(caught.place) == 0)
        tensor_read_bytes(&memory, bytes, size, &request, &array);
    die_caught_by = NULL;
    if (caught.error.code != EXIT_CODE_FINE) {
        FUZZ_CHECK(!strchr(caught.error.message, '\n'));
        arena_free(&memory);
        return;
    }
    size_t elements = 1;
    for (size_t i = 0; i < array.dimensions; i++)
        elements = array.shape[i] == 0 || elements == 0 ? 0 : elements * array.shape[i];
    FUZZ_CHECK(elements == array.elements && tensor_shape_text(&array, shape) &&
               (elements == 0 || elements % array.hidden == 0));
    arena_free(&memory);
}

/* The name of an array or tensor is given once and left out once; an npy file has no names. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const bool npy = strcmp(FUZZ_FORMAT, "npy") == 0;
    fuzz_tensor(bytes, size, npy ? "x.npy" : "x." FUZZ_FORMAT ":x", "-1", false);
    fuzz_tensor(bytes, size, "x." FUZZ_FORMAT, npy ? "0,-2" : "0", true);
    return 0;
}

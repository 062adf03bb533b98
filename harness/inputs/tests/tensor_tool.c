/* Reads tensors as every command does, for tensor_forms_test.py.
 *
 *     tensor_tool bf16|- AXES|- PATH...
 *
 * Prints a line for each file: type, shape, hidden and the elements' bytes; or the exit code and the error. */
#include "base/die.h"
#include "inputs/tensor.h"
#include <stdio.h>
#include <string.h>

static void print(const char *path, bool u2_is_bf16, const char *axis)
{
    tensor_axes axes;
    tensor_array array;
    arena memory = {0};
    die_catcher caught = {0};
    char shape[128];
    const tensor_request request = {.path = path, .u2_is_bf16 = u2_is_bf16, .axes = &axes};
    die_caught_by = &caught;
    if (setjmp(caught.place) != 0) {
        printf("error %d %s\n", (int)caught.error.code, caught.error.message);
        return;
    }
    tensor_axes_parse(axis, &axes);
    tensor_read(&memory, &request, &array);
    printf("%s %s %zu ", dtype_name(array.dtype), tensor_shape_text(&array, shape), array.hidden);
    for (size_t i = 0; i < array.elements * dtype_size(array.dtype); i++)
        printf("%02x", ((const unsigned char *)array.data)[i]);
    printf("\n");
    arena_free(&memory);
}

int main(int argc, char **argv)
{
    for (int i = 3; i < argc; i++)
        print(argv[i], strcmp(argv[1], "bf16") == 0, strcmp(argv[2], "-") == 0 ? NULL : argv[2]);
    return 0;
}

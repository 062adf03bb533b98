/* What the targets of npy, npz and safetensors files share: bytes are read as --x reads a file of them, or refused in
 * one line, and what was read is as large as its shape says. */
#ifndef LNBENCH_FUZZ_TENSOR_H
#define LNBENCH_FUZZ_TENSOR_H

#include "fuzz.h"
#include "inputs/tensor/internal.h"

static inline void fuzz_tensor(const uint8_t *bytes, size_t size, const char *path,
                               const char *axis, bool u2_is_bf16)
{
    tensor_array array;
    tensor_axes axes;
    error err = {0};
    char shape[128];
    FUZZ_CHECK(tensor_axes_parse(axis, &axes, &err));
    const tensor_request request = {.path = path, .axes = &axes, .u2_is_bf16 = u2_is_bf16};
    FILE *file = fmemopen((void *)bytes, size, "rb");
    FUZZ_CHECK(file);
    bool fine = tensor_read_open(file, &request, &array, &err);
    fclose(file);
    if (!fine) {
        FUZZ_CHECK(err.code != EXIT_CODE_FINE && !strchr(err.message, '\n') && !array.data);
        return;
    }
    size_t elements = 1;
    for (size_t i = 0; i < array.dimensions; i++)
        elements = array.shape[i] == 0 || elements == 0 ? 0 : elements * array.shape[i];
    FUZZ_CHECK(elements == array.elements && tensor_shape_text(&array, shape) &&
               (elements == 0 || elements % array.hidden == 0));
    tensor_free(&array);
}

#endif

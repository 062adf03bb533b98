/* Rows of a user's file as inputs. What makes rows of families links without these files: liblnjudge has
 * no_files.c in their place, and needs neither zlib nor jansson. */
#include "inputs/inputs.h"
#include "inputs/tensor/tensor.h"
#include "inputs/typed.h"
#include "metrics/storage.h"
#include <math.h>
#include <string.h>

/* Rounds to the type; what is finite must stay so. */
static bool take_row(const tensor_array *array, const char *path, size_t row, size_t hidden,
                     ln_type type, void *x, error *err)
{
    for (size_t i = 0; i < hidden; i++) {
        size_t at = row * hidden + i;
        double value = storage_load(array->dtype, array->data, at);
        storage_store(type, x, i, value);
        if (isfinite(value) && !isfinite(storage_load(type, x, i)))
            return fail(err, EXIT_CODE_USAGE,
                        "%s: element %zu is %g: beyond %s, whose largest number is %s", path, at,
                        value, dtype_name(type), type == LN_F16 ? "65504" : "3.4e38");
    }
    return true;
}

bool input_rows_of_file(const char *path, ln_type type, size_t first, size_t count, size_t hidden,
                        void *x, error *err)
{
    const tensor_request request = {.path = path, .u2_is_bf16 = type == LN_BF16};
    tensor_array array;
    if (!tensor_read(&request, &array, err))
        return false;
    size_t row_bytes = hidden * dtype_size(type);
    bool fine = tensor_has_rows(&array, path, err);
    if (fine && array.hidden != hidden)
        fine = fail(err, EXIT_CODE_USAGE, "%s: last axis is %zu long: expected hidden %zu", path,
                    array.hidden, hidden);
    size_t rows = fine ? array.elements / hidden : 1;
    for (size_t i = 0; fine && i < count; i++) {
        size_t row = (first + i) % rows;
        char *to = (char *)x + i * row_bytes;
        if (array.dtype == type) /* bit for bit */
            memcpy(to, (const char *)array.data + row * row_bytes, row_bytes);
        else
            fine = take_row(&array, path, row, hidden, type, to, err);
    }
    tensor_free(&array);
    return fine;
}

bool input_file_shape(const char *path, size_t *rows, size_t *hidden, error *err)
{
    /* Of u2 the shape is known, whatever it holds. */
    const tensor_request request = {.path = path, .u2_is_bf16 = true};
    tensor_array array;
    bool fine = tensor_read(&request, &array, err) && tensor_has_rows(&array, path, err);
    if (fine) {
        *hidden = array.hidden;
        *rows = array.elements / array.hidden;
    }
    tensor_free(&array);
    return fine;
}

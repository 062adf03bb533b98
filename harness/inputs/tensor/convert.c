/* Elements in another type, where that changes none of them. */
#include "inputs/tensor/tensor.h"
#include "metrics/storage.h"
#include <math.h>
#include <stdlib.h>

/* The first element that is no number of the type, which all others are stored in; none: the count. */
static size_t store_all(const tensor_array *array, ln_type type, void *to)
{
    double room;
    for (size_t i = 0; i < array->elements; i++) {
        double value = storage_load(array->dtype, array->data, i);
        void *place = to ? to : &room;
        storage_store(type, place, to ? i : 0, value);
        if (!isnan(value) && storage_load(type, place, to ? i : 0) != value)
            return i;
    }
    return array->elements;
}

bool tensor_converts(const tensor_array *array, ln_type type)
{
    return array->dtype == type || store_all(array, type, NULL) == array->elements;
}

bool tensor_convert(tensor_array *array, ln_type type, const char *whose, const char *path,
                    const char *option, error *err)
{
    static const char *const descr[] = {
        [LN_F32] = "f4", [LN_F64] = "f8", [LN_BF16] = "bf16", [LN_F16] = "f2"};
    if (array->dtype == type)
        return true;
    void *to = malloc(array->elements * dtype_size(type) + 1);
    if (!to)
        return fail_memory(err, path);
    size_t i = store_all(array, type, to);
    if (i < array->elements) {
        free(to);
        return fail(err, EXIT_CODE_USAGE,
                    "%s (--%s): element %zu, %.17g, is no %s, %s: save it as %s and so choose the "
                    "rounding",
                    path, option, i, storage_load(array->dtype, array->data, i), dtype_name(type),
                    whose, descr[type]);
    }
    free(array->data);
    array->data = to;
    array->dtype = type;
    return true;
}

bool tensor_is_finite(const tensor_array *array, const char *path, const char *option, error *err)
{
    for (size_t i = 0; i < array->elements; i++)
        if (!isfinite(storage_load(array->dtype, array->data, i)))
            return fail(err, EXIT_CODE_USAGE,
                        "%s (--%s): element %zu is %g: expected finite numbers", path, option, i,
                        storage_load(array->dtype, array->data, i));
    return true;
}

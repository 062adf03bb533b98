/* Which axes make a row, and what has the shape of one. */
#include "inputs/tensor/internal.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool tensor_axes_parse(const char *text, tensor_axes *axes, error *err)
{
    *axes = (tensor_axes){0};
    for (const char *at = text ? text : "-1";; at++) {
        char *end;
        errno = 0;
        long long value = strtoll(at, &end, 10);
        if (end == at || errno != 0 || axes->count == TENSOR_MAX_DIMENSIONS ||
            (*end && *end != ','))
            return fail(err, EXIT_CODE_USAGE, "--axis %.100s: expected numbers such as -1 or 1,2",
                        text);
        axes->values[axes->count++] = value;
        at = end;
        if (!*at)
            return true;
    }
}

/* The places of the axes of a row, each once. */
static bool find_axes(const tensor_array *array, const tensor_axes *axes, const char *path,
                      bool in_row[TENSOR_MAX_DIMENSIONS], error *err)
{
    char shape[128];
    long long dimensions = (long long)array->dimensions;
    for (size_t i = 0; i < axes->count; i++) {
        long long value = axes->values[i];
        long long place = value < 0 ? value + dimensions : value;
        if (place < 0 || place >= dimensions)
            return fail(err, EXIT_CODE_USAGE, "%s: shape %s has no axis %lld", path,
                        tensor_shape_text(array, shape), value);
        if (in_row[place])
            return fail(err, EXIT_CODE_USAGE, "--axis: axis %lld twice: expected it once", value);
        in_row[place] = true;
    }
    return true;
}

bool tensor_order(tensor_array *array, const tensor_axes *axes, const char *path, error *err)
{
    static const tensor_axes last = {.count = 1, .values = {-1}};
    bool in_row[TENSOR_MAX_DIMENSIONS] = {false};
    size_t count = 0;
    if (array->dimensions > 0 && !find_axes(array, axes ? axes : &last, path, in_row, err))
        return false;
    array->hidden = 1;
    for (int row = 0; row < 2; row++)
        for (size_t i = 0; i < array->dimensions; i++)
            if (in_row[i] == row)
                array->order[count++] = i;
    for (size_t i = 0; i < count; i++)
        if (in_row[array->order[i]]) {
            array->row_axes++;
            array->hidden *= array->shape[array->order[i]];
        }
    return true;
}

const char *tensor_shape_text(const tensor_array *array, char buffer[128])
{
    size_t at = (size_t)snprintf(buffer, 128, "(");
    for (size_t i = 0; i < array->dimensions && at < 100; i++)
        at += (size_t)snprintf(buffer + at, 128 - at, "%s%zu", i ? ", " : "", array->shape[i]);
    snprintf(buffer + at, 128 - at, "%s)", array->dimensions == 1 ? "," : "");
    return buffer;
}

bool tensor_same_shape(const tensor_array *x, const tensor_array *other, const char *path,
                       const char *option, error *err)
{
    char wanted[128], given[128];
    bool same = x->dimensions == other->dimensions;
    for (size_t i = 0; same && i < x->dimensions; i++)
        same = x->shape[i] == other->shape[i];
    return same ||
           fail(err, EXIT_CODE_USAGE, "%s (--%s): shape %s; %s was expected, as x has", path,
                option, tensor_shape_text(other, given), tensor_shape_text(x, wanted));
}

bool tensor_has_rows(const tensor_array *array, const char *path, error *err)
{
    char shape[128];
    if (array->dimensions == 0)
        return fail(err, EXIT_CODE_USAGE,
                    "%s: a single number, without axes (shape ()): expected at least one row, "
                    "such as shape (1, 768)",
                    path);
    return array->elements > 0 ||
           fail(err, EXIT_CODE_USAGE,
                "%s: shape %s has no elements: expected at least one row of at least one", path,
                tensor_shape_text(array, shape));
}

/* How far apart two neighbours of the parameter lie along each axis of a row, 0 where it has one
 * element for all of them. false: it does not broadcast. */
static bool find_steps(const tensor_array *x, const tensor_array *parameter,
                       size_t steps[TENSOR_MAX_DIMENSIONS])
{
    size_t row_axes = x->row_axes, count = parameter->dimensions, step = 1;
    const size_t *order = x->order + (x->dimensions - row_axes);
    bool whole = count > row_axes; /* it has axes for all of x's, and not those of a row alone */
    size_t axes = whole ? x->dimensions : row_axes;
    memset(steps, 0, TENSOR_MAX_DIMENSIONS * sizeof *steps);
    if (count > axes)
        return false;
    for (size_t i = axes; i-- > axes - count;) {
        size_t size = parameter->shape[i - (axes - count)], place = 0;
        while (whole && place < row_axes && order[place] != i)
            place++;
        place = whole ? place : i;
        if (size == 1)
            continue;
        if (place == row_axes || size != x->shape[order[place]])
            return false;
        steps[place] = step;
        step *= size;
    }
    return true;
}

bool tensor_broadcast(const tensor_array *x, tensor_array *parameter, const char *path,
                      const char *option, error *err)
{
    char shape[128], row[128];
    size_t steps[TENSOR_MAX_DIMENSIONS], size = dtype_size(parameter->dtype);
    tensor_array one = {.dimensions = x->row_axes};
    for (size_t i = 0; i < x->row_axes; i++)
        one.shape[i] = x->shape[x->order[x->dimensions - x->row_axes + i]];
    if (parameter->dimensions == 1 && parameter->elements == x->hidden)
        return true;
    if (!find_steps(x, parameter, steps))
        return fail(err, EXIT_CODE_USAGE,
                    "%s (--%s): shape %s; %s was expected, or what broadcasts to it", path, option,
                    tensor_shape_text(parameter, shape), tensor_shape_text(&one, row));
    char *to = malloc(x->hidden * size + 1);
    if (!to)
        return fail_memory(err, path);
    for (size_t i = 0; i < x->hidden; i++) {
        size_t from = 0, left = i;
        for (size_t axis = x->row_axes; axis-- > 0; left /= one.shape[axis])
            from += left % one.shape[axis] * steps[axis];
        memcpy(to + i * size, (const char *)parameter->data + from * size, size);
    }
    free(parameter->data);
    parameter->data = to;
    parameter->elements = x->hidden;
    return true;
}

bool tensor_write(const char *path, ln_type dtype, const tensor_array *x, const void *rows,
                  error *err)
{
    size_t size = dtype_size(dtype), at[TENSOR_MAX_DIMENSIONS] = {0};
    bool as_they_lie = true;
    for (size_t i = 0; i < x->dimensions; i++)
        as_they_lie = as_they_lie && x->order[i] == i;
    if (as_they_lie)
        return npy_write(path, dtype, x->dimensions, x->shape, rows, err);
    char *to = malloc(x->elements * size + 1);
    if (!to)
        return fail_memory(err, path);
    for (size_t i = 0; i < x->elements; i++) {
        size_t place = 0;
        for (size_t axis = 0; axis < x->dimensions; axis++)
            place = place * x->shape[axis] + at[axis];
        memcpy(to + place * size, (const char *)rows + i * size, size);
        for (size_t j = x->dimensions; j-- > 0;) {
            size_t axis = x->order[j];
            if (++at[axis] < x->shape[axis])
                break;
            at[axis] = 0;
        }
    }
    bool fine = npy_write(path, dtype, x->dimensions, x->shape, to, err);
    free(to);
    return fine;
}

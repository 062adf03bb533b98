#include "commands/tensors.h"
#include "metrics/storage.h"
#include <math.h>

/* Whether every element is, as far as its type can tell, a decimal with so many places. */
static bool has_decimals(const double *values, size_t count, ln_type type, int digits)
{
    double power = pow(10, digits), half_ulp = type == LN_F64 ? 0x1p-53 : 0x1p-24;
    for (size_t i = 0; i < count; i++) {
        double scaled = values[i] * power, slack = fabs(scaled) * 2 * half_ulp;
        if (!isfinite(scaled))
            continue;
        if (slack > 0.125 || fabs(scaled - nearbyint(scaled)) > slack)
            return false;
    }
    return true;
}

static int guess_digits(const fingerprint_input *input, size_t count)
{
    int digits = input->digits;
    if (digits <= 0)
        return FINGERPRINT_EXACT;
    return has_decimals(input->x, count, input->x_type, digits) &&
                   !has_decimals(input->x, count, input->x_type, digits - 1)
               ? digits
               : FINGERPRINT_EXACT;
}

int fingerprint_printed_digits(const fingerprint_input *input)
{
    enum { MOST = 6, ENOUGH = 4 };
    size_t count = 1;
    for (size_t a = 0; a < input->dimensions; a++)
        count *= input->shape[a];
    for (int digits = 0; count >= ENOUGH && digits <= MOST; digits++)
        if (has_decimals(input->y, count, input->y_type, digits))
            return digits > 0 ? digits : FINGERPRINT_EXACT;
    return FINGERPRINT_EXACT;
}

/* Axes in front that are too many are one. Where a row is not the last axis, the elements lie otherwise than
 * the axes: they are rows. */
static void take_shape(const tensor_array *x, fingerprint_input *input)
{
    if (x->row_axes != 1 || x->order[x->dimensions - 1] != x->dimensions - 1) {
        input->dimensions = 2;
        input->shape[0] = x->elements / x->hidden;
        input->shape[1] = x->hidden;
        return;
    }
    size_t joined = x->dimensions > FINGERPRINT_AXES ? x->dimensions - FINGERPRINT_AXES : 0;
    input->dimensions = x->dimensions - joined;
    input->shape[0] = 1;
    for (size_t a = 0; a < x->dimensions; a++)
        if (a <= joined)
            input->shape[0] *= x->shape[a];
        else
            input->shape[a - joined] = x->shape[a];
}

static void take_parameter(const char *path, const char *name, const tensor_array *array,
                           fingerprint_input *input)
{
    tensor_is_finite(array, path, name);
    if (input->parameters && array->elements != input->parameters)
        die(EXIT_CODE_USAGE, "%s (--%s): %zu elements; %zu were expected, as gamma has", path, name,
            array->elements, input->parameters);
    input->parameters = array->elements;
    input->param = array->dtype;
}

void fingerprint_take(arena *memory, const tensor_array arrays[ROLES_MOST],
                      const char *const paths[ROLES_MOST], fingerprint_input *input)
{
    const operation *what = operations[LN_OPERATION_LAYERNORM];
    const tensor_array *x = &arrays[ROLE_X];
    double *values[ROLES_MOST] = {0};
    take_shape(x, input);
    for (size_t i = 0; i < what->count; i++) {
        const tensor_array *array = &arrays[i];
        if (!array->data)
            continue;
        if (role_is_parameter(&what->roles[i]))
            take_parameter(paths[i], what->roles[i].name, array, input);
        values[i] = arena_new(memory, double, array->elements + 1);
        for (size_t e = 0; e < array->elements; e++)
            values[i][e] = storage_load(array->dtype, array->data, e);
    }
    input->x = values[ROLE_X];
    input->residual = values[ROLE_RESIDUAL];
    input->gamma = values[ROLE_GAMMA];
    input->beta = values[ROLE_BETA];
    input->y = values[ROLE_Y];
    input->x_type = x->dtype;
    input->y_type = arrays[ROLE_Y].dtype;
    if (input->x_digits == FINGERPRINT_GUESS)
        input->x_digits = guess_digits(input, x->elements);
}

const char *tensor_option(size_t role)
{
    return operations[LN_OPERATION_LAYERNORM]->roles[role].name;
}

void tensors_read(arena *memory, const operation *what, const char *const paths[ROLES_MOST],
                  const tensor_request *like, bool parameters, tensor_array arrays[ROLES_MOST])
{
    for (size_t i = 0; i < what->count; i++) {
        const bool is_table = !role_is_parameter(&what->roles[i]);
        tensor_request request = *like;
        request.path = paths[i];
        if (!paths[i] || (!is_table && !parameters))
            continue;
        tensor_read(memory, &request, &arrays[i]);
        if (i == ROLE_X)
            tensor_has_rows(&arrays[i], paths[i]);
        else if (is_table)
            tensor_same_shape(&arrays[ROLE_X], &arrays[i], paths[i], tensor_option(i));
    }
}

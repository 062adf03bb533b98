/* The tensors of a fingerprint. */
#include "commands/fingerprint/command.h"
#include "base/allocate.h"
#include <math.h>

static bool read_real(const char *path, const char *option, tensor_array *array, error *err)
{
    const tensor_request request = {.path = path};
    return tensor_read(&request, array, err) &&
           (array->dtype == LN_F32 || array->dtype == LN_F64 ||
            fail(err, EXIT_CODE_USAGE, "%s (--%s): dtype %s; f4 or f8 was expected", path, option,
                 dtype_name(array->dtype)));
}

/* f8 to f4 in place. Values that are no f32 are an error unless they are known to be rounded. */
static bool to_f32(const char *path, const char *option, bool rounded, tensor_array *array,
                   error *err)
{
    if (array->dtype == LN_F32)
        return true;
    const double *from = array->data;
    float *to = array->data;
    for (size_t i = 0; i < array->elements; i++) {
        double value = from[i];
        if (!rounded && !isnan(value) && (double)(float)value != value)
            return fail(err, EXIT_CODE_USAGE,
                        "%s (--%s): element %zu, %.17g, is no f32: save what the black box was "
                        "given as f4, or say --x-digits D where it was printed to D decimals",
                        path, option, i, value);
        to[i] = (float)value;
    }
    array->dtype = LN_F32;
    return true;
}

static double element(const tensor_array *array, size_t i)
{
    return array->dtype == LN_F32 ? (double)((const float *)array->data)[i]
                                  : ((const double *)array->data)[i];
}

/* Whether every element is, as far as its type can tell, a decimal with so many places. */
static bool has_decimals(const tensor_array *array, int digits)
{
    double power = pow(10, digits);
    double half_ulp = array->dtype == LN_F32 ? 0x1p-24 : 0x1p-53;
    for (size_t i = 0; i < array->elements; i++) {
        double scaled = element(array, i) * power, slack = fabs(scaled) * 2 * half_ulp;
        if (!isfinite(scaled))
            continue;
        if (slack > 0.125 || fabs(scaled - nearbyint(scaled)) > slack)
            return false;
    }
    return true;
}

static int guess_digits(const tensor_array *x, int digits)
{
    if (digits <= 0)
        return FINGERPRINT_EXACT;
    return has_decimals(x, digits) && !has_decimals(x, digits - 1) ? digits : FINGERPRINT_EXACT;
}

static bool take_shape(const char *path, fingerprint_tensors *tensors, error *err)
{
    const tensor_array *x = &tensors->arrays[ROLE_X];
    size_t hidden = x->dimensions ? x->shape[x->dimensions - 1] : 0;
    char shape[128];
    if (x->elements == 0 || hidden == 0)
        return fail(err, EXIT_CODE_USAGE,
                    "%s (--x): shape %s; at least one row of at least one element was expected",
                    path, tensor_shape_text(x, shape));
    tensors->input.hidden = hidden;
    tensors->input.rows = x->elements / hidden;
    return true;
}

/* A vector or a scalar, as the parameter before is. */
static bool take_parameter(const char *path, size_t role, fingerprint_tensors *tensors, error *err)
{
    const tensor_role *roles = layernorm_operation.roles;
    const char *name = roles[role].name;
    tensor_array *array = &tensors->arrays[role];
    fingerprint_input *input = &tensors->input;
    if (!to_f32(path, name, false, array, err))
        return false;
    if (array->elements != 1 && array->elements != input->hidden)
        return fail(err, EXIT_CODE_USAGE,
                    "%s (--%s): %zu elements; %zu (a vector) or 1 (a scalar) were expected", path,
                    name, array->elements, input->hidden);
    if (input->parameters && array->elements != input->parameters)
        return fail(err, EXIT_CODE_USAGE, "%s (--%s): %zu elements; %zu were expected, as %s has",
                    path, name, array->elements, input->parameters, roles[role - 1].name);
    input->parameters = array->elements;
    input->inputs[role] = array->data;
    return true;
}

static bool read_files(const fingerprint_files *files, fingerprint_tensors *tensors, error *err)
{
    const operation *what = &layernorm_operation;
    bool fine = true;
    for (size_t i = 0; fine && i < what->count; i++) {
        const tensor_role *role = &what->roles[i];
        const char *path = files->paths[i];
        tensor_array *array = &tensors->arrays[i];
        if (!path)
            continue;
        fine = read_real(path, role->name, array, err) &&
               (i == ROLE_X ? take_shape(path, tensors, err)
                : role_is_parameter(role)
                    ? take_parameter(path, i, tensors, err)
                    : tensor_same_shape(tensors->arrays, array, path, role->name, err));
    }
    return fine;
}

/* y as doubles, and whether f64 is what it was kept in. */
static void take_y(fingerprint_tensors *tensors)
{
    size_t count = tensors->arrays[ROLE_Y].elements;
    tensors->y_values = allocate(count * sizeof *tensors->y_values);
    tensors->input.y = tensors->y_values;
    for (size_t i = 0; i < count; i++) {
        double value = tensors->y_values[i] = element(&tensors->arrays[ROLE_Y], i);
        if (!isnan(value) && (double)(float)value != value)
            tensors->input.y_is_f64 = true;
    }
}

bool fingerprint_read(const fingerprint_files *files, int digits, int x_digits, double noise,
                      fingerprint_tensors *tensors, error *err)
{
    fingerprint_input *input = &tensors->input;
    if (!read_files(files, tensors, err))
        return false;
    if (x_digits == FINGERPRINT_GUESS)
        x_digits = guess_digits(&tensors->arrays[ROLE_X], digits);
    for (size_t i = ROLE_X; i <= ROLE_RESIDUAL; i++) {
        if (files->paths[i] && !to_f32(files->paths[i], layernorm_operation.roles[i].name,
                                       x_digits != FINGERPRINT_EXACT, &tensors->arrays[i], err))
            return false;
        input->inputs[i] = tensors->arrays[i].data;
    }
    input->digits = digits;
    input->x_digits = x_digits;
    input->noise = noise;
    take_y(tensors);
    return true;
}

void fingerprint_tensors_free(fingerprint_tensors *tensors)
{
    for (size_t i = 0; i < ROLES_MOST; i++)
        tensor_free(&tensors->arrays[i]);
    free(tensors->y_values);
}

/* The tensors of a fingerprint. */
#include "commands/fingerprint/command.h"
#include "base/allocate.h"
#include <math.h>

static bool read_real(const char *path, const char *option, npy_array *array, error *err)
{
    return npy_read(path, false, array, err) &&
           (array->dtype == LN_F32 || array->dtype == LN_F64 ||
            fail(err, EXIT_CODE_USAGE, "%s (--%s): dtype %s; f4 or f8 was expected", path, option,
                 dtype_name(array->dtype)));
}

/* f8 to f4 in place. Values that are no f32 are an error unless they are known to be rounded. */
static bool to_f32(const char *path, const char *option, bool rounded, npy_array *array, error *err)
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

static double element(const npy_array *array, size_t i)
{
    return array->dtype == LN_F32 ? (double)((const float *)array->data)[i]
                                  : ((const double *)array->data)[i];
}

/* Whether every element is, as far as its type can tell, a decimal with so many places. */
static bool has_decimals(const npy_array *array, int digits)
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

static int guess_digits(const npy_array *x, int digits)
{
    if (digits <= 0)
        return FINGERPRINT_EXACT;
    return has_decimals(x, digits) && !has_decimals(x, digits - 1) ? digits : FINGERPRINT_EXACT;
}

static bool read_rows(const fingerprint_files *files, fingerprint_tensors *tensors, error *err)
{
    npy_array *x = &tensors->x;
    if (!read_real(files->x, "x", x, err) || !read_real(files->y, "y", &tensors->y, err))
        return false;
    size_t hidden = x->dimensions ? x->shape[x->dimensions - 1] : 0;
    char shape[128];
    if (x->elements == 0 || hidden == 0)
        return fail(err, EXIT_CODE_USAGE,
                    "%s (--x): shape %s; at least one row of at least one element was expected",
                    files->x, npy_shape_text(x, shape));
    tensors->input.hidden = hidden;
    tensors->input.rows = x->elements / hidden;
    return npy_same_shape(x, &tensors->y, files->y, "y", err) &&
           (!files->residual ||
            (read_real(files->residual, "residual", &tensors->residual, err) &&
             npy_same_shape(x, &tensors->residual, files->residual, "residual", err)));
}

static bool read_parameter(const char *path, const char *option, size_t hidden, npy_array *array,
                           error *err)
{
    if (!path)
        return true;
    if (!read_real(path, option, array, err) || !to_f32(path, option, false, array, err))
        return false;
    return array->elements == 1 || array->elements == hidden ||
           fail(err, EXIT_CODE_USAGE,
                "%s (--%s): %zu elements; %zu (a vector) or 1 (a scalar) were expected", path,
                option, array->elements, hidden);
}

static bool read_parameters(const fingerprint_files *files, fingerprint_tensors *tensors,
                            error *err)
{
    npy_array *gamma = &tensors->gamma, *beta = &tensors->beta;
    fingerprint_input *input = &tensors->input;
    if (!read_parameter(files->gamma, "gamma", input->hidden, gamma, err) ||
        !read_parameter(files->beta, "beta", input->hidden, beta, err))
        return false;
    if (files->gamma && files->beta && gamma->elements != beta->elements)
        return fail(err, EXIT_CODE_USAGE,
                    "%s (--beta): %zu elements; %zu were expected, as gamma has", files->beta,
                    beta->elements, gamma->elements);
    input->gamma = gamma->data;
    input->gamma_count = gamma->elements;
    input->beta = beta->data;
    input->beta_count = beta->elements;
    return true;
}

/* y as doubles, and whether f64 is what it was kept in. */
static void take_y(fingerprint_tensors *tensors)
{
    size_t count = tensors->y.elements;
    tensors->y_values = allocate(count * sizeof *tensors->y_values);
    tensors->input.y = tensors->y_values;
    for (size_t i = 0; i < count; i++) {
        double value = tensors->y_values[i] = element(&tensors->y, i);
        if (!isnan(value) && (double)(float)value != value)
            tensors->input.y_is_f64 = true;
    }
}

bool fingerprint_read(const fingerprint_files *files, int digits, int x_digits, double noise,
                      fingerprint_tensors *tensors, error *err)
{
    fingerprint_input *input = &tensors->input;
    if (!read_rows(files, tensors, err) || !read_parameters(files, tensors, err))
        return false;
    if (x_digits == FINGERPRINT_GUESS)
        x_digits = guess_digits(&tensors->x, digits);
    bool rounded = x_digits != FINGERPRINT_EXACT;
    if (!to_f32(files->x, "x", rounded, &tensors->x, err) ||
        (files->residual && !to_f32(files->residual, "residual", rounded, &tensors->residual, err)))
        return false;
    input->x = tensors->x.data;
    input->residual = tensors->residual.data;
    input->digits = digits;
    input->x_digits = x_digits;
    input->noise = noise;
    take_y(tensors);
    return true;
}

void fingerprint_tensors_free(fingerprint_tensors *tensors)
{
    npy_array *all[] = {&tensors->x, &tensors->residual, &tensors->gamma, &tensors->beta,
                        &tensors->y};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        npy_free(all[i]);
    free(tensors->y_values);
}

/* The exact answers of every candidate from one pass of the certified reference.
 *
 * The reference gives z_i = (x_i - mean) / std (ddof 0, no eps) and var (biased), each correctly
 * rounded to double: relative errors of u = 2^-53. A candidate's xhat is z_i * f + q with
 *
 *     f = std / sqrt(var N / (N - ddof) + eps)       eps in the variance
 *         std / (sqrt(var N / (N - ddof)) + eps)     eps on the std
 *         std / sqrt(var N / (N - ddof))             otherwise;  q = eps on the quotient, else 0
 *
 * where only numbers >= 0 are added: f has at most 8 roundings, xhat 10, y = gamma xhat + beta 13,
 * each of u of the size of what is added up, so y is known to 13 * 2^-53 (|gamma| max|xhat| +
 * |beta|) < 2^-25 row ULP of f32. A test holds it to the reference itself. */
#include "judge/layernorm/fingerprint/internal.h"
#include "metrics/metrics.h"
#include <math.h>
#include <stdlib.h>

/* The affine forms that these parameters allow, as presets name them: without any, none; with
 * parameters of one element, scalar; else those of vectors. A form that asks for a parameter that
 * was not given takes 1 or 0 for it, where that is not another form already. Parameters may also
 * have been left unused. */
static bool is_form(const fingerprint_input *input, ln_affine affine)
{
    bool any = input->inputs[ROLE_GAMMA] || input->inputs[ROLE_BETA];
    bool one = input->parameters == 1 && input->hidden != 1;
    switch (affine) {
    case LN_AFFINE_NONE:
        return true;
    case LN_AFFINE_SCALAR:
        return any && one;
    case LN_AFFINE_GAMMA:
        return input->inputs[ROLE_GAMMA] && !one;
    case LN_AFFINE_VECTOR:
        return input->inputs[ROLE_BETA] && !one;
    case LN_AFFINE_GAMMA1:
        return input->inputs[ROLE_GAMMA] && !one;
    }
    return false;
}

static bool fill_form(const fingerprint_input *input, ln_affine affine, fingerprint_rows *rows)
{
    double *gamma = rows->gamma[affine] = malloc(input->hidden * sizeof *gamma);
    double *beta = rows->beta[affine] = malloc(input->hidden * sizeof *beta);
    if (!gamma || !beta)
        return false;
    bool has_gamma = affine != LN_AFFINE_NONE && input->inputs[ROLE_GAMMA];
    bool has_beta =
        affine != LN_AFFINE_NONE && affine != LN_AFFINE_GAMMA && input->inputs[ROLE_BETA];
    for (size_t i = 0; i < input->hidden; i++) {
        gamma[i] =
            has_gamma ? (double)input->inputs[ROLE_GAMMA][input->parameters == 1 ? 0 : i] : 1;
        beta[i] = has_beta ? (double)input->inputs[ROLE_BETA][input->parameters == 1 ? 0 : i] : 0;
        if (affine == LN_AFFINE_GAMMA1)
            gamma[i] += 1;
    }
    return true;
}

static double half_unit(int digits)
{
    return digits == FINGERPRINT_EXACT ? 0 : 0.5 * pow(10, -digits);
}

/* Half a unit of the last digit, and what rounding the decimal to f32 adds; for a printed residual
 * the same again, and the rounding of the sum. */
static double x_radius(const fingerprint_input *input, size_t row)
{
    double most = 0;
    if (input->x_digits == FINGERPRINT_EXACT)
        return 0;
    for (size_t i = row * input->hidden; i < (row + 1) * input->hidden; i++) {
        double size = fabs((double)input->inputs[ROLE_X][i]);
        if (input->inputs[ROLE_RESIDUAL])
            size += 2 * fabs((double)input->inputs[ROLE_RESIDUAL][i]);
        most = size > most ? size : most; /* fmax() here is more than gcc 12 bears on aarch64 */
    }
    return half_unit(input->x_digits) * (input->inputs[ROLE_RESIDUAL] ? 2 : 1) + 4 * most * 0x1p-24;
}

static void take_row(const ln_reference_result *result, size_t row, fingerprint_rows *rows)
{
    size_t hidden = rows->input->hidden;
    double *z = rows->z + row * hidden, low = INFINITY, high = -INFINITY;
    bool uniform = result->facts.var == 0;
    for (size_t i = 0; i < hidden; i++) {
        if (uniform)
            z[i] = 0;
        low = fmin(low, z[i]);
        high = fmax(high, z[i]);
    }
    rows->var[row] = result->facts.var;
    rows->low[row] = low;
    rows->high[row] = high;
    rows->x_radius[row] = x_radius(rows->input, row);
    if (isfinite(result->kappa))
        rows->kappa_max = fmax(rows->kappa_max, result->kappa);
}

static bool fill_rows(fingerprint_rows *rows)
{
    const fingerprint_input *input = rows->input;
    const ln_convention plain = {0};
    ln_reference *reference = ln_reference_create();
    float *rounded = malloc(input->hidden * sizeof *rounded);
    bool fine = reference && rounded;
    for (size_t row = 0; fine && row < input->rows; row++) {
        size_t at = row * input->hidden;
        ln_reference_result result = {.rounded = rounded, .exact = rows->z + at};
        fine = ln_reference_row(
            reference, &plain, LN_F32, LN_F32, input->hidden, input->inputs[ROLE_X] + at,
            input->inputs[ROLE_RESIDUAL] ? input->inputs[ROLE_RESIDUAL] + at : NULL, NULL, NULL,
            &result);
        if (fine)
            take_row(&result, row, rows);
    }
    free(rounded);
    ln_reference_destroy(reference);
    return fine;
}

bool fingerprint_rows_make(const fingerprint_input *input, fingerprint_rows *rows, error *err)
{
    *rows = (fingerprint_rows){.input = input};
    rows->z = malloc(input->rows * input->hidden * sizeof *rows->z);
    rows->var = malloc(input->rows * sizeof *rows->var);
    rows->low = malloc(input->rows * sizeof *rows->low);
    rows->high = malloc(input->rows * sizeof *rows->high);
    rows->x_radius = malloc(input->rows * sizeof *rows->x_radius);
    bool fine = rows->z && rows->var && rows->low && rows->high && rows->x_radius;
    for (int affine = 0; fine && affine < AFFINE_FORMS; affine++)
        fine = !is_form(input, (ln_affine)affine) || fill_form(input, (ln_affine)affine, rows);
    fine = fine && fill_rows(rows);
    if (!fine)
        fingerprint_rows_free(rows);
    return fine || fail_memory(err, "the exact answers of a fingerprint");
}

void fingerprint_rows_free(fingerprint_rows *rows)
{
    free(rows->z);
    free(rows->var);
    free(rows->low);
    free(rows->high);
    free(rows->x_radius);
    for (int affine = 0; affine < AFFINE_FORMS; affine++) {
        free(rows->gamma[affine]);
        free(rows->beta[affine]);
    }
    *rows = (fingerprint_rows){0};
}

exact_view fingerprint_row(const fingerprint_rows *rows, size_t row)
{
    return (exact_view){rows->z + row * rows->input->hidden, rows->var[row], rows->low[row],
                        rows->high[row], rows->x_radius[row]};
}

/* The denominator at a std with the candidate's divisor. It grows with the std. */
static double denominator(const ln_convention *convention, double std)
{
    switch (convention->eps_place) {
    case LN_EPS_VAR:
        return sqrt(std * std + convention->eps);
    case LN_EPS_STD:
        return std + convention->eps;
    default:
        return std;
    }
}

/* Where x was printed, each |delta_i| <= h: a deviation x_i - mean moves by (1 - 1/N) h + (N - 1)
 * h / N at most, the std, a Euclidean norm of centred numbers over sqrt(N - ddof), by ||delta|| /
 * sqrt(N - ddof) <= h sqrt(N / (N - ddof)). */
row_factor fingerprint_factor(const fingerprint_input *input, const ln_convention *convention,
                              const exact_view *row)
{
    double n = (double)input->hidden, bessel = n / (n - convention->ddof);
    double h = row->x_radius;
    double std = sqrt(row->var * bessel), radius = h * sqrt(bessel);
    row_factor made = {.shift = convention->eps_place == LN_EPS_QUOTIENT ? convention->eps : 0};
    made.std = sqrt(row->var);
    made.factor =
        made.std / (convention->eps_place == LN_EPS_VAR ? sqrt(row->var * bessel + convention->eps)
                                                        : denominator(convention, std));
    made.max_xhat =
        fmax(fabs(row->low * made.factor + made.shift), fabs(row->high * made.factor + made.shift));
    made.deviation_radius = 2 * h * (n - 1) / n;
    made.least_scale = denominator(convention, fmax(0, std - radius));
    made.most_scale = denominator(convention, std + radius);
    return made;
}

bool fingerprint_printed(const fingerprint_input *input)
{
    return input->digits != FINGERPRINT_EXACT || input->x_digits != FINGERPRINT_EXACT;
}

/* A box that computed in f64 is known by digits beyond f32's, kept in f64. */
double fingerprint_radius(const fingerprint_input *input, double y, double scale)
{
    double half = half_unit(input->digits), ulp = ln_ulp_f32(scale);
    bool in_f64 = input->y_is_f64 && half < ulp / 2;
    double noise = in_f64 ? 32 * 0x1p-53 * scale : input->noise * ulp;
    return half + fabs(y) * (input->y_is_f64 ? 0x1p-53 : 0x1p-24) + noise;
}

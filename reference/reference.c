/* The certified reference: exact sums, then certified rounding.
 *
 * 1. Sum(x), sum|x| and sum(x^2) are exact integers (exact_sums.c), so N x - sum(x) and
 *    N sum(x^2) - sum(x)^2 are exact whatever cancels (exact_row.c).
 * 2. An element is enclosed in an interval with MPFR at FIRST_PRECISION bits; the width has a proof
 *    (enclosure.c).
 * 3. Where all of the interval rounds to the same float and to the same double, the element is
 *    certified (rounding.c).
 * 4. Where it does not, the interval holds a number at which the rounding changes: zero, or a
 *    midpoint of neighbours. If the element equals that number exactly (exact_row.c: comparison of
 *    squares of rationals), its rounding is known.
 * 5. Else the precision is doubled and 2. begins again (Ziv 1991, "Fast evaluation of elementary
 *    mathematical functions with correctly rounded last bit"). That ends: the numbers at which
 *    roundings change are isolated, so an element that is none of them has a positive distance from
 *    the nearest, and the interval shrinks below it.
 *
 * A faster path for easy elements belongs before 2., in certify(): it may decide an element or
 * leave it to what follows.
 *
 * Special values, beyond those of the header:
 *     - A NaN or infinity in x (or in x + residual): everything of the row is NaN.
 *     - N <= ddof, 0 / 0, eps that is not finite, eps < 0 on the std or <= -var in the variance:
 *       xhat is undefined, so y, rstd and max_xhat are NaN; the mean and the other facts stand.
 *     - gamma and beta that are not finite follow IEEE 754 with the exact xhat: NaN gives NaN, an
 *       infinite gamma takes the sign of xhat and gives NaN where xhat is 0, and infinities that
 *       cancel give NaN.
 *     - A result that is exactly 0 is +0.
 *
 * The workspace's own buffers are checked; inside GMP and MPFR (a few KiB a row) exhaustion of
 * memory ends the process, as those libraries define it.
 */
#include "reference.h"

#include "affine.h"
#include "enclosure.h"
#include "exact_row.h"
#include "facts.h"
#include "rounding.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIRST_PRECISION = 128 };

struct ln_reference {
    exact_row row;
    enclosure first;   /* at FIRST_PRECISION, taken once a row */
    enclosure raised;  /* at whatever was needed last */
    bool raised_taken; /* raised belongs to this row */
    float *sums;       /* x + residual */
    size_t capacity;   /* of sums */
    ln_reference_counts counts;
};

ln_reference *ln_reference_create(void)
{
    ln_reference *reference = calloc(1, sizeof *reference);
    if (reference != NULL) {
        exact_row_init(&reference->row);
        enclosure_init(&reference->first);
        enclosure_init(&reference->raised);
    }
    return reference;
}

void ln_reference_destroy(ln_reference *reference)
{
    if (reference == NULL) {
        return;
    }
    exact_row_clear(&reference->row);
    enclosure_clear(&reference->first);
    enclosure_clear(&reference->raised);
    free(reference->sums);
    free(reference);
}

ln_reference_counts ln_reference_count(const ln_reference *reference)
{
    return reference->counts;
}

const char *ln_reference_versions(void)
{
    static _Thread_local char text[80];
    snprintf(text, sizeof text, "MPFR %s, GMP %s", mpfr_get_version(), gmp_version);
    return text;
}

/* Steps 4 and 5. */
static rounded_pair certify_hard(ln_reference *reference, const row_element *element,
                                 critical_number critical)
{
    rounded_pair rounded;
    mpfr_prec_t precision = FIRST_PRECISION;
    for (;;) {
        if (critical.known &&
            exact_row_compare(&reference->row, element, critical.low, critical.high) == 0) {
            reference->counts.exact++;
            return rounding_of_critical(&critical);
        }
        precision *= 2;
        if (!reference->raised_taken || reference->raised.precision != precision) {
            enclosure_take(&reference->raised, &reference->row, precision);
            reference->raised_taken = true;
        }
        enclosure_of(&reference->raised, &reference->row, element);
        if (rounding_decides(reference->raised.low, reference->raised.high, &rounded, &critical)) {
            reference->counts.raised++;
            return rounded;
        }
    }
}

static rounded_pair certify(ln_reference *reference, const row_element *element)
{
    rounded_pair rounded;
    critical_number critical;
    enclosure_of(&reference->first, &reference->row, element);
    if (rounding_decides(reference->first.low, reference->first.high, &rounded, &critical)) {
        reference->counts.first_try++;
        return rounded;
    }
    return certify_hard(reference, element, critical);
}

/* The sign of xhat (with eps under LN_EPS_QUOTIENT), exactly. */
static int sign_of_xhat(ln_reference *reference, float x)
{
    row_element xhat = {.x = x, .gamma = 1.0f};
    return exact_row_compare(&reference->row, &xhat, 0.0, 0.0);
}

static rounded_pair evaluate(ln_reference *reference, const row_element *element)
{
    if (isfinite(element->gamma) && isfinite(element->beta)) {
        return certify(reference, element);
    }
    reference->counts.special++;
    float product = 0.0f; /* stands for any finite number */
    if (!isfinite(element->gamma)) {
        product = element->gamma * (float)sign_of_xhat(reference, element->x);
    }
    float y = product + element->beta;
    return (rounded_pair){y, (double)y};
}

/* A quantity of the row itself, which does not count as an element. */
static rounded_pair evaluate_uncounted(ln_reference *reference, const row_element *element)
{
    ln_reference_counts counts = reference->counts;
    rounded_pair rounded = certify(reference, element);
    reference->counts = counts;
    return rounded;
}

static double max_xhat_of(ln_reference *reference, row_extremes extremes)
{
    row_element low = {.x = extremes.low, .gamma = 1.0f};
    row_element high = {.x = extremes.high, .gamma = 1.0f};
    return fmax(fabs(evaluate_uncounted(reference, &low).to_double),
                fabs(evaluate_uncounted(reference, &high).to_double));
}

static void fill_nan(ln_reference *reference, size_t hidden, ln_reference_result *result)
{
    for (size_t i = 0; i < hidden; i++) {
        result->rounded[i] = NAN;
        result->exact[i] = (double)NAN;
    }
    reference->counts.special += hidden;
    result->facts.rstd = (double)NAN;
    result->rstd_rounded = NAN;
    result->max_xhat = (double)NAN;
}

static void fill_nan_row(ln_reference *reference, size_t hidden, ln_reference_result *result)
{
    const double nan = (double)NAN;
    result->facts = (ln_row_facts){nan, nan, nan, nan, nan, nan};
    result->kappa = nan;
    result->mean_rounded = NAN;
    fill_nan(reference, hidden, result);
}

static void fill_elements(ln_reference *reference, const ln_convention *convention, size_t hidden,
                          const float *x, const float *gamma, const float *beta,
                          ln_reference_result *result)
{
    ln_affine affine = convention->affine;
    row_element element = {.gamma_plus_one = affine == LN_AFFINE_GAMMA1};
    for (size_t i = 0; i < hidden; i++) {
        element.x = x[i];
        element.gamma = affine_gamma(affine, gamma, i);
        element.beta = affine_beta(affine, beta, i);
        rounded_pair y = evaluate(reference, &element);
        result->rounded[i] = y.to_float;
        result->exact[i] = y.to_double;
    }
}

static void fill_row(ln_reference *reference, const ln_convention *convention, size_t hidden,
                     const float *x, const float *gamma, const float *beta,
                     ln_reference_result *result)
{
    exact_row *row = &reference->row;
    row_extremes extremes = extremes_of(hidden, x);
    facts_take(&result->facts, row, extremes);
    result->kappa = kappa_of(row);
    result->mean_rounded = mean_of(row).to_float;
    if (!row->defined) {
        fill_nan(reference, hidden, result);
        return;
    }
    enclosure_take(&reference->first, row, FIRST_PRECISION);
    reference->raised_taken = false;
    rounded_pair rstd = evaluate_uncounted(reference, &(row_element){.is_rstd = true});
    result->facts.rstd = rstd.to_double;
    result->rstd_rounded = rstd.to_float;
    result->max_xhat = max_xhat_of(reference, extremes);
    fill_elements(reference, convention, hidden, x, gamma, beta, result);
}

/* x + residual in reference->sums. */
static bool take_residual(ln_reference *reference, size_t hidden, const float *x,
                          const float *residual)
{
    if (hidden > reference->capacity) {
        if (hidden > SIZE_MAX / sizeof(float)) {
            return false;
        }
        float *sums = realloc(reference->sums, hidden * sizeof(float));
        if (sums == NULL) {
            return false;
        }
        reference->sums = sums;
        reference->capacity = hidden;
    }
    for (size_t i = 0; i < hidden; i++) {
        reference->sums[i] = x[i] + residual[i];
    }
    return true;
}

bool ln_reference_row(ln_reference *reference, const ln_convention *convention, size_t hidden,
                      const float *x, const float *residual, const float *gamma, const float *beta,
                      ln_reference_result *result)
{
    if (hidden == 0 || x == NULL || (affine_has_gamma(convention->affine) && gamma == NULL) ||
        (affine_has_beta(convention->affine) && beta == NULL)) {
        return false;
    }
    if (residual != NULL) {
        if (!take_residual(reference, hidden, x, residual)) {
            return false;
        }
        x = reference->sums;
    }
    reference->counts.elements += hidden;
    if (exact_row_take(&reference->row, convention, hidden, x)) {
        fill_row(reference, convention, hidden, x, gamma, beta, result);
    } else {
        fill_nan_row(reference, hidden, result);
    }
    return true;
}

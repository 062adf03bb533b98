/* Error metrics of computed rows against the certified reference.
 *
 * How exact the figures are. err = computed - exact is the difference of a float and of a real
 * number that the reference rounded to 53 bits: the rounding is at most 2^-53 |exact| < 2^-29
 * ulp(exact), and the subtraction adds at most 2^-53 |err| (nothing where the two lie within a
 * factor of 2 of each other: Sterbenz). So an error in ulp is off by less than 2^-29 ulp and one
 * part in 2^52; dividing by an ulp, a power of two, is exact. Sums over n elements add a relative
 * error of at most n 2^-53 of the sum of the absolute values.
 *
 * The class of the exact result is that of the correctly rounded one: a result beyond the range of
 * f32 is an infinity, and anything else in its place is a mismatch.
 */
#include "metrics.h"

#include "affine.h"
#include "samples.h"
#include "scale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct metrics_gather {
    samples ulps;
    double ulp_sum, ulp_squares, ulp_signed;
    double row_ulp_max, row_ulp_sum;
    double err_max, exact_max, err_squares, exact_squares;
    double mean_ulp_max, rstd_ulp_max, kappa_max;
    uint64_t elements, finite, equal, mismatches, exact_zeros, sign_of_zero;
    size_t worst_row, worst_column;
    double worst_computed, worst_exact;
};

double ln_ulp_f32(double v)
{
    enum { PRECISION = 24, LEAST = -126 };
    if (!isfinite(v)) {
        return fabs(v);
    }
    int exponent = LEAST;
    if (v != 0) {
        frexp(v, &exponent); /* 2^(exponent - 1) <= |v| < 2^exponent */
        exponent = exponent - 1 > LEAST ? exponent - 1 : LEAST;
    }
    return ldexp(1.0, exponent - PRECISION + 1);
}

metrics_gather *metrics_gather_create(void)
{
    metrics_gather *gather = calloc(1, sizeof *gather);
    if (gather != NULL) {
        gather->row_ulp_max = -1; /* below any error, so that the first element counts */
        gather->mean_ulp_max = gather->rstd_ulp_max = gather->kappa_max = (double)NAN;
        gather->worst_computed = gather->worst_exact = (double)NAN;
    }
    return gather;
}

void metrics_gather_destroy(metrics_gather *gather)
{
    if (gather != NULL) {
        samples_release(&gather->ulps);
        free(gather);
    }
}

static void set_worst(metrics_gather *gather, size_t row, size_t column, double computed,
                      double exact)
{
    gather->worst_row = row;
    gather->worst_column = column;
    gather->worst_computed = computed;
    gather->worst_exact = exact;
}

static void add_ulp(metrics_gather *gather, double err, double exact)
{
    if (exact == 0) {
        gather->exact_zeros++;
        return;
    }
    double signed_ulp = err / ln_ulp_f32(exact);
    double ulp = fabs(signed_ulp);
    samples_append(&gather->ulps, ulp);
    gather->ulp_sum += ulp;
    gather->ulp_squares += ulp * ulp;
    gather->ulp_signed += signed_ulp;
}

/* One pair of finite values. */
static void add_finite(metrics_gather *gather, size_t row, size_t column, double computed,
                       double exact, double scale)
{
    double err = computed - exact;
    gather->finite++;
    add_ulp(gather, err, exact);
    gather->err_max = fmax(gather->err_max, fabs(err));
    gather->exact_max = fmax(gather->exact_max, fabs(exact));
    gather->err_squares += err * err;
    gather->exact_squares += exact * exact;
    double row_ulp = fabs(err) / ln_ulp_f32(scale);
    gather->row_ulp_sum += row_ulp;
    if (row_ulp > gather->row_ulp_max) {
        gather->row_ulp_max = row_ulp;
        if (gather->mismatches == 0) {
            set_worst(gather, row, column, computed, exact);
        }
    }
}

static void add_element(metrics_gather *gather, size_t row, size_t column, float computed,
                        float rounded, double exact, double scale)
{
    gather->elements++;
    if (!same_class(computed, rounded)) {
        if (gather->mismatches++ == 0) {
            set_worst(gather, row, column, (double)computed, exact);
        }
        return;
    }
    if (!isfinite(rounded)) {
        gather->equal++;
        return;
    }
    gather->equal += computed == rounded;
    gather->sign_of_zero += computed == 0 && rounded == 0 && signbit(computed) != signbit(rounded);
    add_finite(gather, row, column, (double)computed, exact, scale);
}

/* The larger of the maximum so far (NaN: none) and the error of a mean or rstd. What the kernel
 * gives where there is no exact value, or where that is 0, is not looked at; a wrong class counts
 * as an infinite error. */
static double larger_ulp(double so_far, const float *computed, float rounded, double exact)
{
    if (computed == NULL || isnan(exact) || exact == 0) {
        return so_far;
    }
    double ulp = 0;
    if (!same_class(*computed, rounded)) {
        ulp = INFINITY;
    } else if (isfinite(rounded)) {
        ulp = fabs((double)*computed - exact) / ln_ulp_f32(exact);
    }
    return fmax(so_far, ulp);
}

bool metrics_gather_row(metrics_gather *gather, size_t row, size_t hidden, const float *computed,
                        const ln_reference_result *reference, const ln_convention *convention,
                        const float *gamma, const float *beta, const float *mean, const float *rstd)
{
    if (!samples_reserve(&gather->ulps, hidden)) {
        return false;
    }
    for (size_t i = 0; i < hidden; i++) {
        double scale = element_scale(convention->affine, gamma, beta, i, reference->max_xhat);
        add_element(gather, row, i, computed[i], reference->rounded[i], reference->exact[i], scale);
    }
    gather->mean_ulp_max =
        larger_ulp(gather->mean_ulp_max, mean, reference->mean_rounded, reference->facts.mean);
    gather->rstd_ulp_max =
        larger_ulp(gather->rstd_ulp_max, rstd, reference->rstd_rounded, reference->facts.rstd);
    gather->kappa_max = fmax(gather->kappa_max, reference->kappa);
    return true;
}

/* NaN without a denominator. */
static double ratio(double numerator, double denominator)
{
    return denominator == 0 && numerator == 0 ? (double)NAN : numerator / denominator;
}

static void finish_ulps(metrics_gather *gather, ln_metrics *metrics)
{
    double count = (double)gather->ulps.count;
    metrics->ulp_max = samples_percentile(&gather->ulps, 1.0);
    metrics->ulp_p50 = samples_percentile(&gather->ulps, 0.50);
    metrics->ulp_p90 = samples_percentile(&gather->ulps, 0.90);
    metrics->ulp_p99 = samples_percentile(&gather->ulps, 0.99);
    metrics->ulp_mean = ratio(gather->ulp_sum, count);
    metrics->ulp_rms = sqrt(ratio(gather->ulp_squares, count));
    metrics->ulp_bias = ratio(gather->ulp_signed, count);
}

void metrics_gather_finish(metrics_gather *gather, ln_metrics *metrics)
{
    enum { MOST_BITS = 53 };
    *metrics = (ln_metrics){
        .row_ulp_max = gather->finite > 0 ? gather->row_ulp_max : (double)NAN,
        .row_ulp_mean = ratio(gather->row_ulp_sum, (double)gather->finite),
        .norm_max = ratio(gather->err_max, gather->exact_max),
        .rel_l2 = ratio(sqrt(gather->err_squares), sqrt(gather->exact_squares)),
        .correctly_rounded = ratio((double)gather->equal, (double)gather->elements),
        .mean_ulp_max = gather->mean_ulp_max,
        .rstd_ulp_max = gather->rstd_ulp_max,
        .mismatches = gather->mismatches,
        .elements = gather->elements,
        .exact_zeros = gather->exact_zeros,
        .sign_of_zero = gather->sign_of_zero,
        .worst_row = gather->worst_row,
        .worst_column = gather->worst_column,
        .worst_computed = gather->worst_computed,
        .worst_exact = gather->worst_exact,
        .kappa_max = gather->kappa_max,
    };
    finish_ulps(gather, metrics);
    double bits = -log2(metrics->norm_max);
    metrics->bits = bits > MOST_BITS ? MOST_BITS : bits;
}

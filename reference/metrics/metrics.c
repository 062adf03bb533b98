/* Error metrics of computed rows against the certified reference.
 *
 * The accuracy of the metrics. err = computed - exact is the difference of a number of the type and a real number. For
 * f32 and shorter types the reference rounded the latter to 53 bits: the rounding is at most 2^-53 |exact| <= 2^-29
 * ulp(exact), and the subtraction adds at most 2^-53 |err| (nothing if the two are within a factor of 2 of each other:
 * Sterbenz). For f64 it gives exact + rest, to 106 bits or more: (computed - exact) - rest is rounded twice, relative
 * to itself if computed and exact are within a factor of 2, else by at most 2^-52 |err|. So an error in ulp is
 * inaccurate by less than 2^-29 ulp (f64: 2^-53) and one part in 2^51; dividing by an ulp, a power of two, is exact.
 * Sums over n elements add a relative error of at most n 2^-53 of the sum of the absolute values.
 *
 * ulp(exact) is that of the real number, for f64 also if this was rounded up to a power of two (the sign of the rest
 * shows it). For the other types a real number within a relative 2^-53 below a power of two counts as that power.
 *
 * The class of the exact result is that of the correctly rounded one: a result outside the range of the type is an
 * infinity, and any other class is a mismatch. */
#include "metrics/metrics.h"

#include "metrics/samples.h"
#include "exact/scale.h"

#include <stdlib.h>

/* The largest of some sizes and the sum of their squares. Sizes whose squares are normal doubles are added in double,
 * the others in long double, which has the range. */
typedef struct size_sums {
    double most, squares;
    long double most_beyond, squares_beyond;
} size_sums;

struct metrics_gather {
    sample_list ulps;
    double ulp_sum, ulp_squares, ulp_signed;
    double row_ulp_max, row_ulp_sum;
    size_sums err, exact;
    double mean_ulp_max, rstd_ulp_max, kappa_max;
    uint64_t elements, finite, equal, mismatches, exact_zeros, sign_of_zero;
    uint64_t histogram[ULP_BINS];
    size_t worst_row, worst_column;
    double worst_computed, worst_exact;
};

/* Adds the error of a value; with 0 as the value, the size of the exact one. */
static void sums_add(size_sums *sums, const metrics_row *row, size_t i, double value)
{
    double size = fabs(error_in(row, i, value, 1));
    if (size > 0x1p-500 && size < 0x1p+500) {
        sums->most = size > sums->most ? size : sums->most;
        sums->squares += size * size;
    } else {
        long double beyond = fabsl(error_of(row, i, value));
        sums->most_beyond = beyond > sums->most_beyond ? beyond : sums->most_beyond;
        sums->squares_beyond += beyond * beyond;
    }
}

static long double sums_most(const size_sums *sums)
{
    return fmaxl(sums->most, sums->most_beyond);
}

static long double sums_root(const size_sums *sums)
{
    return sqrtl(sums->squares + sums->squares_beyond);
}

static void sums_join(size_sums *all, const size_sums *sums)
{
    all->most = fmax(all->most, sums->most);
    all->squares += sums->squares;
    all->most_beyond = fmaxl(all->most_beyond, sums->most_beyond);
    all->squares_beyond += sums->squares_beyond;
}

double ln_ulp(ln_type type, double v)
{
    return ulp_in(format_of(type), v);
}

double ln_ulp_f32(double v)
{
    return ln_ulp(LN_F32, v);
}

enum { LEAST_BIN = -7 }; /* the exponent of the bin before the second */

size_t ulp_bin(double ulp)
{
    enum { BIAS = 1023, FRACTION = 52 };
    uint64_t bits;
    memcpy(&bits, &ulp, sizeof bits);
    int bin = (int)(bits >> FRACTION) - BIAS - LEAST_BIN;
    return bin < 0 ? 0 : bin < ULP_BINS ? (size_t)bin : ULP_BINS - 1;
}

metrics_gather *metrics_gather_create(void)
{
    metrics_gather *gather = calloc(1, sizeof *gather);
    if (gather != NULL) {
        gather->row_ulp_max = -1; /* less than any error, so that the first element counts */
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

/* The computed and the exact value of an element, and the units of its error. */
typedef struct value_pair {
    size_t row, column;
    double computed, exact, rest;
} value_pair;

static void set_worst(metrics_gather *gather, const value_pair *pair)
{
    gather->worst_row = pair->row;
    gather->worst_column = pair->column;
    gather->worst_computed = pair->computed;
    gather->worst_exact = pair->exact;
}

/* Returns ulp(exact + rest): a power of two with a rest towards 0 is a number of the binade below. */
static double ulp_of_exact(type_format format, double exact, double rest)
{
    double ulp = ulp_in(format, exact);
    bool towards_zero = rest != 0 && (rest < 0) == (exact > 0);
    if (towards_zero && ulp_in(format, exact - copysign(ulp / 2, exact)) < ulp) {
        return ulp / 2;
    }
    return ulp;
}

static void add_ulp(metrics_gather *gather, const metrics_row *row, const value_pair *pair)
{
    if (pair->exact == 0 && pair->rest == 0) {
        gather->exact_zeros++;
        return;
    }
    double unit = ulp_of_exact(format_of(row->storage), pair->exact, pair->rest);
    double signed_ulp = error_in(row, pair->column, pair->computed, unit);
    double ulp = fabs(signed_ulp);
    samples_append(&gather->ulps, ulp);
    gather->histogram[ulp_bin(ulp)]++;
    gather->ulp_sum += ulp;
    gather->ulp_squares += ulp * ulp;
    gather->ulp_signed += signed_ulp;
}

/* A row's sums, which are added to those of the gather at the end of the row. */
typedef struct row_sums {
    size_sums err, exact;
} row_sums;

/* Adds one pair of finite values. */
static void add_finite(metrics_gather *gather, const metrics_row *row, const value_pair *pair,
                       row_sums *sums, metrics_of_row *of_row)
{
    double row_ulp = fabs(row_ulp_of(row, pair->column, pair->computed));
    gather->finite++;
    add_ulp(gather, row, pair);
    sums_add(&sums->err, row, pair->column, pair->computed);
    sums_add(&sums->exact, row, pair->column, 0);
    gather->row_ulp_sum += row_ulp;
    of_row->row_ulp_max = fmax(of_row->row_ulp_max, row_ulp);
    if (row_ulp > gather->row_ulp_max) {
        gather->row_ulp_max = row_ulp;
        if (gather->mismatches == 0) {
            set_worst(gather, pair);
        }
    }
}

static void add_element(metrics_gather *gather, const metrics_row *row, const value_pair *pair,
                        double rounded, row_sums *sums, metrics_of_row *of_row)
{
    double computed = pair->computed;
    gather->elements++;
    if (!same_class(computed, rounded)) {
        of_row->mismatches++;
        if (gather->mismatches++ == 0) {
            set_worst(gather, pair);
        }
        return;
    }
    if (!isfinite(rounded)) {
        gather->equal++;
        return;
    }
    gather->equal += computed == rounded;
    gather->sign_of_zero += computed == 0 && rounded == 0 && signbit(computed) != signbit(rounded);
    add_finite(gather, row, pair, sums, of_row);
}

/* Returns the larger of the maximum so far (NaN: none) and the error of a mean or rstd. Values without an exact value,
 * or with one of 0, are ignored; a wrong class counts as an infinite error. */
static double larger_ulp(double so_far, ln_type type, const double *computed, double rounded,
                         double exact, double rest)
{
    if (computed == NULL || isnan(exact) || (exact == 0 && rest == 0)) {
        return so_far;
    }
    double ulp = 0;
    if (!same_class(*computed, rounded)) {
        ulp = INFINITY;
    } else if (isfinite(rounded)) {
        ulp = fabs((*computed - exact) / ln_ulp(type, exact) - rest);
    }
    return fmax(so_far, ulp);
}

static void add_statistics(metrics_gather *gather, const metrics_row *row, const double *mean,
                           const double *rstd)
{
    const ln_reference_result *answer = row->answer;
    const ln_row_facts *facts = &answer->facts;
    bool wide = row->storage == LN_F64;
    ln_type type = wide ? LN_F64 : LN_F32;
    double mean_rounded = wide ? facts->mean : (double)answer->mean_rounded;
    double rstd_rounded = wide ? facts->rstd : (double)answer->rstd_rounded;
    gather->mean_ulp_max =
        larger_ulp(gather->mean_ulp_max, type, mean, mean_rounded, facts->mean, answer->mean_rest);
    gather->rstd_ulp_max =
        larger_ulp(gather->rstd_ulp_max, type, rstd, rstd_rounded, facts->rstd, answer->rstd_rest);
}

/* Returns a ratio; NaN if the denominator is 0. */
static double ratio(long double numerator, long double denominator)
{
    return denominator == 0 && numerator == 0 ? (double)NAN : (double)(numerator / denominator);
}

bool metrics_gather_row(metrics_gather *gather, const metrics_row *row, size_t number,
                        const void *computed, const double *mean, const double *rstd,
                        metrics_of_row *of_row)
{
    const ln_reference_result *answer = row->answer;
    metrics_of_row here = {(double)NAN, (double)NAN, 0};
    row_sums sums = {0};
    if (!samples_reserve(&gather->ulps, row->hidden)) {
        return false;
    }
    for (size_t i = 0; i < row->hidden; i++) {
        value_pair pair = {.row = number,
                           .column = i,
                           .computed = load(row->storage, computed, i),
                           .exact = answer->exact[i],
                           .rest = rest_of(row, i)};
        double rounded = load(row->storage, answer->rounded, i);
        add_element(gather, row, &pair, rounded, &sums, &here);
    }
    add_statistics(gather, row, mean, rstd);
    gather->kappa_max = fmax(gather->kappa_max, answer->kappa);
    sums_join(&gather->err, &sums.err);
    sums_join(&gather->exact, &sums.exact);
    if (of_row != NULL) {
        here.norm_max = ratio(sums_most(&sums.err), sums_most(&sums.exact));
        *of_row = here;
    }
    return true;
}

static void finish_ulps(metrics_gather *gather, ln_metrics *metrics)
{
    double count = (double)gather->ulps.count;
    metrics->ulp_p50 = samples_percentile(&gather->ulps, 0.50);
    metrics->ulp_p90 = samples_percentile(&gather->ulps, 0.90);
    metrics->ulp_p99 = samples_percentile(&gather->ulps, 0.99);
    metrics->ulp_max = samples_percentile(&gather->ulps, 1.0);
    metrics->ulp_mean = ratio(gather->ulp_sum, count);
    metrics->ulp_rms = sqrt(ratio(gather->ulp_squares, count));
    metrics->ulp_bias = ratio(gather->ulp_signed, count);
    memcpy(metrics->ulp_histogram, gather->histogram, sizeof gather->histogram);
}

void metrics_gather_finish(metrics_gather *gather, ln_metrics *metrics)
{
    enum { MOST_BITS = 53 };
    *metrics = (ln_metrics){
        .row_ulp_max = gather->finite > 0 ? gather->row_ulp_max : (double)NAN,
        .row_ulp_mean = ratio(gather->row_ulp_sum, (double)gather->finite),
        .norm_max = ratio(sums_most(&gather->err), sums_most(&gather->exact)),
        .rel_l2 = ratio(sums_root(&gather->err), sums_root(&gather->exact)),
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

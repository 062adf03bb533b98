/* Error metrics of computed rows against the certified reference.
 *
 * How exact the figures are. err = computed - exact is the difference of a number of the type and
 * of a real number. Of f32 and shorter the reference rounded that to 53 bits: the rounding is at
 * most 2^-53 |exact| <= 2^-29 ulp(exact), and the subtraction adds at most 2^-53 |err| (nothing
 * where the two lie within a factor of 2 of each other: Sterbenz). Of f64 it gives exact + rest, to
 * 106 bits or more: (computed - exact) - rest is rounded twice, relative to itself where computed
 * and exact lie within a factor of 2, else by at most 2^-52 |err|. So an error in ulp is off by
 * less than 2^-29 ulp (f64: 2^-53, but below 2^-969 the rest leaves the range of double, and up to
 * half of the smallest number stays open) and one part in 2^51; dividing by an ulp, a power of two,
 * is exact. Sums over n elements add a relative error of at most n 2^-53 of the sum of the absolute
 * values.
 *
 * ulp(exact) is that of the real number, also where this was rounded up to a power of two, for f64
 * (the sign of the rest tells). Of the other types a real number within 2^-53 of itself below a
 * power of two counts as that.
 *
 * The class of the exact result is that of the correctly rounded one: a result beyond the range of
 * the type is an infinity, and anything else in its place is a mismatch.
 */
#include "metrics/metrics.h"

#include "metrics/samples.h"
#include "exact/scale.h"

#include <stdlib.h>

/* A sum of squares that neither overflows nor loses what is small (after Blue, "A portable Fortran
 * program to find the Euclidean norm of a vector", TOMS 4, 1978): one sum for each range. */
typedef struct norm_sums {
    double small, middle, large;
} norm_sums;

struct metrics_gather {
    sample_list ulps;
    double ulp_sum, ulp_squares, ulp_signed;
    double row_ulp_max, row_ulp_sum;
    double err_max, exact_max;
    norm_sums err, exact;
    double mean_ulp_max, rstd_ulp_max, kappa_max;
    uint64_t elements, finite, equal, mismatches, exact_zeros, sign_of_zero;
    uint64_t histogram[ULP_BINS];
    size_t worst_row, worst_column;
    double worst_computed, worst_exact;
};

static const double square_least = 0x1p-500, square_most = 0x1p+500, square_scale = 0x1p+600;

static void norm_add(norm_sums *norm, double size)
{
    if (size > square_most) {
        size /= square_scale;
        norm->large += size * size;
    } else if (size < square_least) {
        size *= square_scale;
        norm->small += size * size;
    } else {
        norm->middle += size * size;
    }
}

static double norm_root(const norm_sums *norm)
{
    if (norm->large > 0) {
        double middle = sqrt(norm->middle) / square_scale;
        return sqrt(norm->large + middle * middle) * square_scale;
    }
    double small = sqrt(norm->small) / square_scale;
    return norm->middle > 0 ? sqrt(norm->middle + small * small) : small;
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

double ulp_bin_from(size_t bin)
{
    return bin == 0 ? 0 : power_of_two((int)bin + LEAST_BIN);
}

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

/* A pair of one element that is looked at, and what it is measured in. */
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

/* ulp(exact + rest): a power of two with a rest towards 0 stands for a number of the binade below.
 */
static double ulp_of_exact(type_format format, double exact, double rest)
{
    double ulp = ulp_in(format, exact);
    bool towards_zero = rest != 0 && (rest < 0) == (exact > 0);
    if (towards_zero && ulp_in(format, exact - copysign(ulp / 2, exact)) < ulp) {
        return ulp / 2;
    }
    return ulp;
}

static void add_ulp(metrics_gather *gather, type_format format, double err, const value_pair *pair)
{
    if (pair->exact == 0) {
        gather->exact_zeros++;
        return;
    }
    double signed_ulp = err / ulp_of_exact(format, pair->exact, pair->rest);
    double ulp = fabs(signed_ulp);
    samples_append(&gather->ulps, ulp);
    gather->histogram[ulp_bin(ulp)]++;
    gather->ulp_sum += ulp;
    gather->ulp_squares += ulp * ulp;
    gather->ulp_signed += signed_ulp;
}

/* One pair of finite values. */
static void add_finite(metrics_gather *gather, type_format format, const value_pair *pair,
                       double scale, metrics_of_row *of_row)
{
    double err = (pair->computed - pair->exact) - pair->rest;
    double size = fabs(err), exact = fabs(pair->exact);
    gather->finite++;
    add_ulp(gather, format, err, pair);
    gather->exact_max = fmax(gather->exact_max, exact);
    norm_add(&gather->err, size);
    norm_add(&gather->exact, exact);
    double row_ulp = size / ulp_in(format, scale);
    gather->row_ulp_sum += row_ulp;
    gather->err_max = fmax(gather->err_max, size);
    of_row->row_ulp_max = fmax(of_row->row_ulp_max, row_ulp);
    of_row->norm_max = fmax(of_row->norm_max, size); /* over max |exact| at the end */
    if (row_ulp > gather->row_ulp_max) {
        gather->row_ulp_max = row_ulp;
        if (gather->mismatches == 0) {
            set_worst(gather, pair);
        }
    }
}

static void add_element(metrics_gather *gather, const metrics_row *row, const value_pair *pair,
                        double rounded, metrics_of_row *of_row)
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
    add_finite(gather, format_of(row->storage), pair, element_scale(row, pair->column), of_row);
}

/* The larger of the maximum so far (NaN: none) and the error of a mean or rstd. What the kernel
 * gives where there is no exact value, or where that is 0, is not looked at; a wrong class counts
 * as an infinite error. The exact value of f64 is itself rounded: half an ulp stays open. */
static double larger_ulp(double so_far, ln_type type, const double *computed, double rounded,
                         double exact)
{
    if (computed == NULL || isnan(exact) || exact == 0) {
        return so_far;
    }
    double ulp = 0;
    if (!same_class(*computed, rounded)) {
        ulp = INFINITY;
    } else if (isfinite(rounded)) {
        ulp = fabs(*computed - exact) / ln_ulp(type, exact);
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
    gather->mean_ulp_max = larger_ulp(gather->mean_ulp_max, type, mean, mean_rounded, facts->mean);
    gather->rstd_ulp_max = larger_ulp(gather->rstd_ulp_max, type, rstd, rstd_rounded, facts->rstd);
}

/* NaN without a denominator. */
static double ratio(double numerator, double denominator)
{
    return denominator == 0 && numerator == 0 ? (double)NAN : numerator / denominator;
}

bool metrics_gather_row(metrics_gather *gather, const metrics_row *row, size_t number,
                        const void *computed, const double *mean, const double *rstd,
                        metrics_of_row *of_row)
{
    const ln_reference_result *answer = row->answer;
    metrics_of_row here = {(double)NAN, (double)NAN, 0};
    double exact_max = 0;
    if (!samples_reserve(&gather->ulps, row->hidden)) {
        return false;
    }
    for (size_t i = 0; i < row->hidden; i++) {
        bool has_rest = row->storage == LN_F64 && answer->rest != NULL;
        value_pair pair = {.row = number,
                           .column = i,
                           .computed = load(row->storage, computed, i),
                           .exact = answer->exact[i],
                           .rest = has_rest ? answer->rest[i] : 0};
        double rounded = load(row->storage, answer->rounded, i);
        add_element(gather, row, &pair, rounded, &here);
        if (isfinite(rounded)) {
            exact_max = fmax(exact_max, fabs(pair.exact));
        }
    }
    add_statistics(gather, row, mean, rstd);
    gather->kappa_max = fmax(gather->kappa_max, answer->kappa);
    if (of_row != NULL) {
        here.norm_max = ratio(here.norm_max, exact_max);
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
        .norm_max = ratio(gather->err_max, gather->exact_max),
        .rel_l2 = ratio(norm_root(&gather->err), norm_root(&gather->exact)),
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

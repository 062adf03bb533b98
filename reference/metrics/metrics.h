/* Error metrics: classify first, then measure, so that a NaN never passes.
 *
 *     metrics_gather *gather = metrics_gather_create();
 *     // for each row:
 *     metrics_row row = {LN_BF16, LN_F32, hidden, &convention, gamma, beta, &answer, convention.affine, false};
 *     metrics_gather_row(gather, &row, number, computed, NULL, NULL, NULL);
 *     ln_metrics metrics;
 *     metrics_gather_finish(gather, &metrics);
 *
 * ulp(v) = 2^(max(e, emin) - p + 1) for 2^e <= |v| < 2^(e+1) in the target type, after Muller et
 * al., "Handbook of Floating-Point Arithmetic", 2nd ed., section 2.3.2 (Goldberg's ulp of the exact
 * value):
 *
 *           p   emin
 *     f32   24   -126
 *     f64   53  -1022
 *     bf16   8   -126
 *     f16   11    -14
 */
#ifndef LN_METRICS_H
#define LN_METRICS_H

#include "certify/reference.h"

/* Bins of the histogram of ulp errors: the first is of errors below 2^-6 ulp (exact ones too), bin
 * b >= 1 of those from 2^(b-7) to below 2^(b-6), the last of all from 2^24 on. */
enum { ULP_BINS = 32 };

typedef struct ln_metrics {
    double ulp_max, ulp_mean, ulp_rms, ulp_p50, ulp_p90,
        ulp_p99;                      /* |computed - exact| / ulp(exact) */
    double ulp_bias;                  /* the signed mean */
    double row_ulp_max, row_ulp_mean; /* |err| / ulp(|gamma| * max|xhat| + |beta|) */
    double norm_max;                  /* max |err| / max |exact|; infinite where only exact is 0 */
    double rel_l2;                    /* ||err||_2 / ||exact||_2 */
    double correctly_rounded; /* share of the elements, 0..1, that equal the reference bit for bit
                                 (zeros of either sign are equal) */
    double bits;              /* -log2(norm_max), 53 at most (24 where every element is exact is not
                                 assumed: it is what was measured) */
    double mean_ulp_max, rstd_ulp_max; /* where the kernel gives mean and rstd, else NaN; in ulp of
                                          f64 for f64 rows, else of f32 */
    uint64_t mismatches;               /* elements whose class (NaN, +Inf, -Inf, finite) is wrong */
    uint64_t elements;
    uint64_t exact_zeros;           /* left out of ulp_*, counted here */
    uint64_t sign_of_zero;          /* zeros of the other sign: reported, never a verdict */
    size_t worst_row, worst_column; /* largest row_ulp, or the first class mismatch */
    double worst_computed, worst_exact;
    double kappa_max;                 /* largest realised kappa of the rows seen */
    uint64_t ulp_histogram[ULP_BINS]; /* elements of each bin: those that ulp_* are of */
} ln_metrics;                         /* a figure that is undefined is NaN */

typedef struct metrics_gather metrics_gather;

/* A row and its answers: what metrics and bounds are of. */
typedef struct metrics_row {
    ln_type storage, param; /* of y; of gamma and beta */
    size_t hidden;
    const ln_convention *convention;
    const void *gamma, *beta; /* as the affine form says; beta may be NULL under any */
    const ln_reference_result *answer;
    ln_affine affine;   /* the convention's; of one of another operation, what its parameters do */
    bool rounds_factor; /* 1 + g, under gamma1, is rounded to g's type */
} metrics_row;

/* One row's part of the metrics. */
typedef struct metrics_of_row {
    double row_ulp_max, norm_max; /* NaN without a pair of finite values */
    uint64_t mismatches;
} metrics_of_row;

/* ulp of v in a type, as above; ulp(0) is the smallest subnormal. Infinite for an infinite v. */
double ln_ulp(ln_type type, double v);
double ln_ulp_f32(double v);

/* The histogram's bin of an error, in ulp. */
size_t ulp_bin(double ulp);

metrics_gather *metrics_gather_create(void); /* NULL when memory runs out */
void metrics_gather_destroy(metrics_gather *gather);

/* Adds one row, of which `computed` is what came out, in the storage type. mean and rstd point to
 * what the kernel gave (in f64 for f64 rows, else rounded to f32), or are NULL; of_row may be NULL.
 * False when memory runs out. */
bool metrics_gather_row(metrics_gather *gather, const metrics_row *row, size_t number,
                        const void *computed, const double *mean, const double *rstd,
                        metrics_of_row *of_row);

/* Sums up all rows seen. Leaves the gather as it was. */
void metrics_gather_finish(metrics_gather *gather, ln_metrics *metrics);

/* The row_ulp that a proven bound allows for this row: max_i of the bound's absolute error /
 * ulp(scale_i), over the elements whose result is finite. Infinite where the kernel makes no claim,
 * 0 for a row without a finite result, NaN for a bound that is NaN. */
double ln_bound_row_ulp(const ln_bound *bound, const metrics_row *row);

/* The same of a kernel of LN_TRAIT_ROUNDED_LAST. */
double ln_bound_row_ulp_rounded_last(const ln_bound *bound, const metrics_row *row);

/* Whether one row of computed values stays within the bound, element by element and with the right
 * classes (but for an exact value that lies within the bound of where the type rounds to infinity:
 * there finite and infinite are both right); *worst is the largest |err| / allowed. True where the
 * kernel makes no claim; a bound that is NaN does not hold. */
bool ln_bound_holds(const ln_bound *bound, const metrics_row *row, const void *computed,
                    double *worst);

#endif

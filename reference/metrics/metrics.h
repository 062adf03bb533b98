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

/* The number of bins of the histogram of ulp errors: the first has errors below 2^-6 ulp (including 0), bin
 * b >= 1 those from 2^(b-7) to below 2^(b-6), and the last all from 2^24 on. */
enum { ULP_BINS = 32 };

typedef struct ln_metrics {
    double ulp_max, ulp_mean, ulp_rms, ulp_p50, ulp_p90,
        ulp_p99;                      /* |computed - exact| / ulp(exact) */
    double ulp_bias;                  /* the signed mean */
    double row_ulp_max, row_ulp_mean; /* |err| / ulp(|gamma| * max|xhat| + |beta|) */
    double norm_max;                  /* max |err| / max |exact|; infinite if only exact is 0 */
    double rel_l2;                    /* ||err||_2 / ||exact||_2 */
    double correctly_rounded; /* share of the elements, 0..1, that equal the reference bit for bit
                                 (zeros of either sign are equal) */
    double bits;              /* -log2(norm_max), at most 53 for every type */
    double mean_ulp_max, rstd_ulp_max; /* NaN if the kernel does not give mean and rstd; in ulp of
                                          f64 for f64 rows, else of f32 */
    uint64_t mismatches;               /* elements whose class (NaN, +Inf, -Inf, finite) is wrong */
    uint64_t elements;
    uint64_t exact_zeros;           /* elements that ulp_* leave out */
    uint64_t sign_of_zero;          /* zeros of the other sign: reported, never a failure */
    size_t worst_row, worst_column; /* largest row_ulp, or the first class mismatch */
    double worst_computed, worst_exact;
    double kappa_max;                 /* the largest kappa of the rows */
    uint64_t ulp_histogram[ULP_BINS]; /* the elements of ulp_* in each bin */
} ln_metrics;                         /* undefined metrics are NaN */

typedef struct metrics_gather metrics_gather;

/* A row and its answers, from which metrics and bounds are computed. */
typedef struct metrics_row {
    ln_type storage, param; /* of y; of gamma and beta */
    size_t hidden;
    const ln_convention *convention;
    const void *gamma, *beta; /* as in the affine form; beta may be NULL for every form */
    const ln_reference_result *answer;
    ln_affine affine;   /* the convention's; for RMSNorm the form that its weight corresponds to */
    bool rounds_factor; /* 1 + g, under gamma1, is rounded to g's type */
} metrics_row;

/* One row's part of the metrics. */
typedef struct metrics_of_row {
    double row_ulp_max, norm_max; /* NaN without a pair of finite values */
    uint64_t mismatches;
} metrics_of_row;

/* Return ulp(v) in a type, as above; ulp(0) is the smallest subnormal. Infinite for an infinite v. */
double ln_ulp(ln_type type, double v);
double ln_ulp_f32(double v);

/* Returns the histogram's bin of an error in ulp. */
size_t ulp_bin(double ulp);

metrics_gather *metrics_gather_create(void); /* NULL if memory runs out */
void metrics_gather_destroy(metrics_gather *gather);

/* Adds one row with the computed y in the storage type. mean and rstd point to the kernel's values (in f64 for f64
 * rows, else rounded to f32), or are NULL; of_row may be NULL. Returns false if memory runs out. */
bool metrics_gather_row(metrics_gather *gather, const metrics_row *row, size_t number,
                        const void *computed, const double *mean, const double *rstd,
                        metrics_of_row *of_row);

/* Computes the metrics of all rows added. Does not change the gather. */
void metrics_gather_finish(metrics_gather *gather, ln_metrics *metrics);

/* Returns the row_ulp that a proven bound allows for this row: max_i of the bound's absolute error /
 * ulp(scale_i), over the elements whose result is finite. Infinite if the kernel has no bound for it,
 * 0 for a row without a finite result, NaN for a bound that is NaN. */
double ln_bound_row_ulp(const ln_bound *bound, const metrics_row *row);

/* The same for a kernel with LN_TRAIT_ROUNDED_LAST. */
double ln_bound_row_ulp_rounded_last(const ln_bound *bound, const metrics_row *row);

/* Returns whether each element of a row of computed values is within the bound and has the right class (if the exact
 * value is within the bound of the limit from which the type rounds to infinity, finite and infinite are both right);
 * *worst: the largest |err| / allowed. True if the kernel has no bound; a bound that is NaN does not hold. */
bool ln_bound_holds(const ln_bound *bound, const metrics_row *row, const void *computed,
                    double *worst);

#endif

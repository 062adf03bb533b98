/* The certified LayerNorm reference.
 *
 *     ln_reference *reference = ln_reference_create();
 *     ln_reference_result result = {.rounded = rounded, .exact = exact};
 *     ln_reference_row(reference, &convention, LN_F32, LN_F32, hidden, x, NULL, gamma, beta,
 *                      &result);
 *     // rounded[i]: the correctly rounded answer; exact[i]: the exact one to 53 bits
 *     ln_reference_destroy(reference);
 *
 * All results are certified: sums are exact integers, and every rounding is decided by a
 * rigorous bound or by exact comparison (see reference.c for the method and its proof). */
#ifndef LN_REFERENCE_H
#define LN_REFERENCE_H

#include "layernorm_plugin.h"
#include <stdbool.h>

/* Reusable workspace; one per thread. */
typedef struct ln_reference ln_reference;

/* The methods by which elements were decided since the workspace was made. */
typedef struct ln_reference_counts {
    uint64_t elements;  /* elements in all: the sum of the five below */
    uint64_t fast;      /* decided in double-double arithmetic */
    uint64_t first_try; /* decided by MPFR at its starting precision */
    uint64_t raised;    /* needed more precision (Ziv) */
    uint64_t exact;     /* zeros and ties decided by exact comparison */
    uint64_t special;   /* NaN by definition, or from a gamma or beta that is not finite */
} ln_reference_counts;

/* Makes a workspace; NULL: memory ran out. */
ln_reference *ln_reference_create(void);
void ln_reference_destroy(ln_reference *reference);

/* One row's answers. The caller owns the arrays, each of hidden elements. Rounded numbers are
 * correctly rounded, to nearest even; only kappa and max_xhat are just within one ulp. */
typedef struct ln_reference_result {
    void *
        rounded; /* y in the storage type, correctly rounded: subnormals kept, infinite beyond the type's
                    * range; an exact 0 is +0 */
    double *exact; /* y rounded to double: at least twice the bits of every type but f64 */
    double
        *rest; /* f64: (y - exact) / ulp(exact) rounded to double, with exact at least 106 bits of y
                    * of any size; 0 if exact is infinite, and if exact is 0 only if y is
                    * 0; NULL: not wanted. Not written for other types. */
    ln_row_facts facts;          /* of the row in its type; infinite beyond the range of double */
    double mean_rest, rstd_rest; /* f64: the rests of facts.mean and facts.rstd, likewise in ulp; 0
                                  * for other types and for an infinity */
    double kappa; /* sqrt(sum x^2 / (N * var)), var biased; infinity for var 0; NaN for NaN rows */
    double max_xhat;      /* max_j |xhat_j| (with eps under LN_EPS_QUOTIENT); NaN where undefined */
    double max_xhat_rest; /* its rest, likewise */
    float mean_rounded;   /* rounded to f32 for every type (facts.mean and facts.rstd: to double) */
    float rstd_rounded;
} ln_reference_result;

/* Computes the answers of one row; the 16-bit types are uint16_t in memory. residual may be NULL, and so may gamma and
 * beta if the affine form has none; they have one element each under LN_AFFINE_SCALAR. x + residual is
 * rounded to the storage type first. Returns false if memory runs out, hidden is 0, or x or a
 * parameter that the affine form has is NULL; result is then undefined. */
bool ln_reference_row(ln_reference *reference, const ln_convention *convention, ln_type storage,
                      ln_type param, size_t hidden, const void *x, const void *residual,
                      const void *gamma, const void *beta, ln_reference_result *result);

ln_reference_counts ln_reference_count(const ln_reference *reference);

/* Returns the versions of the loaded libraries: "MPFR 4.2.0, GMP 6.2.1". */
const char *ln_reference_versions(void);

#endif

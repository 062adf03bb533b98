/* What the kernels' tests hold against: LayerNorm of one row in about 113 bits, two passes, written
 * for being seen to be right. Good for rows whose sums do not span more than that. */
#ifndef ORACLE_H
#define ORACLE_H

#include "layernorm_plugin.h"
#include <stdbool.h>

/* 113 bits wherever gcc or clang build for x86-64 or aarch64. */
#if defined(__x86_64__)
__extension__ typedef __float128 quad;
#else
typedef long double quad;
#endif

typedef struct oracle {
    ln_row_facts facts;
    double max_xhat; /* with eps under LN_EPS_QUOTIENT */
    bool is_nan;     /* the whole row is NaN */
} oracle;

/* exact[i] is y in double precision. x is the row after the residual was added. */
void oracle_row(const ln_convention *convention, size_t hidden, const float *x, const float *gamma,
                const float *beta, double *exact, oracle *oracle);

/* The first element of y that the bound forbids, or whose class is wrong; hidden if there is none.
 * Where the bound makes no claim, only NaN rows are looked at. */
size_t oracle_first_breach(const ln_convention *convention, size_t hidden, const float *y,
                           const double *exact, const oracle *oracle, const float *gamma,
                           const float *beta, const ln_bound *bound);

/* max_i of error / allowed error: how much of a finite bound is used up. */
double oracle_bound_used(const ln_convention *convention, size_t hidden, const float *y,
                         const double *exact, const oracle *oracle, const float *gamma,
                         const float *beta, const ln_bound *bound);

/* Deterministic numbers for tests: a 64-bit mixer (Steele et al., "SplitMix", OOPSLA 2014) of a
 * counter. */
typedef struct numbers {
    uint64_t state;
} numbers;
uint64_t numbers_next(numbers *numbers);
double numbers_uniform(numbers *numbers); /* (0, 1) */
double numbers_normal(numbers *numbers);  /* mean 0, variance 1: 12 uniforms */

#endif

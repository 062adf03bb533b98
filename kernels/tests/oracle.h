/* The reference of the kernels' tests: LayerNorm of one row in about 113 bits, in two passes and in the simplest
 * way. It is accurate for rows whose sums need no more bits than that. */
#ifndef ORACLE_H
#define ORACLE_H

#include "layernorm_plugin.h"
#include <stdbool.h>

/* ---- Arrays of any element type: numbers are doubles, which hold every element of every type ---- */

size_t element_size(ln_type type);
const char *element_name(ln_type type);

/* The significant bits, the least and the largest exponent of normal numbers, and the smallest number. */
typedef struct format {
    int bits, least, most;
    double smallest;
} format;
format element_format(ln_type type);

/* Rounds a value to nearest even by the definition of the type, without operations on bits. */
double element_rounded(ln_type type, double value);

double element_get(ln_type type, const void *elements, size_t i);
void element_put(ln_type type, void *elements, size_t i, double value);

/* Rounds count values to the type, in place, and stores them. */
void elements_store(ln_type type, void *elements, double *values, size_t count);

/* ---- The oracle ---- */

/* A type with 113 bits, which gcc and clang have on x86-64 and aarch64. */
#if defined(__x86_64__)
__extension__ typedef __float128 quad;
#else
typedef long double quad;
#endif

/* An exact number in 106 bits: the nearest double, and the rest. */
typedef struct exact_number {
    double high, low;
} exact_number;

typedef struct oracle {
    ln_row_facts facts;
    double max_xhat; /* with eps under LN_EPS_QUOTIENT */
    bool is_nan;     /* the whole row is NaN */
} oracle;

/* Computes the exact y of a row. x: the exact sum with the residual. */
void oracle_row(const ln_convention *convention, size_t hidden, const double *x,
                const double *gamma, const double *beta, exact_number *exact, oracle *truth);

/* The exact result of a row, and the bound for its elements. */
typedef struct claim {
    const ln_convention *convention;
    ln_type storage; /* of y */
    size_t hidden;
    const double *gamma;
    const double *beta;
    const exact_number *exact;
    const oracle *oracle;
    ln_bound bound;
} claim;

/* Returns error / allowed error of one element; infinite for a wrong class, 0 without a bound. */
double claim_used(const claim *claimed, size_t i, double y);

/* Returns the first element of y that exceeds the bound; hidden if there is none. */
size_t claim_first_breach(const claim *claimed, const void *y);

/* Returns the largest share of a finite bound that an element reaches. */
double claim_most_used(const claim *claimed, const void *y);

/* Deterministic numbers for tests: a 64-bit mixer (Steele et al., "SplitMix", OOPSLA 2014) of a
 * counter. */
typedef struct numbers {
    uint64_t state;
} numbers;
uint64_t numbers_next(numbers *draws);
double numbers_uniform(numbers *draws); /* (0, 1) */
double numbers_normal(numbers *draws);  /* mean 0, variance 1: 12 uniforms */

#endif

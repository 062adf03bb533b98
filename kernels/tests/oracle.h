/* What the kernels' tests hold against: LayerNorm of one row in about 113 bits, two passes, written
 * for being seen to be right. Good for rows whose sums do not span more than that. */
#ifndef ORACLE_H
#define ORACLE_H

#include "layernorm_plugin.h"
#include <stdbool.h>

/* ---- Arrays of any element type: numbers are doubles, which hold every element of every type ---- */

size_t element_size(ln_type type);
const char *element_name(ln_type type);

/* Significant bits, least and largest exponent of normal numbers, the smallest number. */
typedef struct format {
    int bits, least, most;
    double smallest;
} format;
format element_format(ln_type type);

/* value rounded to nearest even, by what the types' definition says: no tricks with bits. */
double element_rounded(ln_type type, double value);

double element_get(ln_type type, const void *elements, size_t i);
void element_put(ln_type type, void *elements, size_t i, double value);

/* Rounds count values to the type, in place, and stores them. */
void elements_store(ln_type type, void *elements, double *values, size_t count);

/* ---- The oracle ---- */

/* 113 bits wherever gcc or clang build for x86-64 or aarch64. */
#if defined(__x86_64__)
__extension__ typedef __float128 quad;
#else
typedef long double quad;
#endif

/* An exact number in 106 bits: the double next to it, and what is left. */
typedef struct exact_number {
    double high, low;
} exact_number;

typedef struct oracle {
    ln_row_facts facts;
    double max_xhat; /* with eps under LN_EPS_QUOTIENT */
    bool is_nan;     /* the whole row is NaN */
} oracle;

/* x is the row after the residual was added, exactly: doubles hold every type. */
void oracle_row(const ln_convention *convention, size_t hidden, const double *x,
                const double *gamma, const double *beta, exact_number *exact, oracle *truth);

/* What the elements of a row are held to. */
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

/* error / allowed error of one element, infinite for a wrong class. Where the bound makes no claim,
 * 0. */
double claim_used(const claim *claimed, size_t i, double y);

/* The first element of y that the claim forbids; hidden if there is none. */
size_t claim_first_breach(const claim *claimed, const void *y);

/* The most of a finite bound that an element uses up. */
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

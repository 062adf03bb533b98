/* Enclosures: a row's results to a chosen precision, each with a proven bound of its error. The formulas and the proof
 * are in enclosure.c. */
#ifndef LN_ENCLOSURE_H
#define LN_ENCLOSURE_H

#include "exact/exact_row.h"
#include <mpfr.h>

/* Least precision the proof allows: hidden, eps, x and beta must be exact in it. */
#define ENCLOSURE_MIN_PRECISION 64

typedef struct value_enclosure {
    mpfr_prec_t precision;
    mpfr_t sum;    /* sum(x), exact */
    mpfr_t scaled; /* N x, exact */
    mpfr_t factor; /* 1 / (N (denominator)), relative error at most 6 * 2^-precision */
    mpfr_t eps;
    mpfr_t deviation, gamma, beta, value, error; /* of the current element */
    mpfr_t low, high;                            /* the element lies in [low, high] */
} value_enclosure;

void enclosure_init(value_enclosure *enclosure);
void enclosure_clear(value_enclosure *enclosure);

/* Sets the precision and the members that do not depend on the element. The row must be defined. */
void enclosure_take(value_enclosure *enclosure, const exact_row *row, mpfr_prec_t precision);

/* Sets low and high around one element of the row taken. gamma and beta are finite. */
void enclosure_of(value_enclosure *enclosure, const exact_row *row, const row_element *element);

#endif

/* The quick path for rows of f32 values: double-double arithmetic with a proven bound. The formulas and the proof are
 * in fast_row.c. */
#ifndef LN_FAST_ROW_H
#define LN_FAST_ROW_H

#include "exact/double_double.h"
#include "certify/enclosure.h"
#include "exact/exact_row.h"

/* The unit of the bound: 16 u^2, u = 2^-53. */
#define FAST_ROW_MARGIN 0x1p-102

typedef struct fast_row {
    bool usable;        /* the row's magnitudes are those of the proof */
    double_double mean; /* within 2^-106 of itself */
    double_double rstd; /* likewise */
    double eps;         /* on the quotient, else 0 */
    double plus;        /* the number that is added to gamma: 1 or 0 */
    double margin;      /* FAST_ROW_MARGIN; the tests try others */
} fast_row;

/* An element lies in [hi + lo - error, hi + lo + error]. */
typedef struct fast_interval {
    double hi, lo, error;
} fast_interval;

/* Prepares a defined row of f32 values, whose enclosure was set at 128 bits or more. */
void fast_row_take(fast_row *fast, const exact_row *row, ln_affine affine,
                   value_enclosure *enclosure);

/* Evaluates one element of a usable row; |gamma| and |beta| are at most 2^300. */
fast_interval fast_row_enclose(const fast_row *fast, double x, double gamma, double beta);

/* Evaluates many elements of any row: exact[i] is the result correctly rounded to double, or NaN if this path cannot
 * decide. gamma and beta may be any numbers. A decided result is not zero. */
void fast_row_decide(const fast_row *fast, size_t count, const double *x, const double *gamma,
                     const double *beta, double *exact);

#endif

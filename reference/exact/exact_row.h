/* One row in exact arithmetic: its sums as integers, and exact comparison of any of its results
 * with a rational number.
 *
 * With N = hidden, a_i = N x_i - sum(x) and v = N sum(x^2) - sum(x)^2 (both exact):
 *
 *     x_i - mean = a_i / N             var = v / (N (N - ddof))
 */
#ifndef LN_EXACT_ROW_H
#define LN_EXACT_ROW_H

#include "exact/exact_sums.h"
#include "layernorm.h"

typedef struct exact_row {
    exact_sums sums;
    size_t hidden;
    mpz_t divisor;      /* N - ddof */
    mpz_t variance;     /* v = N sum(x^2) - sum(x)^2, in units of 2^(2 sums.unit) */
    mpz_t radicand;     /* w = v + eps N (N - ddof), eps only in LN_EPS_VAR ... */
    long radicand_unit; /* ... in units of 2^radicand_unit */
    ln_eps_place place; /* also LN_EPS_NONE if eps is 0 */
    double eps;
    bool defined;   /* xhat is defined: the divisor and the denominator are positive */
    bool has_ratio; /* ratio is set (only exact comparison needs it) */
    mpq_t ratio;    /* r, the radicand in exact_row.c */
    mpq_t scratch[5];
} exact_row;

/* One result of a row: gamma * xhat + beta, or, with is_rstd, the factor rstd itself (x, gamma and
 * beta are then ignored). */
typedef struct row_element {
    double x;
    double gamma;
    double beta;
    bool gamma_plus_one; /* the factor is 1 + gamma, exactly */
    bool is_rstd;
} row_element;

void exact_row_init(exact_row *row);
void exact_row_clear(exact_row *row);

/* Reads a row. Returns false if a value is not finite; row is then undefined. */
bool exact_row_take(exact_row *row, const ln_convention *convention, size_t hidden, const float *x);
bool exact_row_take_f64(exact_row *row, const ln_convention *convention, size_t hidden,
                        const double *x);

/* Changes a row to one of RMSNorm: its mean counts as 0, so that its variance is the mean square. */
void exact_row_about_zero(exact_row *row, const ln_convention *convention);
/* Replaces the denominator of the row's elements by a finite number. */
void exact_row_divide_by(exact_row *row, double root);

/* A number base + unit (low + high) / 2. An infinite low or high is the power of two after the largest double. */
typedef struct row_target {
    double base, low, high, unit;
} row_target;

/* Returns the exact sign (-1, 0, 1) of element - target. The row must be defined, gamma and beta finite. */
int exact_row_compare(exact_row *row, const row_element *element, row_target target);

#endif

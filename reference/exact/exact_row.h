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
    ln_eps_place place; /* LN_EPS_NONE too where eps is 0 */
    double eps;
    bool defined;   /* xhat is: the divisor and the denominator are positive */
    bool has_ratio; /* ratio is filled (only exact comparison needs it) */
    mpq_t ratio;    /* what stands under the root: see exact_row.c */
    mpq_t scratch[5];
} exact_row;

/* One result of a row: gamma * xhat + beta, or, with is_rstd, the factor rstd itself (x, gamma and
 * beta are then not looked at). */
typedef struct row_element {
    double x;
    double gamma;
    double beta;
    bool gamma_plus_one; /* the factor is 1 + gamma, exactly */
    bool is_rstd;
} row_element;

void exact_row_init(exact_row *row);
void exact_row_clear(exact_row *row);

/* Takes a row in. False where a value is not finite; then nothing in row is meant. */
bool exact_row_take(exact_row *row, const ln_convention *convention, size_t hidden, const float *x);
bool exact_row_take_f64(exact_row *row, const ln_convention *convention, size_t hidden,
                        const double *x);

/* Makes a row that was taken one about zero, as RMSNorm's is: its mean counts as 0, so that its
 * variance is the mean square. */
void exact_row_about_zero(exact_row *row, const ln_convention *convention);
/* The root of the row's elements becomes this number, whatever its sums are; finite. */
void exact_row_divide_by(exact_row *row, double root);

/* A number base + unit (low + high) / 2. Each is finite, or an infinite low or high stands for the
 * power of two that follows the largest double. */
typedef struct row_target {
    double base, low, high, unit;
} row_target;

/* The sign (-1, 0, 1) of element - target, decided exactly. The row is defined, gamma and beta are
 * finite. */
int exact_row_compare(exact_row *row, const row_element *element, row_target target);

#endif

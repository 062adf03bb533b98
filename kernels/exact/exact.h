/* The last step of the correctly rounded LayerNorm, for elements that vectors leave uncertain.
 *
 *     ln_exact_row row;
 *     ln_exact_begin(&row, problem, tensors, r);
 *     uint32_t bits = ln_exact_y(&row, &estimate, i);
 *
 * An estimate gives an interval that contains the result. ln_exact_y() rounds both ends of that interval. If
 * they differ, it compares the exact result with the midpoints between them: in pairs of doubles
 * if the row can be summed again, and else in integers. exact.c has the method and the proof
 * that it ends. It is built once, for the machine's base instructions. */
#ifndef LN_EXACT_H
#define LN_EXACT_H

#include "exact/big.h"
#include "layernorm.h"

/* An estimate of xhat of an element x, t = (x - pivot) * rstd + addend, with
 *     |t - xhat| <= relative |t| + absolute
 * `relative` includes eight more roundings of double; infinite: nothing is known. `mean` is within mean_error of the
 * exact one, and the relative error of rstd is at most `relative`. (The proofs are in statistics/exact.h.) */
typedef struct ln_exact_estimate {
    double pivot;
    double rstd;
    double addend;
    double relative;
    double absolute;
    double mean;
    double mean_error;
} ln_exact_estimate;

/* ---- Pairs of doubles ---- */

/* A number that is the sum of two doubles; the second is at most half a unit in the first's last place. */
typedef struct ln_two {
    double high;
    double low;
} ln_two;

/* Sums of x and of x^2 with separate sums of the rounding errors of their additions; each term has at most `depth`
 * additions. */
typedef struct ln_exact_sums {
    ln_two sum;
    ln_two square;
    double depth;
} ln_exact_sums;

typedef struct ln_exact_fine {
    ln_two mean;
    ln_two rstd;
    double size;     /* sqrt(sum x^2 / N) */
    double relative; /* error of rstd, and of mean / size; infinite: nothing is known */
} ln_exact_fine;

ln_two ln_two_sum(double a, double b);

/* ---- A row ---- */

/* A row, and its sums once they have been needed. */
typedef struct ln_exact_row {
    const ln_problem *problem;
    const ln_tensors *tensors;
    const void *x;
    const void *residual;                                  /* NULL: x is the row */
    void (*add_up)(const void *view, ln_exact_sums *sums); /* sums the row; NULL: not possible */
    const void *view;
    int uncentred; /* RMSNorm: the sum of x counts as 0 */
    int refined;   /* `fine` is set */
    ln_exact_fine fine;
    int taken;    /* the members below are set */
    int finite;   /* all elements are finite */
    int defined;  /* xhat is defined */
    big sum;      /* S = sum x */
    big variance; /* V = N sum x^2 - S^2 */
    big radicand; /* N w, w = V + eps N (N - ddof), eps if it is in the variance */
} ln_exact_row;

/* Sets up row r. With a residual it uses tensors->sum if there is one, else it adds again. `add_up`, `view` and
 * `uncentred` may then be set. */
void ln_exact_begin(ln_exact_row *row, const ln_problem *problem, const ln_tensors *tensors,
                    size_t r);

/* Returns the bits of y of element i, rounded once to the storage type. x of the whole row must be unchanged, unless
 * this function was called for the row before. */
uint32_t ln_exact_y(ln_exact_row *row, const ln_exact_estimate *near, size_t i);

/* Computes the whole row without an estimate. */
void ln_exact_fill(ln_exact_row *row, void *y);

/* Return mean and rstd, rounded once to f32; NaN if they are undefined. */
float ln_exact_mean(ln_exact_row *row, const ln_exact_estimate *near);
float ln_exact_rstd(ln_exact_row *row, const ln_exact_estimate *near);

/* Stores a result of ln_exact_y(). */
void ln_exact_store(ln_type storage, void *y, size_t i, uint32_t bits);

/* An error that covers every underflow of an estimate's arithmetic (statistics/exact.h), and is far
 * below the smallest number of every storage type. */
#define LN_EXACT_UNDERFLOW 0x1p-400

#endif

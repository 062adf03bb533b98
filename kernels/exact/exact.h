/* The last step of the correctly rounded LayerNorm: what vectors cannot decide.
 *
 *     ln_exact_row row;
 *     ln_exact_begin(&row, problem, tensors, r);
 *     uint32_t bits = ln_exact_y(&row, &estimate, i);
 *
 * An estimate says where a result lies; ln_exact_y() rounds both ends of that interval, and where
 * they differ compares the exact result with the midpoints between them: in two doubles each,
 * where the row can be added up again, and else in integers. exact.c has the method, and the proof
 * that it ends. Built once, for the machine's base instructions. */
#ifndef LN_EXACT_H
#define LN_EXACT_H

#include "exact/big.h"
#include "layernorm.h"

/* xhat of an element x is near t = (x - pivot) * rstd + addend:
 *     |t - xhat| <= relative |t| + absolute
 * and `relative` covers eight more roundings of double. Infinite: nothing is known. `mean` is
 * within mean_error of the exact one, rstd within `relative` of itself. (statistics/exact.h proves
 * what it says here.) */
typedef struct ln_exact_estimate {
    double pivot;
    double rstd;
    double addend;
    double relative;
    double absolute;
    double mean;
    double mean_error;
} ln_exact_estimate;

/* ---- Two doubles each ---- */

/* The sum of two doubles, the second within half of the first's last place. */
typedef struct ln_two {
    double high;
    double low;
} ln_two;

/* Sums of x and of x^2, in which what each addition rounds off is added up too: `depth` additions
 * in a row at most. */
typedef struct ln_exact_sums {
    ln_two sum;
    ln_two square;
    double depth;
} ln_exact_sums;

typedef struct ln_exact_fine {
    ln_two mean;
    ln_two rstd;
    double size;     /* sqrt(sum x^2 / N) */
    double relative; /* error of rstd, and of the mean beside `size`; infinite: nothing is known */
} ln_exact_fine;

ln_two ln_two_sum(double a, double b);

/* ---- A row ---- */

/* A row, and its sums where they have been needed. */
typedef struct ln_exact_row {
    const ln_problem *problem;
    const ln_tensors *tensors;
    const void *x;
    const void *residual;                                  /* NULL: x is the row */
    void (*add_up)(const void *view, ln_exact_sums *sums); /* NULL: nobody does */
    const void *view;
    int uncentred; /* of RMSNorm: the sum of x counts as 0 */
    int refined;   /* `fine` is there */
    ln_exact_fine fine;
    int taken;    /* what follows is there */
    int finite;   /* all elements are */
    int defined;  /* xhat is */
    big sum;      /* S = sum x */
    big variance; /* V = N sum x^2 - S^2 */
    big radicand; /* N w, w = V + eps N (N - ddof), eps where it is in the variance */
} ln_exact_row;

/* Takes the sums where a residual has been added up, else adds it up again. `add_up`, `view` and `uncentred`
 * may then be set. */
void ln_exact_begin(ln_exact_row *row, const ln_problem *problem, const ln_tensors *tensors,
                    size_t r);

/* y of element i, rounded once to the storage type: its bits. x of the whole row must still be as
 * it was, or this have been asked before. */
uint32_t ln_exact_y(ln_exact_row *row, const ln_exact_estimate *near, size_t i);

/* The whole row, of which nothing is known yet. */
void ln_exact_fill(ln_exact_row *row, void *y);

/* Both rounded once to f32; NaN where they are undefined. */
float ln_exact_mean(ln_exact_row *row, const ln_exact_estimate *near);
float ln_exact_rstd(ln_exact_row *row, const ln_exact_estimate *near);

/* Stores what ln_exact_y() gave. */
void ln_exact_store(ln_type storage, void *y, size_t i, uint32_t bits);

/* An error that covers every underflow of an estimate's arithmetic (statistics/exact.h), and is far
 * below what any storage type rounds to zero. */
#define LN_EXACT_UNDERFLOW 0x1p-400

#endif

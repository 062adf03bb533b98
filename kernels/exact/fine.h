/* A row's mean and rstd in two doubles each: what lies within 2^-50 of a midpoint is decided with
 * them, and integers are left to those that lie within 2^-70.
 *
 *     ln_exact_fine fine = ln_exact_refine(problem, &sums);
 *     if (fine.relative < INFINITY) ... */
#ifndef LN_EXACT_FINE_H
#define LN_EXACT_FINE_H

#include "layernorm.h"

/* The unevaluated sum of two doubles, the second within half of the first's last place. */
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
    double size; /* sqrt(sum x^2 / N) */
    double
        relative; /* rstd's error, and the mean's as a part of size; infinite: nothing is known */
} ln_exact_fine;

ln_exact_fine ln_exact_refine(const ln_problem *problem, const ln_exact_sums *sums);

/* The sign of gamma xhat + beta - t, or 0 where that is not certain. */
int ln_exact_fine_side(const ln_exact_fine *fine, double x, double quotient, ln_two gamma,
                       double beta, double t);

ln_two ln_two_sum(double a, double b);

#endif

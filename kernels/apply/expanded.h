/* expanded: x * rstd - mean * rstd: the product multiplied out, one operation an element where
 * items fuse, two where they don't; direct takes one more.
 *
 * What normalisations with a scale and a shift a row do (PyTorch's, among others). It saves the
 * subtraction, and gives up what made that exact: a row far from zero is a small difference of two
 * large products, each rounded, so that the error of xhat grows with u kappa, also where the mean
 * is exact, and a constant row is not 0.
 *
 * Bound. m = fl(mean + rest) as in direct.h, |m - mu| <= D; r' = r_exact (1 + rho), where items are
 * shorter rounded to one; M = |mu| + D, X = max|x|, S = max|x - mu| + D, k = 1 where multiply_add
 * rounds once, else 2.
 *     (x - m) r' + q  is within  r' D + max|d| r_exact rho  of d r_exact + q.
 *     b = fl(q - fl(m r')): eps, the product and the difference round:
 *                                u eps + u M r' + u (M r' (1 + u) + eps (1 + u)) + 2 tiny =: B
 *     fl(x r' + b): the sum      u (S r' + eps + B), and where k = 2 the product before it
 *                                u X r' (1 + u), and 2 tiny */
#ifndef LN_APPLY_H
#define LN_APPLY_H

#include "moments.h"

/* The type in which rstd is computed. */
typedef real factor;
#define FACTOR LN_ACCUMULATOR

typedef struct centre {
    vec rstd;
    vec addend;
} centre;

LN_INLINE centre centre_of(moments found, factor rstd, item quotient)
{
    item mean = (item)(found.mean + found.rest), scale = (item)rstd;
    item shift = mean * scale;
    return (centre){lane_set(scale), lane_set(quotient - shift)};
}

/* (x - mean) * rstd + quotient */
LN_INLINE vec centre_normalise(centre by, vec x)
{
    return multiply_add(x, by.rstd, by.addend);
}

LN_INLINE double centre_bound(const ln_problem *problem, const ln_row_facts *facts,
                              const moments_bound *found, double rho)
{
    double u = ITEM_UNIT, delta = found->mean, mean = fabs(facts->mean);
    double eps = problem->convention.eps_place == LN_EPS_QUOTIENT ? problem->convention.eps : 0.0;
    if (found->rest > 0)
        delta += REAL_UNIT * (mean + delta);
    if (WIDE) {
        delta += ITEM_UNIT * (mean + delta) + ITEM_TINY;
        rho += ITEM_UNIT * (1 + rho);
    }
    double r = facts->rstd * (1 + rho), s = (facts->max_dev + delta) * r, m = (mean + delta) * r;
    double addend = u * eps + u * m + u * (1 + u) * (m + eps) + 2 * ITEM_TINY;
    double error = r * delta + facts->max_dev * facts->rstd * rho + addend;
    error += u * (s + eps + addend) + ITEM_TINY;
    if (!LN_FMA)
        error += u * (1 + u) * facts->max_abs * r + ITEM_TINY;
    return 2 * (facts->max_abs * r + m + eps) < ITEM_MAX ? error * bound_slack : INFINITY;
}

#endif

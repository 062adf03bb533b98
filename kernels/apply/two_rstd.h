/* two_rstd: mean and rstd in two parts each, so that the rounding of neither is felt, for rows that items can
 * hold.
 *
 *     rstd = r + l      a = quotient - rest * rstd      s = x - mean      xhat = s r + (s l + a)
 *
 * rstd is computed in double from the accumulators' m2, l is what rounding it to an item leaves. As
 * many operations an element as two_mean, but two roundings of any size: that of s, and the last.
 *
 * Bound: proven below, beside the code that computes it. */
#ifndef LN_APPLY_H
#define LN_APPLY_H

#include "moments.h"

/* The type in which rstd is computed. */
typedef double factor;
#define FACTOR f64

typedef struct centre {
    vec mean;
    vec rstd;
    vec rstd_rest;
    vec addend;
} centre;

/* (x - mean) * rstd + quotient */
LN_INLINE vec centre_normalise(centre by, vec x)
{
    vec deviation = lane_subtract(x, by.mean);
    vec rest = multiply_add(deviation, by.rstd_rest, by.addend);
    return multiply_add(deviation, by.rstd, rest);
}

LN_INLINE centre centre_of(moments found, factor rstd, item quotient)
{
    item mean = (item)found.mean, first = (item)rstd;
    real rest = WIDE ? (found.mean - mean) + found.rest : found.rest;
    return (centre){lane_set(mean), lane_set(first), lane_set((item)(rstd - first)),
                    lane_set((item)(quotient - rest * rstd))};
}

/* Bound. r' = r_exact (1 + rho) is the rstd that was computed, delta the error of mean + rest; S =
 * max|x - mu| + |rest| + delta is the largest |x - mean|, A = |rest| r' + eps (eps where it is on
 * the quotient), k = 1 where multiply_add rounds once, else 2.
 *     (x - mean) r' - rest r' + q   is within   r' delta + max|d| r_exact rho   of d r_exact + q.
 *     s = (x - mean)(1 + e)                          u S r'
 *     r + l = r' (1 + e), |e| <= u^2, l may be       S (1 + u)(u^2 r' + tiny)
 *     subnormal
 *     eps and a are rounded to items                 u eps + u A (1 + u) + tiny
 *     fl(s l + a), with |s l| <= u (1 + 3 u) S r'    k u (1 + u) B + tiny,
 *                                                    B = 2 u S r' + A (1 + 2 u)
 *     fl(s r + that)                                 k u (1 + u)(S r' (1 + 4 u) + 2 B) + tiny.
 * (The 4 u and 2 B are generous.) */
LN_INLINE double centre_bound(const ln_problem *problem, const ln_row_facts *facts,
                              const moments_bound *found, double rho)
{
    double u = ITEM_UNIT, k = LN_FMA ? 1 : 2, delta = found->mean, rest = found->rest;
    double eps = problem->convention.eps_place == LN_EPS_QUOTIENT ? problem->convention.eps : 0.0;
    if (WIDE) {
        rest += u * (fabs(facts->mean) + delta + rest) + ITEM_TINY;
        delta += REAL_UNIT * rest * (1 + REAL_UNIT);
    }
    double r = facts->rstd * (1 + rho), s = facts->max_dev + rest + delta;
    double a = rest * r + eps, b = 2 * u * s * r + a * (1 + 2 * u);
    double error = r * delta + facts->max_dev * facts->rstd * rho;
    error += u * s * r + s * (1 + u) * (u * u * r + ITEM_TINY) + u * eps + u * a * (1 + u);
    error += k * u * (1 + u) * (b + s * r * (1 + 4 * u) + 2 * b) + 3 * k * ITEM_TINY;
    if (!(2 * (fabs(facts->mean) + s) < ITEM_MAX && 2 * (s * r + 3 * b) < ITEM_MAX))
        return INFINITY;
    return error * bound_slack;
}

#endif

/* folded: (x - mean) * rstd + a, a = quotient - rest * rstd: the mean in two parts, the second of
 * which goes into the addend, so that its rounding to one is never felt and costs nothing an
 * element.
 *
 * One operation an element less than two_mean.
 *
 * Bound. r' = r_exact (1 + rho) is the rstd that was computed, delta the error of mean + rest; S =
 * max|x - mu| + |rest| + delta is the largest |x - mean|, A = |rest| r' + eps (eps where it is on
 * the quotient), k = 1 where multiply_add rounds once, else 2.
 *     (x - mean) r' - rest r' + q   is within   r' delta + max|d| r_exact rho   of d r_exact + q.
 *     s = (x - mean)(1 + e)                        u S r'
 *     r' is rounded to an item where those are shorter     u S r' (1 + u)
 *     a: eps, the product and the difference round         u eps + 2 u (1 + u) A + 2 tiny
 *     fl(s r' + a)                                 k u (1 + u)(S r' (1 + 3 u) + A (1 + 4 u)) +
 *                                                  k tiny, and tiny for the product's rounding */
#ifndef LN_APPLY_H
#define LN_APPLY_H

#include "moments.h"

/* The type in which rstd is computed. */
typedef real factor;
#define FACTOR LN_ACCUMULATOR

typedef struct centre {
    vec mean;
    vec rstd;
    vec addend;
} centre;

/* The numbers that are the same for all elements of a row: schedules that compute those of several
 * rows at once keep them so. */
enum { CENTRE_PARTS = 3 };

LN_INLINE void centre_parts(moments found, factor rstd, item quotient, item parts[CENTRE_PARTS])
{
    item mean = (item)found.mean;
    real rest = WIDE ? (found.mean - mean) + found.rest : found.rest;
    parts[0] = mean;
    parts[1] = (item)rstd;
    parts[2] = (item)(quotient - rest * rstd);
}

LN_INLINE centre centre_of_parts(const item parts[CENTRE_PARTS])
{
    return (centre){lane_set(parts[0]), lane_set(parts[1]), lane_set(parts[2])};
}

LN_INLINE centre centre_of(moments found, factor rstd, item quotient)
{
    item parts[CENTRE_PARTS];
    centre_parts(found, rstd, quotient, parts);
    return centre_of_parts(parts);
}

/* (x - mean) * rstd + quotient */
LN_INLINE vec centre_normalise(centre by, vec x)
{
    return multiply_add(lane_subtract(x, by.mean), by.rstd, by.addend);
}

/* Whether the mean's first part is 0, which is that of statistics that took no pivot, and the
 * addend is far from subnormal: see convention_is_regular(). */
LN_INLINE int centre_is_regular(const item parts[CENTRE_PARTS])
{
    return (parts[0] == 0) & (fabs((double)parts[2]) >= 0x1p-60);
}

/* centre_normalise(), bit for bit, where it is. */
LN_INLINE vec centre_normalise_unshifted(centre by, vec x)
{
    return multiply_add(x, by.rstd, by.addend);
}

LN_INLINE double centre_bound(const ln_problem *problem, const ln_row_facts *facts,
                              const moments_bound *found, double rho)
{
    double u = ITEM_UNIT, k = LN_FMA ? 1 : 2, delta = found->mean, rest = found->rest;
    double eps = problem->convention.eps_place == LN_EPS_QUOTIENT ? problem->convention.eps : 0.0;
    if (WIDE) { /* the mean is split anew: see two_mean.h */
        rest += u * (fabs(facts->mean) + delta + rest) + ITEM_TINY;
        delta += REAL_UNIT * rest * (1 + REAL_UNIT);
    }
    double r = facts->rstd * (1 + rho), s = facts->max_dev + rest + delta, a = rest * r + eps;
    double error = r * delta + facts->max_dev * facts->rstd * rho;
    error += (WIDE ? 2 : 1) * u * (1 + u) * s * r;
    error += u * eps + 2 * u * (1 + u) * a + 2 * ITEM_TINY;
    error += k * u * (1 + u) * (s * r * (1 + 3 * u) + a * (1 + 4 * u)) + 2 * k * ITEM_TINY;
    if (!(2 * (fabs(facts->mean) + s) < ITEM_MAX && 2 * (s * r + 2 * a) < ITEM_MAX))
        return INFINITY;
    return error * bound_slack;
}

#endif

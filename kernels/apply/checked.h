/* checked: mean and rstd in two parts each, so that the rounding of neither is felt, for rows that
 * items can hold; others, row by row, in double.
 *
 *     rstd = r + l      a = quotient - rest * rstd      s = x - mean      xhat = s r + (s l + a)
 *
 * rstd is computed in double from the accumulators' m2, l is what rounding it to an item leaves. As
 * many operations an element as two_mean, but two roundings of any size: that of s, and the last.
 *
 * A row is strange where x - mean may overflow in items, or rstd, or what rounding it leaves, may
 * not be a normal number: |mean| above 2^120, rstd outside 2^-90 ... 2^90 (it is at most sqrt(N) /
 * max|x - mean|), or either a NaN. Such a row's xhat and affine form are computed in double and
 * rounded once; that takes some ten times as long.
 *
 * two_rstd (CENTRE_UNCHECKED) takes all rows for such that items can hold.
 *
 * Bound: proven below, beside the code that computes it. */
#ifndef LN_APPLY_H
#define LN_APPLY_H

#include "moments.h"

/* The type in which rstd is computed. */
typedef double factor;
#define FACTOR f64

typedef struct two_rstd {
    vec mean;
    vec rstd;
    vec rstd_rest;
    vec addend;
} two_rstd;

/* The numbers that are the same for all elements of a row: schedules that compute those of several
 * rows at once keep them so. */
enum { CENTRE_PARTS = 4 };

LN_INLINE void centre_parts(moments found, factor rstd, item quotient, item parts[CENTRE_PARTS])
{
    item mean = (item)found.mean, first = (item)rstd;
    real rest = WIDE ? (found.mean - mean) + found.rest : found.rest;
    parts[0] = mean;
    parts[1] = first;
    parts[2] = (item)(rstd - first);
    parts[3] = (item)(quotient - rest * rstd);
}

LN_INLINE two_rstd two_rstd_of(const item parts[CENTRE_PARTS])
{
    return (two_rstd){lane_set(parts[0]), lane_set(parts[1]), lane_set(parts[2]),
                      lane_set(parts[3])};
}

/* (x - mean) * rstd + quotient */
LN_INLINE vec two_rstd_normalise(two_rstd by, vec x)
{
    vec deviation = lane_subtract(x, by.mean);
    vec rest = multiply_add(deviation, by.rstd_rest, by.addend);
    return multiply_add(deviation, by.rstd, rest);
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
LN_INLINE double two_rstd_bound(const ln_problem *problem, const ln_row_facts *facts,
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

#ifdef CENTRE_UNCHECKED
typedef two_rstd centre;

LN_INLINE centre centre_of(moments found, factor rstd, item quotient)
{
    item parts[CENTRE_PARTS];
    centre_parts(found, rstd, quotient, parts);
    return two_rstd_of(parts);
}

/* (x - mean) * rstd + quotient */
LN_INLINE vec centre_normalise(centre by, vec x)
{
    return two_rstd_normalise(by, x);
}

LN_INLINE double centre_bound(const ln_problem *problem, const ln_row_facts *facts,
                              const moments_bound *found, double rho)
{
    return two_rstd_bound(problem, facts, found, rho);
}
#else
#define CENTRE_CHECKED
#define GUARD_RSTD_LEAST 0x1p-90
#define GUARD_RSTD_MOST 0x1p90
#define GUARD_MEAN_MOST 0x1p120

/* rstd need not be an item (convention.h). */
#undef RSTD_MAX
#undef RSTD_MIN
#define RSTD_MAX FACTOR_MAX
#define RSTD_MIN FACTOR_MIN

typedef struct centre {
    two_rstd items;
    int strange; /* the row is not for items: apply_in_double(), schedule/call.h */
    double mean;
    double rest;
    double rstd_of_row;
} centre;

LN_INLINE int centre_is_strange(moments found, factor rstd, double quotient)
{
    (void)quotient;
    int fine = (rstd >= GUARD_RSTD_LEAST) & (rstd <= GUARD_RSTD_MOST) &
               (fabs((double)found.mean) <= GUARD_MEAN_MOST);
    return !fine;
}

LN_INLINE centre centre_of(moments found, factor rstd, item quotient)
{
    item parts[CENTRE_PARTS];
    centre_parts(found, rstd, quotient, parts);
    return (centre){two_rstd_of(parts), centre_is_strange(found, rstd, quotient), found.mean,
                    found.rest, rstd};
}

/* From what is kept of a row: parts as centre_parts() made them. */
LN_INLINE centre centre_of_checked(const item parts[CENTRE_PARTS], int strange, moments found,
                                   factor rstd)
{
    return (centre){two_rstd_of(parts), strange, found.mean, found.rest, rstd};
}

LN_INLINE vec centre_normalise(centre by, vec x)
{
    return two_rstd_normalise(by.items, x);
}

/* Bound of a strange row, with r', delta and S as above, all in double (u' = 2^-53) but the last:
 *     (x - mean - rest) r' + q    r' delta + max|d| r_exact rho + 8 u' (S r' + eps), and
 *                                 2 u' |mean| r' for the two parts of the mean
 *     affine form                 less than convention.h counts
 *     y rounded to an item        u |y|; where there is no affine form, of this bound,
 *                                 u (1 + u)(S r' + eps)
 * Near a limit either may be computed: the claim is the wider one. */
LN_INLINE double double_bound(const ln_problem *problem, const ln_row_facts *facts,
                              const moments_bound *found, double rho)
{
    double eps = problem->convention.eps_place == LN_EPS_QUOTIENT ? problem->convention.eps : 0.0;
    double r = facts->rstd * (1 + rho), delta = found->mean;
    double s = facts->max_dev + found->rest + delta;
    double error = r * delta + facts->max_dev * facts->rstd * rho;
    error += 0x1p-50 * (s * r + eps) + 0x1p-51 * (fabs(facts->mean) + delta) * r;
    error += ITEM_UNIT * (1 + 2 * ITEM_UNIT) * (s * r + 2 * eps) + ITEM_TINY;
    return 2 * (s * r + eps) < ITEM_MAX ? error * bound_slack : INFINITY;
}

LN_INLINE double centre_bound(const ln_problem *problem, const ln_row_facts *facts,
                              const moments_bound *found, double rho)
{
    double near = 1 + 0x1p-4, mean = fabs(facts->mean), r = facts->rstd;
    if (!(rho < 0x1p-6))
        return INFINITY;
    /* Whether the row surely lies on this side of the limits, and on that. */
    int fine = r > GUARD_RSTD_LEAST * near && r * near < GUARD_RSTD_MOST &&
               (mean + found->mean) * near < GUARD_MEAN_MOST;
    int strange = r * near < GUARD_RSTD_LEAST || r > GUARD_RSTD_MOST * near ||
                  mean > (GUARD_MEAN_MOST + found->mean) * near;
    double usual = strange ? 0 : two_rstd_bound(problem, facts, found, rho);
    double apart = fine ? 0 : double_bound(problem, facts, found, rho);
    return fmax(usual, apart);
}
#endif

#endif

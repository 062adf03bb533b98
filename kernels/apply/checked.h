/* checked: two_rstd for rows that items can hold; others, row by row, in double.
 *
 * A row is strange where x - mean may overflow in items, or rstd, or what rounding it leaves, may
 * not be a normal number: |mean| above 2^120, rstd outside 2^-90 ... 2^90 (it is at most sqrt(N) /
 * max|x - mean|), or either a NaN. Such a row's xhat and affine form are computed in double and
 * rounded once; that takes some ten times as long.
 *
 * Bound: that of two_rstd_parts.h. Of a strange row, with r', delta and S as there, all in double (u' = 2^-53)
 * but the last:
 *     (x - mean - rest) r' + q    r' delta + max|d| r_exact rho + 8 u' (S r' + eps), and
 *                                 2 u' |mean| r' for the two parts of the mean
 *     affine form                 less than convention.h counts
 *     y rounded to an item        u |y|; where there is no affine form, of this bound,
 *                                 u (1 + u)(S r' + eps)
 *     eps on the quotient is an item      u eps
 * Near a limit either may be computed: the claim is the wider one. */
#ifndef LN_APPLY_H
#define LN_APPLY_H

#include "apply/two_rstd_parts.h"

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
    int strange; /* the row is not for items: apply_in_double(), kernel.h */
    double mean;
    double rest;
    double rstd;
} centre;

LN_INLINE int centre_is_strange(moments found, factor rstd)
{
    int fine = (rstd >= GUARD_RSTD_LEAST) & (rstd <= GUARD_RSTD_MOST) &
               (fabs((double)found.mean) <= GUARD_MEAN_MOST);
    return !fine;
}

LN_INLINE centre centre_of(moments found, factor rstd, item quotient)
{
    item parts[CENTRE_PARTS];
    centre_parts(found, rstd, quotient, parts);
    return (centre){two_rstd_of(parts), centre_is_strange(found, rstd), found.mean, found.rest,
                    rstd};
}

/* From what is kept of a row: parts as centre_parts() made them. */
LN_INLINE centre centre_of_checked(const item parts[CENTRE_PARTS], int strange, moments found,
                                   factor rstd)
{
    return (centre){two_rstd_of(parts), strange, found.mean, found.rest, rstd};
}

/* Of a row that is not strange. */
LN_INLINE centre centre_of_fine_parts(const item parts[CENTRE_PARTS])
{
    return (centre){.items = two_rstd_of(parts)};
}

LN_INLINE vec centre_normalise(centre by, vec x)
{
    return two_rstd_normalise(by.items, x);
}

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

/* Whether what lies near a number is surely on this side of a limit. */
LN_INLINE double centre_bound(const ln_problem *problem, const ln_row_facts *facts,
                              const moments_bound *found, double rho)
{
    double near = 1 + 0x1p-4, mean = fabs(facts->mean), r = facts->rstd;
    if (!(rho < 0x1p-6))
        return INFINITY;
    int fine = r > GUARD_RSTD_LEAST * near && r * near < GUARD_RSTD_MOST &&
               (mean + found->mean) * near < GUARD_MEAN_MOST;
    int strange = r * near < GUARD_RSTD_LEAST || r > GUARD_RSTD_MOST * near ||
                  mean > (GUARD_MEAN_MOST + found->mean) * near;
    double usual = strange ? 0 : two_rstd_bound(problem, facts, found, rho);
    double apart = fine ? 0 : double_bound(problem, facts, found, rho);
    return fmax(usual, apart);
}

#endif

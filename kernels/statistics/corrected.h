/* corrected: two passes, the second of which removes the mean of the residuals.
 *
 *     p = x[0]                  mean = p + sum(x - p) / N
 *     t = x - mean              rest = sum(t) / N       m2 = sum(t^2) - sum(t) * rest
 *
 * (Chan, Golub, LeVeque, 1983, formula 1.7, after A. Bjorck; see residuals.h for what is added
 * here.) Reads the row twice for the statistics. mean + rest, in two parts, is good to about
 * u std, and m2 to about u m2, for every row: kappa does not enter but through u * kappa, the share
 * of std by which mean alone is off, and that squared times u.
 *
 * A row whose m2 overflows, or is so small that squares may have been lost while eps is too small
 * to hide that, is done again at a scale (residuals.h); the others pay one comparison.
 *
 * Bound: that of residuals.h at scale 1 (U) or at the row's scale (S).
 *  - An overflow anywhere ends in t^2 = inf, or a NaN, so that m2 is not below HIGHEST and the row
 *    is done again. Where it is below, nothing overflowed and U holds.
 *  - If N times U's interval of var lies within [LOWEST, HIGHEST) (or below HIGHEST, where eps
 *    hides the low end), the claim is U; if it lies outside, S. If an end lies between, either may
 *    be what is computed: the claim is the wider of both, at scale 1; that covers S's roundings of
 *    rstd at its scale, which are the same but for underflows below 2^-90 of the result.
 *  - "eps hides the low end": products lost are N tiny of m2, hence tiny of var, that U counts. */
#ifndef LN_STATISTICS_H
#define LN_STATISTICS_H

#include "statistics/residuals.h"

#define HIGHEST (REAL_MAX * 0x1p-28)
#define LOWEST (REAL_MIN * 0x1p66)
#define HIDING_FLOOR 0x1p-40

typedef struct statistics {
    real count;
    real floor;
    real lowest;
} statistics;

LN_INLINE real corrected_lowest(real floor)
{
    return floor < (real)HIDING_FLOOR ? (real)LOWEST : 0;
}

LN_INLINE statistics statistics_prepare(const ln_problem *problem)
{
    real floor = convention_floor(&problem->convention);
    return (statistics){(real)problem->hidden, floor, corrected_lowest(floor)};
}

LN_INLINE real statistics_pivot(const statistics *stats, const row *view)
{
    (void)stats;
    return residual_pivot(view);
}

LN_INLINE moments statistics_of(const statistics *stats, const row *view, real pivot)
{
    residual_source source = {view, 1, 0};
    real mean = residual_mean(source, pivot, stats->count);
    moments found = residual_moments(source, mean, stats->count);
    int fine = found.m2 < (real)HIGHEST && found.m2 >= stats->lowest;
    if (__builtin_expect(!fine, 0))
        found = residual_scaled(*view, stats->count, stats->floor);
    return found;
}

LN_INLINE moments_bound statistics_bound(const ln_problem *problem, const ln_row_facts *facts)
{
    double n = (double)problem->hidden;
    real floor = convention_floor(&problem->convention);
    double scale = residual_scale(facts->max_abs, floor), lowest = corrected_lowest(floor);
    moments_bound once = residual_bound(problem, facts, 1);
    double lo = n * once.var_lo, hi = n * once.var_hi;
    if (lo >= lowest && hi < HIGHEST)
        return once;
    moments_bound again = residual_bound(problem, facts, scale);
    if (hi < lowest || lo >= HIGHEST)
        return again;
    if (!(hi < REAL_MAX / 4))
        return bound_none;
    return (moments_bound){fmax(once.mean, again.mean), fmax(once.rest, again.rest),
                           fmin(once.var_lo, again.var_lo), fmax(once.var_hi, again.var_hi), 1};
}

#endif

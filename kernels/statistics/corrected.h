/* corrected: two passes, the second of which removes the mean of the residuals.
 *
 *     p = x[0]                  mean = p + sum(x - p) / N
 *     t = x - mean              rest = sum(t) / N       m2 = sum(t^2) - sum(t) * rest
 *
 * (Chan, Golub, LeVeque, 1983, formula 1.7, after A. Bjorck; residuals.h has the sweeps.) Reads the row twice for the
 * statistics. The error of mean + rest is about u std, and that of m2 about u m2, for every row. kappa matters only
 * through the error of the first part of the mean, u * kappa * std, whose square is multiplied by u.
 *
 * A row whose m2 overflows, or is so small that squares may have underflowed while eps is too small
 * to hide that, is computed again at a scale (residuals.h); other rows need one comparison.
 *
 * Bound: bounds/bounds.c. */
#ifndef LN_STATISTICS_H
#define LN_STATISTICS_H

#include "statistics/residuals.h"

typedef struct statistics {
    real count;
    real floor;
    real lowest;
} statistics;

LN_INLINE statistics statistics_prepare(const ln_problem *problem)
{
    real floor = convention_floor(&problem->convention);
    return (statistics){(real)problem->hidden, floor, (real)corrected_lowest(floor, REAL_MIN)};
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
    int fine = found.m2 < (real)CORRECTED_HIGHEST(REAL_MAX) && found.m2 >= stats->lowest;
    if (__builtin_expect(!fine, 0))
        found = residual_scaled(*view, stats->count, stats->floor);
    return found;
}

#endif

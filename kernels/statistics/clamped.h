/* clamped: naive, with a negative variance set to 0.
 *
 *     mean = sum(x) / N            m2 = max(0, sum(x^2) - sum(x) * mean)
 *
 * What most code in use does about naive's cancellation. It gives a number where naive gives NaN,
 * and with an eps that number is finite: wrong by up to a factor of sqrt(var / eps), where NaN
 * would have been seen. A NaN stays one. Reads the row once for the statistics.
 *
 * Bound: raw_sums.h; 0 is nearer to the variance than what is below it, so the error is naive's. */
#ifndef LN_STATISTICS_H
#define LN_STATISTICS_H

#include "statistics/raw_sums.h"

LN_INLINE moments statistics_found(const statistics *stats, real pivot, real sum, real square)
{
    (void)pivot;
    moments found = naive_found(stats, sum, square);
    found.m2 = found.m2 < 0 ? 0 : found.m2;
    return found;
}

#define SWEEP_UNSHIFTED
#include "statistics/one_sweep.h"

LN_INLINE moments_bound statistics_bound(const ln_problem *problem, const ln_row_facts *facts)
{
    moments_bound bound = naive_bound(problem, facts);
    if (isfinite(bound.var_hi))
        bound.var_lo = fmax(0.0, bound.var_lo);
    return bound;
}

#endif

/* rms: one sweep, sum(x^2), for RMSNorm.
 *
 *     m2 = sum(x^2), mean = 0
 *
 * (Zhang, Sennrich, "Root Mean Square Layer Normalization", 2019.) Nothing is subtracted, so that the error
 * is that of a sum of squares whatever the row; sums of LN_CHUNK blocks are taken over to others.
 *
 * Bound: below. */
#ifndef LN_STATISTICS_H
#define LN_STATISTICS_H

#include "moments.h"

/* The kernel's operation is RMSNorm: its problems hold an ln_rms_convention (convention.h). */
#define LN_RMS

typedef struct statistics {
    char nothing;
} statistics;

LN_INLINE statistics statistics_prepare(const ln_problem *problem)
{
    (void)problem;
    return (statistics){0};
}

LN_INLINE moments statistics_found(const statistics *stats, real pivot, real sum, real square)
{
    (void)stats, (void)pivot, (void)sum;
    return (moments){0, 0, square, 1};
}

LN_INLINE int statistics_is_off(const statistics *stats, moments found)
{
    (void)stats, (void)found;
    return 0;
}

#define SWEEP_UNSHIFTED
#define SWEEP_SQUARES
#include "statistics/one_sweep.h"

/* Bound. V = sum(x^2) / N. Q = fl(sum x^2): |Q / N - V| <= gamma(D) V + 2 tiny, the product's rounding
 * being one of the D = sweep_depth(N); each of N products may be subnormal. Nothing is negative. No claim
 * where N V comes near the largest number. */
#define STATISTICS_PROBABLE
LN_INLINE moments_bound statistics_bound(const ln_problem *problem, const ln_row_facts *facts,
                                         double lambda)
{
    const row_sums sums = sums_of_sweep(problem, facts, lambda);
    double n = (double)problem->hidden, var = facts->var;
    double peak = facts->max_abs * facts->max_abs / var;
    double error = sum_error(&sums, 0, var, var, peak) + 2 * REAL_TINY;
    if (var == 0) /* all are 0 */
        error = 0;
    if (!(2 * n * (var + error) < REAL_MAX))
        return bound_none;
    return bound_between(facts, var - error, var + error, 0, 0);
}

#endif

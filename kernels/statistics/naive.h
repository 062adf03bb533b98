/* naive: one pass, sum(x) and sum(x^2).
 *
 *     mean = sum(x) / N            m2 = sum(x^2) - sum(x) * mean
 *
 * The textbook formula (Chan, Golub, LeVeque, "Algorithms for Computing the Sample Variance", The American Statistician
 * 37, 1983, formula 1.3). Reads the row once for the statistics. It subtracts two numbers of size N * mean^2, so that
 * its error grows with kappa^2: m2 may lose every digit and even be negative, which gives NaN. This is not corrected,
 * since the kernel exists for comparison and is not recommended.
 *
 * Bound: bounds/bounds.c. */
#ifndef LN_STATISTICS_H
#define LN_STATISTICS_H

#include "moments.h"

typedef struct statistics {
    real count;
} statistics;

LN_INLINE statistics statistics_prepare(const ln_problem *problem)
{
    return (statistics){(real)problem->hidden};
}

LN_INLINE moments statistics_found(const statistics *stats, real pivot, real sum, real square)
{
    (void)pivot;
    real mean = sum / stats->count;
    real correction = sum * mean;
    real m2 = square - correction;
    return (moments){mean, 0, m2, 1};
}

LN_INLINE int statistics_is_off(const statistics *stats, moments found)
{
    (void)stats, (void)found;
    return 0;
}

#define SWEEP_UNSHIFTED
#include "statistics/one_sweep.h"

#endif

/* naive: one pass, sum(x) and sum(x^2).
 *
 *     mean = sum(x) / N            m2 = sum(x^2) - sum(x) * mean
 *
 * The textbook formula (Chan, Golub, LeVeque, "Algorithms for Computing the Sample Variance", The
 * American Statistician 37, 1983, formula 1.3). Reads the row once for the statistics. It subtracts
 * two numbers of size N * mean^2, so that its error grows with kappa^2: m2 may lose every digit and
 * even come out negative, which gives NaN. That is left as it is: this kernel is here to be
 * measured, not to be recommended.
 *
 * Bound: raw_sums.h. */
#ifndef LN_STATISTICS_H
#define LN_STATISTICS_H

#include "statistics/raw_sums.h"

LN_INLINE moments statistics_found(const statistics *stats, real pivot, real sum, real square)
{
    (void)pivot;
    return naive_found(stats, sum, square);
}

#define SWEEP_UNSHIFTED
#include "statistics/one_sweep.h"

LN_INLINE moments_bound statistics_bound(const ln_problem *problem, const ln_row_facts *facts)
{
    return naive_bound(problem, facts);
}

#endif

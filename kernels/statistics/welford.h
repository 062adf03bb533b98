/* welford: running means; one pass, each of the BLOCK lanes an accumulator of its own, merged
 * pairwise.
 *
 *     d = x - mean;  mean += d / k;  m2 += d * (x - mean)                         (k-th element)
 *     n = na + nb;   d = mean_b - mean_a;  mean = mean_a + d nb / n;
 *     m2 = m2_a + m2_b + d^2 na nb / n                                            (merge)
 *
 * (Welford, "Note on a Method for Calculating Corrected Sums of Squares and Products",
 * Technometrics 4, 1962; Chan, Golub, LeVeque, "Updating Formulae and a Pairwise Algorithm for
 * Computing Sample Variances", COMPSTAT 1982.) Reads the row once for the statistics.
 *
 * Bound: welford_lanes.h, with n = ceil(N / BLOCK) and L = log2(BLOCK). */
#ifndef LN_STATISTICS_H
#define LN_STATISTICS_H

#include "statistics/welford_lanes.h"

LN_INLINE moments statistics_of(const statistics *stats, const row *view, real pivot)
{
    (void)pivot;
    (void)stats;
    welford_moments found = welford_range(view, 0, view->hidden);
    return (moments){found.mean, 0, found.m2, 1};
}

LN_INLINE moments_bound statistics_bound(const ln_problem *problem, const ln_row_facts *facts)
{
    return welford_bound(problem, facts, ceil((double)problem->hidden / BLOCK), bound_levels());
}

#endif

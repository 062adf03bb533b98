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

/* Needs no pivot. */
LN_INLINE real statistics_pivot(const statistics *statistics, const row *row)
{
    (void)statistics, (void)row;
    return 0;
}

LN_INLINE moments statistics_of(const statistics *statistics, const row *row, real pivot)
{
    (void)pivot;
    return naive_moments(statistics, row);
}

/* The same in steps of a block. */
#define STATISTICS_IN_STEPS
typedef naive_sums statistics_sums;

LN_INLINE void statistics_begin(statistics_sums *sums)
{
    naive_begin(sums);
}

LN_INLINE void statistics_add(statistics_sums *sums, const row *row, real pivot, size_t i,
                              size_t left)
{
    (void)pivot;
    naive_add(sums, row, i, left);
}

LN_INLINE moments statistics_end(const statistics *statistics, const row *row,
                                 const statistics_sums *sums, real pivot)
{
    (void)row, (void)pivot;
    return naive_end(statistics, sums);
}

LN_INLINE moments_bound statistics_bound(const ln_problem *problem, const ln_row_facts *facts)
{
    return naive_bound(problem, facts);
}

#endif

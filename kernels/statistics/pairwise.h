/* pairwise: two passes, both sums pairwise.
 *
 *     mean = sum(x) / N            m2 = sum((x - mean)^2)
 *
 * (Chan, Golub, LeVeque, "Updating Formulae and a Pairwise Algorithm for Computing Sample
 * Variances", COMPSTAT 1982; the sums as in cascade.h.) Reads the row twice for the statistics. The
 * error of the sums grows with log N instead of N; what limits it is that the mean is rounded to
 * one number before it is subtracted.
 *
 * Bound: two_pass.h's, with cascade_depth(N) for D: there, too, D counts the roundings that a term
 * goes through. */
#ifndef LN_STATISTICS_H
#define LN_STATISTICS_H

#include "statistics/two_sweeps.h"

LN_INLINE real pairwise_mean(const row *row, real count)
{
    cascade sum;
    sum.chunks = 0;
    for (size_t first = 0; first < row->hidden; first += CHUNK_ELEMENTS) {
        acc sums[UNROLL];
        parts_clear(sums);
        size_t left = row->hidden - first, end = first + CHUNK_ELEMENTS, i = first;
        end = left < CHUNK_ELEMENTS ? row->hidden : end;
        for (; end - i >= BLOCK; i += BLOCK)
            two_pass_add(sums, row, i, BLOCK);
        two_pass_add(sums, row, i, end - i);
        cascade_add(&sum, sums);
    }
    return cascade_sum(&sum) / count;
}

LN_INLINE moments statistics_of(const statistics *statistics, const row *row, real pivot)
{
    (void)pivot;
    real mean = pairwise_mean(row, statistics->count);
    acc means = acc_set(mean);
    cascade square;
    square.chunks = 0;
    for (size_t first = 0; first < row->hidden; first += CHUNK_ELEMENTS) {
        acc sums[UNROLL];
        parts_clear(sums);
        size_t left = row->hidden - first, end = first + CHUNK_ELEMENTS, i = first;
        end = left < CHUNK_ELEMENTS ? row->hidden : end;
        for (; end - i >= BLOCK; i += BLOCK)
            two_pass_add_squares(sums, row, means, i, BLOCK);
        two_pass_add_squares(sums, row, means, i, end - i);
        cascade_add(&square, sums);
    }
    return (moments){mean, 0, cascade_sum(&square), 1};
}

LN_INLINE moments_bound statistics_bound(const ln_problem *problem, const ln_row_facts *facts)
{
    return two_pass_bound(problem, facts, cascade_depth(problem->hidden));
}

#endif

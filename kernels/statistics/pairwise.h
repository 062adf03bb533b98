/* pairwise: two passes, both sums pairwise.
 *
 *     mean = sum(x) / N            m2 = sum((x - mean)^2)
 *
 * (Chan, Golub, LeVeque, "Updating Formulae and a Pairwise Algorithm for Computing Sample Variances", COMPSTAT 1982;
 * the sums as in cascade.h.) Reads the row twice for the statistics. The error of the sums grows with log N instead of
 * N; the accuracy is limited by the rounding of the mean to one number before it is subtracted.
 *
 * Bound: bounds/bounds.c. */
#ifndef LN_STATISTICS_H
#define LN_STATISTICS_H

#include "statistics/cascade.h"
#include "statistics/two_sweeps.h"

LN_INLINE void pairwise_add(acc sums[UNROLL], const row *view, int squares, acc mean, size_t i,
                            size_t left)
{
    if (squares)
        two_pass_add_squares(sums, view, mean, i, left);
    else
        two_pass_add(sums, view, i, left);
}

/* Returns the sum of x or, if `squares` (a constant) is set, of (x - mean)^2. */
LN_INLINE real pairwise_sum(const row *view, int squares, acc mean)
{
    cascade sum;
    sum.chunks = 0;
    for (size_t first = 0; first < view->hidden; first += CHUNK_ELEMENTS) {
        acc sums[UNROLL];
        parts_clear(sums);
        size_t left = view->hidden - first, end = first + CHUNK_ELEMENTS, i = first;
        end = left < CHUNK_ELEMENTS ? view->hidden : end;
        for (; end - i >= BLOCK; i += BLOCK)
            pairwise_add(sums, view, squares, mean, i, BLOCK);
        pairwise_add(sums, view, squares, mean, i, end - i);
        cascade_add(&sum, sums);
    }
    return cascade_sum(&sum);
}

LN_INLINE moments statistics_of(const statistics *stats, const row *view, real pivot)
{
    (void)pivot;
    real mean = pairwise_sum(view, 0, acc_set(0)) / stats->count;
    return (moments){mean, 0, pairwise_sum(view, 1, acc_set(mean)), 1};
}

#endif

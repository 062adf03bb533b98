/* two_pass: the mean, then the squared deviations from it.
 *
 *     mean = sum(x) / N            m2 = sum((x - mean)^2)
 *
 * (Chan, Golub, LeVeque, 1983, formula 1.1.) Reads the row twice for the statistics. Its variance
 * is accurate for every row; the accuracy is limited by the rounding of the mean before it is subtracted.
 *
 * Bound: bounds/bounds.c. */
#ifndef LN_STATISTICS_H
#define LN_STATISTICS_H

#include "statistics/two_sweeps.h"

LN_INLINE moments statistics_of(const statistics *stats, const row *view, real pivot)
{
    (void)pivot;
    acc sums[UNROLL];
    parts_clear(sums);
    size_t i = 0;
    for (; view->hidden - i >= BLOCK; i += BLOCK)
        two_pass_add(sums, view, i, BLOCK);
    two_pass_add(sums, view, i, view->hidden - i);
    real mean = sum_of(sums) / stats->count;

    parts_clear(sums);
    acc means = acc_set(mean);
    for (i = 0; view->hidden - i >= BLOCK; i += BLOCK)
        two_pass_add_squares(sums, view, means, i, BLOCK);
    two_pass_add_squares(sums, view, means, i, view->hidden - i);
    return (moments){mean, 0, sum_of(sums), 1};
}

#endif

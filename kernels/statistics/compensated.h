/* compensated: two passes, in which the rounding errors of both sums are added separately.
 *
 *     s' = s + x      e = the error of that addition, exactly      low += e          sum = s + low
 *
 * (Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", ZAMM 54,
 * 1974; e by Knuth's six operations, which need no comparison: "The Art of Computer Programming" 2,
 * 4.2.2, theorem B.) Reads the row twice for the statistics. Sums are as accurate as in twice the
 * precision, then rounded; the accuracy is limited by the rounding of the mean to one number.
 *
 * Bound: bounds/bounds.c. */
#ifndef LN_STATISTICS_H
#define LN_STATISTICS_H

#include "moments.h"

#define STATISTICS_UNPIVOTED

typedef struct statistics {
    real count;
} statistics;

LN_INLINE statistics statistics_prepare(const ln_problem *problem)
{
    return (statistics){(real)problem->hidden};
}

typedef struct compensated_sums {
    acc sum[UNROLL];
    acc low[UNROLL];
} compensated_sums;

LN_INLINE void compensated_clear(compensated_sums *sums)
{
    parts_clear(sums->sum);
    parts_clear(sums->low);
}

LN_INLINE void compensated_add(compensated_sums *sums, size_t u, acc x)
{
    acc before = sums->sum[u], sum = acc_add(before, x);
    acc added = acc_subtract(sum, before);
    acc error = acc_add(acc_subtract(before, acc_subtract(sum, added)), acc_subtract(x, added));
    sums->sum[u] = sum;
    sums->low[u] = acc_add(sums->low[u], error);
}

/* Adds the lanes in the order of sum_of(). */
LN_INLINE real compensated_sum(const compensated_sums *sums)
{
    real sum[BLOCK], low[BLOCK];
    LN_UNROLLED
    for (size_t u = 0; u < UNROLL; u++) {
        acc_store(sum + u * LANES, sums->sum[u]);
        acc_store(low + u * LANES, sums->low[u]);
    }
    for (size_t half = BLOCK / 2; half > 0; half /= 2)
        for (size_t j = 0; j < half; j++) {
            real before = sum[j], x = sum[j + half], both = before + x, added = both - before;
            sum[j] = both;
            low[j] = (low[j] + low[j + half]) + ((before - (both - added)) + (x - added));
        }
    return sum[0] + low[0];
}

LN_INLINE void compensated_block(compensated_sums *sums, const row *view, size_t i, size_t left)
{
    LN_UNROLLED
    for (size_t u = 0; u < UNROLL; u++)
        if (left > u * LANES)
            compensated_add(sums, u, acc_of(row_first(view, i + u * LANES, left - u * LANES)));
}

LN_INLINE void compensated_squares(compensated_sums *sums, const row *view, acc mean, size_t i,
                                   size_t left)
{
    LN_UNROLLED
    for (size_t u = 0; u < UNROLL; u++) {
        if (left <= u * LANES)
            continue;
        size_t n = left - u * LANES;
        acc deviation = acc_subtract(acc_of(row_again(view, i + u * LANES, n)), mean);
        if (n < LANES)
            deviation = acc_first(deviation, n);
        compensated_add(sums, u, acc_multiply(deviation, deviation));
    }
}

LN_INLINE moments statistics_of(const statistics *stats, const row *view, real pivot)
{
    (void)pivot;
    compensated_sums sums;
    compensated_clear(&sums);
    size_t i = 0;
    for (; view->hidden - i >= BLOCK; i += BLOCK)
        compensated_block(&sums, view, i, BLOCK);
    compensated_block(&sums, view, i, view->hidden - i);
    real mean = compensated_sum(&sums) / stats->count;

    compensated_clear(&sums);
    acc means = acc_set(mean);
    for (i = 0; view->hidden - i >= BLOCK; i += BLOCK)
        compensated_squares(&sums, view, means, i, BLOCK);
    compensated_squares(&sums, view, means, i, view->hidden - i);
    real m2 = compensated_sum(&sums);
    return (moments){mean, 0, m2 < 0 ? 0 : m2, 1};
}

#endif

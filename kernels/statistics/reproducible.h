/* reproducible: two passes over 64 accumulators in a fixed order, without fused operations: the same bits on every ISA,
 * under any unroll and number of threads.
 *
 *     accumulator j adds x[j], x[j + 64], ...; then j and j + 32 are added, j and j + 16, ...
 *     mean = sum(x) / N      rest = sum(x - mean) / N      m2 = sum((x - mean)^2) - sum(x - mean) rest
 *
 * (A fixed tree as in Demmel, Nguyen, "Fast Reproducible Floating-Point Summation", ARITH 2013, section 1, which is
 * enough if, as here, the order of the elements is fixed. The second sweep removes the mean of the residuals: Chan,
 * Golub, LeVeque, 1983, formula 1.7.) Reads the row twice for the statistics. Its lines in kernels.def have no fused
 * operations, so that apply and affine also round each product: all steps are IEEE operations in one order.
 *
 * Bound: bounds/bounds.c. */
#ifndef LN_STATISTICS_H
#define LN_STATISTICS_H

#include "statistics/tile.h"

#define STATISTICS_UNPIVOTED

/* A NaN also has the same bits on every ISA: schedule/plain.h. */
#define STATISTICS_ONE_NAN

typedef struct statistics {
    real count;
} statistics;

LN_INLINE statistics statistics_prepare(const ln_problem *problem)
{
    return (statistics){(real)problem->hidden};
}

typedef struct tile_sums {
    acc x[TILE_PARTS];
    acc square[TILE_PARTS];
} tile_sums;

/* Adds the first min(left, TILE) elements from i on. */
LN_INLINE void tile_add(acc parts[TILE_PARTS], const row *view, size_t i, size_t left)
{
    TILE_UNROLLED
    for (size_t p = 0; p < TILE_PARTS; p++) {
        if (left <= p * LANES)
            continue;
        acc x = acc_of(row_first(view, i + p * LANES, left - p * LANES));
        parts[p] = acc_add(parts[p], x);
    }
}

LN_INLINE void tile_add_residuals(tile_sums *sums, const row *view, acc mean, size_t i, size_t left)
{
    TILE_UNROLLED
    for (size_t p = 0; p < TILE_PARTS; p++) {
        if (left <= p * LANES)
            continue;
        size_t n = left - p * LANES;
        acc t = acc_subtract(acc_of(row_again(view, i + p * LANES, n)), mean);
        if (n < LANES)
            t = acc_first(t, n);
        sums->x[p] = acc_add(sums->x[p], t);
        sums->square[p] = acc_add(sums->square[p], acc_multiply(t, t));
    }
}

LN_INLINE moments statistics_of(const statistics *stats, const row *view, real pivot)
{
    (void)pivot;
    tile_sums sums;
    tile_clear(sums.x);
    size_t i = 0;
    for (; view->hidden - i >= TILE; i += TILE)
        tile_add(sums.x, view, i, TILE);
    tile_add(sums.x, view, i, view->hidden - i);
    real mean = tile_sum(sums.x) / stats->count;

    acc means = acc_set(mean);
    tile_clear(sums.x);
    tile_clear(sums.square);
    for (i = 0; view->hidden - i >= TILE; i += TILE)
        tile_add_residuals(&sums, view, means, i, TILE);
    tile_add_residuals(&sums, view, means, i, view->hidden - i);
    real sum = tile_sum(sums.x), rest = sum / stats->count, correction = sum * rest;
    real m2 = tile_sum(sums.square) - correction;
    return (moments){mean, rest, m2 < 0 ? 0 : m2, 1};
}

#endif

/* rms_tiled: sum(x^2) for RMSNorm in 64 accumulators in a fixed order, without fused operations: the same
 * bits on every ISA, under any unroll and number of threads.
 *
 *     accumulator j adds x[j]^2, x[j + 64]^2, ...; then j and j + 32 are added, j and j + 16, ...
 *
 * (statistics/reproducible.h has the source of such a tree. Its lines in kernels.def have no fused operations.)
 *
 * Bound: bounds/bounds.c. */
#ifndef LN_STATISTICS_H
#define LN_STATISTICS_H

#include "statistics/tile.h"

#define LN_RMS
#define STATISTICS_UNPIVOTED
#define STATISTICS_ONE_NAN

typedef struct statistics {
    char nothing;
} statistics;

LN_INLINE statistics statistics_prepare(const ln_problem *problem)
{
    (void)problem;
    return (statistics){0};
}

/* Adds the squares of the first min(left, TILE) elements from i on. */
LN_INLINE void tile_add(acc parts[TILE_PARTS], const row *view, size_t i, size_t left)
{
    TILE_UNROLLED
    for (size_t p = 0; p < TILE_PARTS; p++) {
        if (left <= p * LANES)
            continue;
        acc x = acc_of(row_first(view, i + p * LANES, left - p * LANES));
        parts[p] = acc_add(parts[p], acc_multiply(x, x));
    }
}

LN_INLINE moments statistics_of(const statistics *stats, const row *view, real pivot)
{
    (void)stats, (void)pivot;
    acc squares[TILE_PARTS];
    tile_clear(squares);
    size_t i = 0;
    for (; view->hidden - i >= TILE; i += TILE)
        tile_add(squares, view, i, TILE);
    tile_add(squares, view, i, view->hidden - i);
    return (moments){0, 0, tile_sum(squares), 1};
}

#endif

/* shifted: one sweep over x - pivot, with a pivot computed from a few of the row's elements.
 *
 *     p = mean of min(N, P) elements, P = PIVOT_ELEMENTS                 t = x - p
 *     d = sum(t) / N                                     m2 = sum(t^2) - sum(t) * d
 *     mean = p + d, kept in these two parts
 *
 * (Chan, Golub, LeVeque, 1983, section 3, "shifted data"; formula 1.3 on x - p.) Reads the row once; the first elements
 * are still in L1 when the sweep begins. The error of naive grows with kappa^2, and that of shifted with
 * (mean - p)^2 / var. If the pivot is far from the mean, d^2 > 4 m2 / N, and the row is swept again with pivot p + d.
 * (The factor is 4 so that a ramp, whose first elements are sqrt(3) standard deviations from the mean, passes: a
 * smaller factor would give a smaller bound, but such rows would need a second sweep.)
 *
 * The pivot's elements are the first ones. In long rows, of more than LN_CHUNK blocks, they are medians of three, lane
 * by lane: from the first block, one from the middle and the last. Sums of long rows are added to other sums after each
 * chunk. Without both, all roundings of rows with few different values or with one large element could have the same
 * sign (docs/lab/experiments.md, "shifted").
 *
 * Bound: bounds/bounds.c. */
#ifndef LN_STATISTICS_H
#define LN_STATISTICS_H

#include "moments.h"

/* The pivot's elements. */
enum {
    PIVOT_VECTORS = PIVOT_VECTORS_OF(LN_LANES, LN_UNROLL),
    PIVOT_ELEMENTS = PIVOT_VECTORS * LN_LANES
};

/* On AVX-512 a chunk has 1024 elements. Shorter rows, for which each additional operation matters, have one chunk. */
_Static_assert(LN_CHUNK >= 4, "three blocks of a long row must be three");

typedef struct statistics {
    real inverse;       /* 1 / N */
    real pivot_inverse; /* 1 / min(N, PIVOT_ELEMENTS) */
} statistics;

LN_INLINE statistics statistics_prepare(const ln_problem *problem)
{
    size_t hidden = problem->hidden;
    return (statistics){1 / (real)hidden,
                        1 / (real)(hidden < PIVOT_ELEMENTS ? hidden : PIVOT_ELEMENTS)};
}

/* Returns the median of three numbers; a NaN may be lost. */
LN_INLINE vec median_of_three(vec a, vec b, vec c)
{
    return lane_maximum(lane_minimum(a, b), lane_minimum(lane_maximum(a, b), c));
}

/* Return the first column of the middle block of a long row, and of its last block. */
LN_INLINE size_t pivot_middle(const row *view)
{
    return (view->hidden / BLOCK - 1) / 2 * BLOCK;
}

LN_INLINE size_t pivot_end(const row *view)
{
    return (view->hidden / BLOCK - 1) * BLOCK;
}

/* Returns one element for each lane, from column i of a block on. A residual is added without writing the sum. */
LN_INLINE vec pivot_elements(const row *view, int is_long, size_t i)
{
    vec first = row_add_up(view, i, view->hidden - i);
    if (!is_long)
        return first;
    return median_of_three(first, row_add_up(view, pivot_middle(view) + i, LANES),
                           row_add_up(view, pivot_end(view) + i, LANES));
}

LN_INLINE acc statistics_pivot_sum(const row *view, int is_long)
{
    acc sums[UNROLL];
    LN_UNROLLED
    for (size_t u = 0; u < PIVOT_VECTORS; u++) {
        sums[u] = acc_set(0);
        if (view->hidden > u * LANES)
            sums[u] = acc_of(pivot_elements(view, is_long, u * LANES));
    }
    if (PIVOT_VECTORS == 1)
        return sums[0];
    return parts_sum(sums);
}

/* Fetches the elements for a row's pivot, except the first ones. The row need not exist. */
LN_INLINE void statistics_pivot_fetch(const row *view, int is_long)
{
    for (int i = 0; is_long && i < 2; i++) {
        size_t at = (i ? pivot_end(view) : pivot_middle(view)) * sizeof(storage);
        fetch_line((uintptr_t)view->x + at, fetches_to_l2());
        if (view->form != RESIDUAL_NONE)
            fetch_line((uintptr_t)view->residual + at, fetches_to_l2());
    }
}

LN_INLINE real statistics_pivot_of(const statistics *stats, real sum)
{
    return sum * stats->pivot_inverse;
}

LN_INLINE moments statistics_found(const statistics *stats, real pivot, real sum, real square)
{
    real rest = sum * stats->inverse;
    real correction = sum * rest;
    real m2 = square - correction;
    return (moments){pivot, rest, m2 < 0 ? 0 : m2, 1}; /* a NaN stays one */
}

LN_INLINE int statistics_is_off(const statistics *stats, moments found)
{
    return found.rest * found.rest > 4 * (found.m2 * stats->inverse);
}

#include "statistics/one_sweep.h"

#endif

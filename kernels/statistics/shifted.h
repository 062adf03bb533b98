/* shifted: one sweep over x - pivot, the pivot taken from a few of the row's elements.
 *
 *     p = mean of min(N, P) elements, P = PIVOT_ELEMENTS                 t = x - p
 *     d = sum(t) / N                                     m2 = sum(t^2) - sum(t) * d
 *     mean = p + d, kept in these two parts
 *
 * (Chan, Golub, LeVeque, 1983, section 3, "shifted data"; formula 1.3 on x - p.) Reads the row
 * once; the first elements are still in L1 when the sweep begins. What naive loses to kappa^2, this
 * loses to (mean - p)^2 / var. A pivot that is far off is found out by d^2 > 4 m2 / N, and the row
 * is swept once more, with pivot p + d. (4, since a ramp, whose first elements lie sqrt(3) standard
 * deviations from the mean, should pass: a smaller factor proves a smaller bound, but costs such
 * rows a second sweep.)
 *
 * The elements are the first ones; in long rows, of more than LN_CHUNK blocks, medians of three, lane
 * by lane: of the first block, one from the middle and the last. Sums of long rows are taken over to
 * others after each chunk. Both keep rows of few different values, or with one large element, from
 * rounding all alike (docs/lab/experiments.md, "shifted").
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

/* 1024 elements of AVX-512: shorter rows, which depend on every operation more, have one chunk. */
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

/* Of numbers, the second in size; a NaN may get lost. */
LN_INLINE vec median_of_three(vec a, vec b, vec c)
{
    return lane_maximum(lane_minimum(a, b), lane_minimum(lane_maximum(a, b), c));
}

/* The first column of the middle block of a long row, and of its last. */
LN_INLINE size_t pivot_middle(const row *view)
{
    return (view->hidden / BLOCK - 1) / 2 * BLOCK;
}

LN_INLINE size_t pivot_end(const row *view)
{
    return (view->hidden / BLOCK - 1) * BLOCK;
}

/* One element for each lane, from column i of a block on. Adds up again, where there is a residual:
 * this does not count as a touch. */
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

/* Asks memory for what a row's pivot will want, but for its first elements. The row need not exist.
 */
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

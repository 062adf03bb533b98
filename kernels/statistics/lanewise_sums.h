/* The sums of one sweep about a pivot for each lane: t = pivot - x. See lanewise.h. */
#ifndef LN_STATISTICS_H
#include "statistics/lanewise.h" /* which includes this */
#endif
#ifndef LN_LANEWISE_SUMS_H
#define LN_LANEWISE_SUMS_H

#include "statistics/item_chunks.h"

/* What a sweep begins with. */
typedef struct sweep_origin {
    real pivot; /* of lane 0, to which the lanes' sums are moved in the end */
    vec pivots;
} sweep_origin;

typedef struct sweep_sums {
    vec x[UNROLL];
    vec square[UNROLL];
    octet whole_x; /* of the chunks before */
    octet whole_square;
} sweep_sums;

/* A row that has been swept: what is left are the sums over the lanes. */
typedef octet swept_sum;
typedef struct swept {
    real pivot;
    swept_sum x;
    swept_sum square;
    swept_sum raw; /* the sum of t^2 about the lanes' own pivots */
} swept;

enum { SWEPT_RAW = 1 };

LN_INLINE swept_sum swept_sum_none(void)
{
    return octet_set(0);
}

LN_INLINE void swept_sum_four(const swept_sum a[QUAD], real sums[QUAD])
{
    octet_sum_four(a, sums);
}

/* The first element. */
LN_APART item row_first_item(row view)
{
    item lanes[LANES];
    item_store(lanes, row_add_up(&view, 0, view.hidden));
    return lanes[0];
}

/* Adds up again, where there is a residual: this does not count as a touch. */
LN_INLINE sweep_origin sweep_origin_of(const statistics *stats, const row *view)
{
    vec sums[SAMPLE];
    item lanes[LANES];
    if (view->hidden < LANES) { /* lanes are left empty: one pivot for all */
        item first = row_first_item(*view);
        return (sweep_origin){first, lane_set(first)};
    }
    LN_UNROLLED
    for (size_t s = 0; s < SAMPLE; s++)
        sums[s] = row_add_up(view, (s & stats->last) * stats->stride, LANES);
    LN_UNROLLED
    for (size_t half = SAMPLE / 2; half > 1; half /= 2) {
        LN_UNROLLED
        for (size_t s = 0; s < half; s++)
            sums[s] = lane_add(sums[s], sums[s + half]);
    }
    vec pivots = lane_multiply(lane_nearer(sums[0], sums[1]), lane_set((item)1 / PIVOT_ELEMENTS));
    item_store(lanes, pivots);
    return (sweep_origin){lanes[0], pivots};
}

LN_INLINE void sweep_clear(sweep_sums *sums)
{
    LN_UNROLLED
    for (unsigned u = 0; u < UNROLL; u++)
        sums->x[u] = sums->square[u] = lane_set(0);
    sums->whole_x = sums->whole_square = octet_set(0);
}

/* Takes the sums of a chunk over to the accumulators. */
LN_INLINE void sweep_flush(sweep_sums *sums)
{
    sums->whole_x = octet_add(sums->whole_x, octet_of(items_sum(sums->x)));
    sums->whole_square = octet_add(sums->whole_square, octet_of(items_sum(sums->square)));
    LN_UNROLLED
    for (unsigned u = 0; u < UNROLL; u++)
        sums->x[u] = sums->square[u] = lane_set(0);
}

/* The same, if another chunk follows. */
LN_INLINE void sweep_flush_between(sweep_sums *sums, size_t i, size_t hidden)
{
    if (hidden - i >= BLOCK)
        sweep_flush(sums);
}

/* Adds the first min(left, BLOCK) elements from i on: the first touch of them. */
LN_INLINE void sweep_add(sweep_sums *sums, const row *view, sweep_origin origin, size_t i,
                         size_t left)
{
    LN_UNROLLED
    for (unsigned u = 0; u < UNROLL; u++) {
        if (left <= u * LANES)
            continue;
        size_t at = i + u * LANES, n = left - u * LANES;
        vec t = lane_subtract(origin.pivots, row_first(view, at, n));
        if (n < LANES)
            t = lane_first(t, n);
        sums->x[u] = lane_add(sums->x[u], t);
        sums->square[u] = multiply_add(t, t, sums->square[u]);
    }
}

/* Moves the lanes' sums to the pivot of lane 0, in the accumulators' type: with t' = t + d, d =
 * pivot of lane 0 - own pivot, sum t' = sum t + n d and sum t'^2 = sum t^2 + d (sum t + sum t'). */
LN_INLINE swept sweep_end(const statistics *stats, const sweep_sums *sums, sweep_origin origin)
{
    octet x = octet_add(sums->whole_x, octet_of(items_sum(sums->x)));
    octet square = octet_add(sums->whole_square, octet_of(items_sum(sums->square)));
    octet d = octet_subtract(octet_set(origin.pivot), octet_of_first(origin.pivots));
    octet moved = octet_multiply_add(octet_load(stats->counts), d, x);
    return (swept){origin.pivot, moved, octet_multiply_add(d, octet_add(x, moved), square), square};
}

LN_INLINE void sweep_row(sweep_sums *sums, const row *view, sweep_origin origin)
{
    size_t i = 0, hidden = view->hidden;
    sweep_clear(sums);
    for (size_t end; (end = sweep_chunk_end(i, hidden)) > i; sweep_flush_between(sums, i, hidden))
        for (; i < end; i += BLOCK)
            sweep_add(sums, view, origin, i, BLOCK);
    sweep_add(sums, view, origin, i, hidden - i);
}

/* The row done again in the accumulators' type. */
LN_RARE moments sweep_again(statistics stats, row view)
{
    return long_again(&view, stats.count, stats.inverse);
}

LN_INLINE moments swept_again(const statistics *stats, row view, moments found)
{
    (void)found;
    return sweep_again(*stats, view);
}

#endif

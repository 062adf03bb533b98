/* The sums of mixed.h: sweeps in items, in the words of the schedule staged. */
#ifndef LN_STATISTICS_H
#include "statistics/mixed.h" /* which includes this */
#endif
#ifndef LN_MIXED_SUMS_H
#define LN_MIXED_SUMS_H

#ifndef ITEM_SUMS
#error "mixed is for accumulators that add up lanes of items (item_sum_four())"
#endif

#ifndef LANE_HELD
#define lane_held(a) (a)
#endif

#include "statistics/item_chunks.h"

typedef struct sweep_sums {
    vec x[UNROLL];
    vec square[UNROLL];
    vec whole_x; /* of the chunks before */
    vec whole_square;
} sweep_sums;

/* A row that has been swept: what is left are the sums over its lanes. */
typedef vec swept_sum;
typedef struct swept {
    real pivot; /* 0 */
    swept_sum x;
    swept_sum square;
    swept_sum raw; /* of no use here */
} swept;

enum { SWEPT_RAW = 0, QUAD = 4 };

/* Needs no pivot. */
typedef struct sweep_origin {
    char none;
} sweep_origin;

LN_INLINE sweep_origin sweep_origin_of(const statistics *stats, const row *view)
{
    (void)stats, (void)view;
    return (sweep_origin){0};
}

LN_INLINE void sweep_clear(sweep_sums *sums)
{
    LN_UNROLLED
    for (unsigned u = 0; u < UNROLL; u++)
        sums->x[u] = sums->square[u] = lane_set(0);
    sums->whole_x = sums->whole_square = lane_set(0);
}

LN_INLINE void sweep_flush(sweep_sums *sums)
{
    sums->whole_x = lane_add(sums->whole_x, items_sum(sums->x));
    sums->whole_square = lane_add(sums->whole_square, items_sum(sums->square));
    LN_UNROLLED
    for (unsigned u = 0; u < UNROLL; u++)
        sums->x[u] = sums->square[u] = lane_set(0);
}

/* Adds to the sums number u. */
LN_INLINE void sweep_add_one(sweep_sums *sums, unsigned u, vec t)
{
    sums->x[u] = lane_add(sums->x[u], t);
    sums->square[u] = multiply_add(t, t, sums->square[u]);
}

/* Adds the first min(left, BLOCK) elements from i on: the first touch of them. */
LN_INLINE void sweep_add(sweep_sums *sums, const row *view, sweep_origin origin, size_t i,
                         size_t left)
{
    (void)origin;
    LN_UNROLLED
    for (unsigned u = 0; u < UNROLL; u++)
        if (left > u * LANES)
            sweep_add_one(sums, u, lane_held(row_first(view, i + u * LANES, left - u * LANES)));
}

LN_INLINE swept sweep_end(const statistics *stats, const sweep_sums *sums, sweep_origin origin)
{
    (void)stats, (void)origin;
    return (swept){0, lane_add(sums->whole_x, items_sum(sums->x)),
                   lane_add(sums->whole_square, items_sum(sums->square)), lane_set(0)};
}

LN_INLINE void sweep_row(sweep_sums *sums, const row *view, sweep_origin origin)
{
    size_t hidden = view->hidden, i = 0;
    sweep_clear(sums);
    while (hidden - i >= BLOCK) {
        for (size_t end = sweep_chunk_end(i, hidden); i < end; i += BLOCK)
            sweep_add(sums, view, origin, i, BLOCK);
        if (hidden - i >= BLOCK)
            sweep_flush(sums);
    }
    sweep_add(sums, view, origin, i, hidden - i);
}

/* ---- Rows that did not pass ---- */

/* A row less its pivot p, t = x - p, about a small part q of each lane's first t, no two of which
 * are alike: such rows may have many equal t, which then round otherwise in each lane. Over n
 * elements sum t = n q - sum(q - t), and sum t^2 = sum (q - t)^2 + q (sum t - sum(q - t)). */
LN_INLINE swept sweep_about(const statistics *stats, const row *view, item pivot)
{
    size_t hidden = view->hidden;
    vec p = lane_set(pivot);
    vec q = lane_multiply(lane_subtract(row_again(view, 0, hidden), p), item_load(stats->parts));
    sweep_sums sums;
    sweep_clear(&sums);
    for (size_t i = 0; i < hidden; i += BLOCK) {
        if (i > 0 && i % CHUNK_COLUMNS == 0)
            sweep_flush(&sums);
        LN_UNROLLED
        for (unsigned u = 0; u < UNROLL; u++) {
            size_t at = i + u * LANES, n = hidden - at;
            if (at >= hidden)
                continue;
            vec t = lane_subtract(q, lane_subtract(row_again(view, at, n), p));
            sweep_add_one(&sums, u, n < LANES ? lane_first(t, n) : t);
        }
    }
    swept found = sweep_end(stats, &sums, (sweep_origin){0});
    vec x = lane_subtract(lane_multiply(item_load(stats->counts), q), found.x);
    found.square = multiply_add(q, lane_subtract(x, found.x), found.square);
    found.x = x;
    return found;
}

LN_RARE moments sweep_long(const statistics *stats, row view)
{
    return long_again(&view, stats->count, stats->inverse);
}

/* Once more about its mean, or in accumulators. Not in the way of other rows; but not so rare that
 * it should be made for few bytes. */
LN_APART moments swept_again(const statistics *stats, row view, moments found)
{
    item pivot = (item)found.rest;
    real of[2];
    swept total = sweep_about(stats, &view, pivot);
    item_sum_two(total.x, total.square, of);
    moments about = statistics_found(stats, of[0], of[1]);
    real rest = about.rest * (real)SHARPER;
    if (statistics_is_off(stats, about) || rest * rest > about.m2 * stats->inverse)
        return sweep_long(stats, view);
    return long_split(pivot, about.rest, about.m2, stats->inverse);
}

/* The same, given a copy: what it is given it might change, for all the compiler knows. */
LN_RARE moments sweep_again(statistics stats, row view, moments found)
{
    return swept_again(&stats, view, found);
}

/* ---- What the schedule staged asks for ---- */

LN_INLINE swept_sum swept_sum_none(void)
{
    return lane_set(0);
}

LN_INLINE void swept_sum_four(const swept_sum a[QUAD], real sums[QUAD])
{
    item_sum_four(a, sums);
}

LN_INLINE int swept_is_off(const statistics *stats, moments found, real raw)
{
    (void)raw;
    return statistics_is_off(stats, found);
}

/* From the sums over lanes to the moments, by way of a second attempt if need be. */
LN_INLINE moments swept_moments(const statistics *stats, const row *view, swept total)
{
    real sums[2];
    item_sum_two(total.x, total.square, sums);
    moments found = statistics_found(stats, sums[0], sums[1]);
    if (__builtin_expect(statistics_is_off(stats, found), 0))
        found = sweep_again(*stats, *view, found);
    return found;
}

/* Of n rows at once: loops without branches, of which compilers make vectors. */
LN_INLINE void mixed_found(const statistics *stats, size_t n, const real sum[], const real square[],
                           real mean[], real rest[], real m2[])
{
    LN_VECTORIZED
    for (size_t g = 0; g < n; g++) {
        real d = sum[g] * stats->inverse, found = square[g] - sum[g] * d;
        mean[g] = 0;
        rest[g] = d;
        m2[g] = found < 0 ? 0 : found;
    }
}

LN_INLINE void statistics_found_four(const statistics *stats, const real pivot[QUAD],
                                     const real sum[QUAD], const real square[QUAD], real mean[QUAD],
                                     real rest[QUAD], real m2[QUAD])
{
    (void)pivot;
    mixed_found(stats, QUAD, sum, square, mean, rest, m2);
}

/* ---- One row at a time ---- */

#include "statistics/no_pivot.h"

LN_INLINE moments statistics_of(const statistics *stats, const row *view, real pivot)
{
    sweep_sums sums;
    sweep_origin origin = sweep_origin_of(stats, view);
    (void)pivot;
    sweep_row(&sums, view, origin);
    return swept_moments(stats, view, sweep_end(stats, &sums, origin));
}

#endif

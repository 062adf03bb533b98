/* The two sweeps of `corrected`, over x - pivot and x - mean, at a scale.
 *
 *     p = the row's first element     mean = p + sum(x - p) / N, rounded to one number
 *     t = x - mean                    rest = sum(t) / N       m2 = sum(t^2) - sum(t) * rest
 *
 * The first sweep needs no accuracy: the second removes the mean of the residuals, and that mean,
 * `rest`, is the second part of the row's mean. With an element as the pivot a constant row is
 * exact, since all differences are 0. Both sums of the second sweep are pairwise (cascade.h).
 *
 * (The term sum(t) * rest is the correction of Chan, Golub, LeVeque, "Algorithms for Computing the
 * Sample Variance", The American Statistician 37, 1983, formula 1.7, after A. Bjorck.)
 *
 * The scale is a power of two: if it is not 1, x * scale is used instead of x.
 *
 * Bound: bounds/bounds.c. */
#ifndef LN_RESIDUALS_H
#define LN_RESIDUALS_H

#include "statistics/cascade.h"

typedef struct residual_sums {
    acc x[UNROLL];
    acc square[UNROLL];
} residual_sums;

/* The row at a scale; `scaled` is a constant. */
typedef struct residual_source {
    const row *row;
    real scale;
    int scaled;
} residual_source;

LN_INLINE acc residual_of(residual_source source, vec x, acc from, size_t n)
{
    acc value = acc_of(x);
    if (source.scaled)
        value = acc_multiply(value, acc_set(source.scale));
    value = acc_subtract(value, from);
    return n < LANES ? acc_first(value, n) : value;
}

/* Adds the first min(left, BLOCK) differences from i on. */
LN_INLINE void residual_add(acc sums[UNROLL], residual_source source, acc pivot, size_t i,
                            size_t left)
{
    LN_UNROLLED
    for (size_t u = 0; u < UNROLL; u++) {
        if (left <= u * LANES)
            continue;
        size_t at = i + u * LANES, n = left - u * LANES;
        vec x = source.scaled ? row_again(source.row, at, n) : row_first(source.row, at, n);
        sums[u] = acc_add(sums[u], residual_of(source, x, pivot, n));
    }
}

LN_INLINE void residual_add_squares(residual_sums *sums, residual_source source, acc mean, size_t i,
                                    size_t left)
{
    LN_UNROLLED
    for (size_t u = 0; u < UNROLL; u++) {
        if (left <= u * LANES)
            continue;
        size_t at = i + u * LANES, n = left - u * LANES;
        acc t = residual_of(source, row_again(source.row, at, n), mean, n);
        sums->x[u] = acc_add(sums->x[u], t);
        sums->square[u] = acc_multiply_add(t, t, sums->square[u]);
    }
}

/* Does the first sweep and returns the mean. */
LN_INLINE real residual_mean(residual_source source, real pivot, real count)
{
    acc sums[UNROLL], pivots = acc_set(pivot);
    size_t i = 0, hidden = source.row->hidden;
    parts_clear(sums);
    for (; hidden - i >= BLOCK; i += BLOCK)
        residual_add(sums, source, pivots, i, BLOCK);
    residual_add(sums, source, pivots, i, hidden - i);
    return pivot + sum_of(sums) / count;
}

/* Does the second sweep. */
LN_INLINE moments residual_moments(residual_source source, real mean, real count)
{
    cascade x, square;
    acc means = acc_set(mean);
    x.chunks = square.chunks = 0;
    for (size_t first = 0, hidden = source.row->hidden; first < hidden; first += CHUNK_ELEMENTS) {
        residual_sums sums;
        parts_clear(sums.x);
        parts_clear(sums.square);
        size_t end = hidden - first < CHUNK_ELEMENTS ? hidden : first + CHUNK_ELEMENTS, i = first;
        for (; end - i >= BLOCK; i += BLOCK)
            residual_add_squares(&sums, source, means, i, BLOCK);
        residual_add_squares(&sums, source, means, i, end - i);
        cascade_add(&x, sums.x);
        cascade_add(&square, sums.square);
    }
    real sum = cascade_sum(&x), rest = sum / count, correction = sum * rest;
    real m2 = cascade_sum(&square) - correction;
    return (moments){mean, rest, m2 < 0 ? 0 : m2, 1};
}

/* Returns the pivot, the row's first element, without writing its sum. */
LN_INLINE real residual_pivot(const row *view)
{
    return acc_sum(acc_of(row_add_up(view, 0, 1)));
}

LN_INLINE double residual_largest(const row *view)
{
    vec most = lane_set(0);
    item lanes[LANES], largest = 0;
    for (size_t i = 0; i < view->hidden; i += LANES)
        most = lane_maximum(most, lane_absolute(row_again(view, i, view->hidden - i)));
    item_store(lanes, most);
    for (size_t i = 0; i < LANES; i++)
        largest = lanes[i] > largest ? lanes[i] : largest;
    return largest;
}

/* Does both sweeps at the scale for max|x|, for a row that has been read before. */
LN_RARE moments residual_scaled(row view, real count, real floor)
{
    real scale = (real)scale_of(residual_largest(&view), floor, ITEM_MAX, ITEM_SCALES);
    residual_source source = {&view, scale, 1};
    real pivot = acc_sum(acc_of(row_again(&view, 0, 1)));
    real mean = residual_mean(source, pivot * scale, count);
    moments found = residual_moments(source, mean, count);
    found.mean *= 1 / scale;
    found.rest *= 1 / scale;
    found.scale = found.m2 == 0 ? 1 : scale; /* without a variance eps needs no scale */
    return found;
}

#endif

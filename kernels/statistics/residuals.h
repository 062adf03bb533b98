/* What corrected is made of: two sweeps over x - pivot and x - mean, at a scale.
 *
 *     p = the row's first element     mean = p + sum(x - p) / N, rounded to one number
 *     t = x - mean                    rest = sum(t) / N       m2 = sum(t^2) - sum(t) * rest
 *
 * The first sweep only has to come near: the second removes the mean of the residuals, and finds
 * that mean, rest, as the second part of the row's. Starting from an element makes a constant row
 * exact: all differences are 0. Both of the second's sums are pairwise (cascade.h).
 *
 * (The term sum(t) * rest is the correction of Chan, Golub, LeVeque, "Algorithms for Computing the
 * Sample Variance", The American Statistician 37, 1983, formula 1.7, after A. Bjorck.)
 *
 * At a scale other than 1, a power of two, x * scale stands for x.
 *
 * Bound, at scale 1. p being an element, |mu - p| <= max_dev; so bound_sweep() with bound_depth(N)
 * gives the error of p + d, and rounding that to mean adds u (|mu| + that): together, |mu - mean|
 * <= a. The second sweep is bound_sweep() with cascade_depth(N) and this a.
 * At another scale the row is x * scale, each element within tiny of exact. That moves the mean by
 * tiny, the root of var by tiny, hence var by 2 sqrt(V) tiny + tiny^2; and a by 4 tiny, generously.
 * Taking mean and rest back to scale 1 is exact, or within tiny each. */
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

/* The first sweep. */
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

/* The second. */
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

/* The pivot: the row's first element, which this does not count as touched. */
LN_INLINE real residual_pivot(const row *view)
{
    return acc_sum(acc_of(row_add_up(view, 0, 1)));
}

/* The power of two that brings the larger of max|x| and floor into [1/2, 1), as near as a normal
 * number does. */
LN_INLINE real residual_scale(double largest, real floor)
{
    int exponent = 0;
    largest = fmax(largest, floor);
    if (largest > 0 && largest <= ITEM_MAX)
        (void)frexp(largest, &exponent);
    exponent = exponent > ITEM_SCALES ? ITEM_SCALES : exponent;
    exponent = exponent < -ITEM_SCALES ? -ITEM_SCALES : exponent;
    return (real)ldexp(1, -exponent);
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

/* All of it at the scale that max|x| asks for, for rows that have been touched. */
LN_RARE moments residual_scaled(row view, real count, real floor)
{
    real scale = residual_scale(residual_largest(&view), floor);
    residual_source source = {&view, scale, 1};
    real pivot = acc_sum(acc_of(row_again(&view, 0, 1)));
    real mean = residual_mean(source, pivot * scale, count);
    moments found = residual_moments(source, mean, count);
    found.mean *= 1 / scale;
    found.rest *= 1 / scale;
    found.scale = found.m2 == 0 ? 1 : scale; /* eps needs no scale beside nothing */
    return found;
}

LN_INLINE moments_bound residual_bound(const ln_problem *problem, const ln_row_facts *facts,
                                       double scale)
{
    double tiny = scale == 1 ? 0 : REAL_TINY, var = facts->var * scale * scale;
    if (facts->max_dev == 0 && facts->var == 0)
        return (moments_bound){0, 0, 0, 0, 1};
    moments_bound first = bound_sweep(bound_depth(problem->hidden), var, facts->max_dev * scale);
    double a = first.mean + REAL_UNIT * (fabs(facts->mean) * scale + first.mean) + 4 * tiny;
    moments_bound found = bound_sweep(cascade_depth(problem->hidden), var, a * bound_slack);
    double moved = 2 * sqrt(var) * tiny + tiny * tiny;
    found.mean = (found.mean + tiny) / scale + 2 * tiny;
    found.rest = found.rest / scale + tiny;
    if (moved > 0)
        moved = moved * bound_slack + 2 * DOUBLE_UNIT * found.var_hi; /* the sum rounds */
    found.var_lo = fmax(0, (found.var_lo - moved) / (scale * scale));
    found.var_hi = (found.var_hi + moved) / (scale * scale);
    found.scale = scale;
    return found;
}

#endif

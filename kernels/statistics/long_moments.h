/* Moments in accumulators that are longer than items, for an apply in items: what lanewise, mixed
 * and verified share.
 *
 * The mean is given as 0 or an item, and what is left: 0 where it is below half a standard
 * deviation, since x - 0 does not round at all. A row may be done again in two passes, the second
 * of which removes the mean of the residuals.
 *
 * Bound of such a row: its first mean is within gamma(D + 2) A + tiny of mu, D the roundings of one
 * accumulator's turn, A = sum|x| / N; then bound_sweep() with that; and 4 u (|mu| + that) for
 * splitting the mean. */
#ifndef LN_LONG_MOMENTS_H
#define LN_LONG_MOMENTS_H

#include "moments.h"

/* Whether the mean is below half a standard deviation. */
LN_INLINE int long_is_near(real mean, real m2, real inverse)
{
    return mean * mean < (real)0.25 * (m2 * inverse);
}

/* mean + rest as 0 or an item and what is left; m2 may have come out negative. */
LN_INLINE moments long_split(real mean, real rest, real m2, real inverse)
{
    real both = mean + rest;
    item first = (item)(long_is_near(both, m2, inverse) ? 0 : both);
    return (moments){first, (mean - first) + rest, m2 < 0 ? 0 : m2, 1}; /* a NaN stays one */
}

/* Of a row that has been touched. */
LN_INLINE moments long_again(const row *view, real count, real inverse)
{
    acc sum = acc_set(0), square;
    for (size_t i = 0; i < view->hidden; i += LANES)
        sum = acc_add(sum, acc_of(row_again(view, i, view->hidden - i)));
    real mean = acc_sum(sum) / count;
    row_sums_about(view, mean, &sum, &square);
    real rest = acc_sum(sum) * inverse, m2 = acc_sum(square) - acc_sum(sum) * rest;
    return long_split(mean, rest, m2, inverse);
}

/* The second part of a mean of at most `mean`. */
LN_INLINE double long_rest_bound(double var_hi, double mean)
{
    return fmax(0.5 * sqrt(var_hi) * (1 + 4 * REAL_UNIT), ITEM_UNIT * mean + ITEM_TINY);
}

LN_INLINE moments_bound long_again_bound(const ln_problem *problem, const ln_row_facts *facts)
{
    double depth = ceil((double)problem->hidden / LN_LANES) + log2(LN_LANES);
    double a = bound_gamma(depth + 2) * facts->mean_abs + REAL_TINY;
    moments_bound bound = bound_sweep(depth, facts->var, a * bound_slack);
    bound.mean += 4 * REAL_UNIT * (fabs(facts->mean) + a);
    bound.rest = long_rest_bound(bound.var_hi, fabs(facts->mean) + bound.mean);
    return bound;
}

/* ---- Items in chunks of LN_CHUNK blocks: what lanewise and mixed share ---- */

#define CHUNK_COLUMNS ((size_t)LN_CHUNK * BLOCK)

#if LN_CHUNK > 0
/* Where the whole blocks of the chunk end that column i is of. */
LN_INLINE size_t sweep_chunk_end(size_t i, size_t hidden)
{
    size_t end = (i / CHUNK_COLUMNS + 1) * CHUNK_COLUMNS, whole = hidden / BLOCK * BLOCK;
    return end < whole ? end : whole;
}
#endif

#endif

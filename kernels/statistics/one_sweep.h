/* What statistics of one sweep share: sums of t and t^2 over the row, t = x - pivot, or x itself.
 *
 * They come in steps, so that a schedule may take several rows through each step together:
 *
 *     statistics_pivot_sum(&row) -> acc         sum of its lanes -> statistics_pivot_of() -> pivot
 *     sweep_add(&sums, &row, pivot, i, left)    the first touch of each element
 *     statistics_found(&statistics, pivot, sum, square) -> moments
 *     statistics_is_off(&statistics, moments)   1: the row has to be swept again,
 *     sweep_again(&statistics, row, moments)    by this, which is rare
 *
 * A file that includes this has said SWEEP_SHIFTED (1: t = x - pivot) and defined those named
 * statistics_, and where it says SWEEP_AGAIN_OWN, sweep_again(); statistics_pivot() and
 * statistics_of(), for one row at a time, follow here. */
#ifndef LN_ONE_SWEEP_H
#define LN_ONE_SWEEP_H

#define STATISTICS_ONE_SWEEP

typedef struct sweep_sums {
    acc x[UNROLL];
    acc square[UNROLL];
} sweep_sums;

LN_INLINE void sweep_clear(sweep_sums *sums)
{
    LN_UNROLLED
    for (unsigned u = 0; u < UNROLL; u++)
        sums->x[u] = sums->square[u] = acc_set(0);
}

/* Adds n elements (LANES of them if n is more), x, to the sums number u. */
LN_INLINE void sweep_add_one(sweep_sums *sums, unsigned u, acc x, acc pivot, size_t n)
{
    acc t = x;
    if (SWEEP_SHIFTED) {
        t = acc_subtract(x, pivot);
        if (n < LANES)
            t = acc_first(t, n);
    }
    sums->x[u] = acc_add(sums->x[u], t);
    sums->square[u] = acc_multiply_add(t, t, sums->square[u]);
}

/* Adds the first min(left, BLOCK) elements from i on; `again` where they have been touched. */
LN_INLINE void sweep_add(sweep_sums *sums, const row *row, acc pivot, size_t i, size_t left,
                         int again)
{
    LN_UNROLLED
    for (unsigned u = 0; u < UNROLL; u++) {
        if (left <= u * LANES)
            continue;
        size_t at = i + u * LANES, n = left - u * LANES;
        vec x = again ? row_again(row, at, n) : row_first(row, at, n);
        sweep_add_one(sums, u, acc_of(x), pivot, n);
    }
}

LN_INLINE moments sweep_row(const statistics *statistics, const row *row, real pivot, int again)
{
    sweep_sums sums;
    sweep_clear(&sums);
    acc pivots = acc_set(pivot);
    size_t i = 0;
    for (; row->hidden - i >= BLOCK; i += BLOCK)
        sweep_add(&sums, row, pivots, i, BLOCK, again);
    sweep_add(&sums, row, pivots, i, row->hidden - i, again);
    return statistics_found(statistics, pivot, sum_of(sums.x), sum_of(sums.square));
}

#ifndef SWEEP_AGAIN_OWN
/* The pivot was far off: takes what was found for it. Rare, so not in the way of other rows. */
static __attribute__((noinline, cold, unused)) moments sweep_again(statistics statistics, row row,
                                                                   moments found)
{
    return sweep_row(&statistics, &row, found.mean + found.rest, 1);
}
#endif

/* Of LANES rows: a loop that compilers make vectors of. */
#ifndef SWEEP_FOUND_ALL
LN_INLINE void statistics_found_all(const statistics *statistics, const real pivot[LANES],
                                    const real sum[LANES], const real square[LANES],
                                    real mean[LANES], real rest[LANES], real m2[LANES])
{
    LN_VECTORIZED
    for (size_t g = 0; g < LANES; g++) {
        moments found = statistics_found(statistics, pivot[g], sum[g], square[g]);
        mean[g] = found.mean;
        rest[g] = found.rest;
        m2[g] = found.m2;
    }
}
#endif

LN_INLINE real statistics_pivot(const statistics *statistics, const row *row)
{
    if (!SWEEP_SHIFTED)
        return 0;
    return statistics_pivot_of(statistics, acc_sum(statistics_pivot_sum(row)));
}

LN_INLINE moments statistics_of(const statistics *statistics, const row *row, real pivot)
{
    moments found = sweep_row(statistics, row, pivot, 0);
    if (__builtin_expect(statistics_is_off(statistics, found), 0))
        found = sweep_again(*statistics, *row, found);
    return found;
}

#endif

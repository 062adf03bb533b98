/* What statistics of one sweep share: sums of t and t^2 over the row, t = x - pivot, or x itself.
 *
 * They come in steps, so that a schedule may take several rows through each step together:
 *
 *     statistics_pivot_sum(&row, is_long) -> acc    sum of its lanes -> statistics_pivot_of()
 *     statistics_pivot_fetch(&row, is_long)         fetches what that will want
 *     sweep_add(&sums, &row, pivot, i, left)        the first touch of each element
 *     sweep_sums_of(&sums, is_long, &x, &square)    what is left to be summed are their lanes
 *     statistics_found(&statistics, pivot, sum, square) -> moments
 *     statistics_is_off(&statistics, moments)       1: the row has to be swept again,
 *     sweep_again(&statistics, row, moments)        by this, which is rare
 *
 * A file that includes this has said LN_PIVOT (1: t = x - pivot, 0: only when a row is swept
 * again), SWEEP_DOTS where sums may be of products of pairs (LANE_DOT), has LN_CHUNK, and has
 * defined those named statistics_, and where it says SWEEP_AGAIN_OWN, sweep_again().
 * Statistics that sum x itself say SWEEP_UNSHIFTED: the steps that find a pivot then find 0; those that
 * sum its squares alone SWEEP_SQUARES too.
 * statistics_pivot() and statistics_of(), for one row at a time, follow here.
 *
 * Sums of LN_CHUNK blocks (a power of two; 0: of all) are taken over to others before the next
 * block: whoever adds blocks up sees to that, by sweep_chunk(). Where statistics have said SWEEP_CHAIN,
 * so many blocks are added up in items, then taken over to accumulators: one conversion a chain, not
 * one an element. Second sweeps are without it. */
#ifndef LN_STATISTICS_H
#include "statistics/shifted.h" /* which includes this */
#endif
#ifndef LN_ONE_SWEEP_H
#define LN_ONE_SWEEP_H

#define STATISTICS_ONE_SWEEP

#ifdef SWEEP_UNSHIFTED
LN_INLINE acc statistics_pivot_sum(const row *view, int is_long)
{
    (void)view, (void)is_long;
    return acc_set(0);
}

LN_INLINE void statistics_pivot_fetch(const row *view, int is_long)
{
    (void)view, (void)is_long;
}

LN_INLINE real statistics_pivot_of(const statistics *stats, real sum)
{
    (void)stats, (void)sum;
    return 0;
}
#endif

#define CHUNK_COLUMNS ((size_t)LN_CHUNK * BLOCK)

#ifdef SWEEP_CHAIN
#define CHAIN_COLUMNS ((size_t)SWEEP_CHAIN * BLOCK)
typedef vec partial;
#else
typedef acc partial;
#endif

/* What sums of a row are until their lanes are added up. Those of chains are eight where a vector has
 * more: what is added up in items before it is taken over need not be converted, nor kept. */
#if defined(SWEEP_CHAIN) && defined(ACC_OCTETS)
typedef octet sweep_total;
#define sweep_total_of octet_of
#define sweep_total_add octet_add
#define sweep_total_set octet_set
#define sweep_total_sum octet_sum
#define sweep_total_sum_rows octet_sum_four
#else
typedef acc sweep_total;
#define sweep_total_of acc_of
#define sweep_total_add acc_add
#define sweep_total_set acc_set
#define sweep_total_sum acc_sum
#define sweep_total_sum_rows acc_sum_rows
#endif

typedef struct sweep_sums {
    partial x[UNROLL];
    partial square[UNROLL];
    sweep_total whole_x; /* of the chunks, or chains, before */
    sweep_total whole_square;
} sweep_sums;

/* Whether so many elements are more than one chunk. A schedule may have a way of its own for rows
 * that are: is_long is a constant there, and short rows pay nothing for chunks. */
LN_INLINE int sweep_is_long(size_t elements)
{
    return LN_CHUNK > 0 && elements > CHUNK_COLUMNS;
}

#ifdef SWEEP_CHAIN
LN_INLINE void sweep_begin(sweep_sums *sums)
{
    LN_UNROLLED
    for (unsigned u = 0; u < UNROLL; u++)
        sums->x[u] = sums->square[u] = lane_set(0);
}

LN_INLINE sweep_total partials_sum(const vec parts[UNROLL])
{
    return sweep_total_of(items_sum(parts));
}
#else
LN_INLINE void sweep_begin(sweep_sums *sums)
{
    parts_clear(sums->x);
    parts_clear(sums->square);
}

LN_INLINE sweep_total partials_sum(const acc parts[UNROLL])
{
    return parts_sum(parts);
}
#endif

LN_INLINE void sweep_clear(sweep_sums *sums)
{
    sweep_begin(sums);
    sums->whole_x = sums->whole_square = sweep_total_set(0);
}

/* Before what begins with column i is added: takes over the sums of a chunk that ends there. (Where
 * nothing follows it makes no difference.) */
LN_INLINE void sweep_chunk(sweep_sums *sums, int is_long, size_t i)
{
#ifdef SWEEP_CHAIN
    (void)is_long;
    if (i == 0 || (i & (CHAIN_COLUMNS - 1)) != 0)
        return;
#else
    if (!is_long || i == 0 || (i & (CHUNK_COLUMNS - 1)) != 0)
        return;
#endif
    sums->whole_x = sweep_total_add(sums->whole_x, partials_sum(sums->x));
    sums->whole_square = sweep_total_add(sums->whole_square, partials_sum(sums->square));
    sweep_begin(sums);
}

LN_INLINE void sweep_sums_of(const sweep_sums *sums, int is_long, sweep_total *x,
                             sweep_total *square)
{
    *x = partials_sum(sums->x);
    *square = partials_sum(sums->square);
#ifdef SWEEP_CHAIN
    is_long = 1;
#endif
    if (is_long) {
        *x = sweep_total_add(sums->whole_x, *x);
        *square = sweep_total_add(sums->whole_square, *square);
    }
}

#ifdef SWEEP_CHAIN
#ifdef LANE_DOT
_Static_assert(LN_LANES == DOT_LANES, "its bound counts two roundings");
#endif

/* Adds n elements (LANES of them if n is more) at column `at` to the sums number u. Zeros behind them
 * change nothing. */
LN_INLINE void sweep_add_vector(sweep_sums *sums, const row *view, acc pivot, unsigned u, size_t at,
                                size_t n, int again)
{
    (void)pivot, (void)again;
#ifdef SWEEP_DOTS
    if (view->form == RESIDUAL_NONE) {
        /* Of even u to the even lanes, of odd u to the odd ones. */
        lane_dot(view->x + at, n, u % 2, &sums->x[u], &sums->square[u]);
        return;
    }
#endif
    vec x = row_first(view, at, n);
    sums->x[u] = lane_add(sums->x[u], x);
    sums->square[u] = multiply_add(x, x, sums->square[u]);
}
#else
/* Adds n elements (LANES of them if n is more), x, to the sums number u. */
LN_INLINE void sweep_add_one(sweep_sums *sums, unsigned u, acc x, acc pivot, size_t n, int again)
{
    acc t = x;
    if (LN_PIVOT || again) {
        t = acc_subtract(x, pivot);
        if (n < LANES)
            t = acc_first(t, n);
    }
#ifndef SWEEP_SQUARES
    sums->x[u] = acc_add(sums->x[u], t);
#endif
    sums->square[u] = acc_multiply_add(t, t, sums->square[u]);
}

/* The same for those at column `at`; `again` where they have been touched. */
LN_INLINE void sweep_add_vector(sweep_sums *sums, const row *view, acc pivot, unsigned u, size_t at,
                                size_t n, int again)
{
#ifdef SWEEP_DOTS
    if (view->form == RESIDUAL_NONE && !again) {
        lane_dot(view->x + at, n, 0, &sums->x[u], &sums->square[u]);
        return;
    }
#endif
#if defined(ACC_LOADS) && STORES_F32
    if (view->form == RESIDUAL_NONE && n >= LANES) {
        sweep_add_one(sums, u, LN_PASTE(acc_load_, LN_STORAGE)(view->x + at), pivot, n, again);
        return;
    }
#endif
    vec x = again ? row_again(view, at, n) : row_first(view, at, n);
    sweep_add_one(sums, u, acc_of(x), pivot, n, again);
}

#endif

/* Adds the first min(left, BLOCK) elements from i on. */
LN_INLINE void sweep_add(sweep_sums *sums, const row *view, acc pivot, size_t i, size_t left,
                         int again)
{
    LN_UNROLLED
    for (unsigned u = 0; u < UNROLL; u++) {
        if (left <= u * LANES)
            continue;
        sweep_add_vector(sums, view, pivot, u, i + u * LANES, left - u * LANES, again);
    }
}

/* A whole row. */
LN_INLINE void sweep_alone(sweep_sums *sums, const row *view, int is_long, real pivot, int again)
{
    acc pivots = acc_set(pivot);
    size_t i = 0;
    sweep_clear(sums);
    for (; view->hidden - i >= BLOCK; i += BLOCK) {
        sweep_chunk(sums, is_long, i);
        sweep_add(sums, view, pivots, i, BLOCK, again);
    }
    sweep_chunk(sums, is_long, i);
    sweep_add(sums, view, pivots, i, view->hidden - i, again);
}

LN_INLINE moments sweep_row(const statistics *stats, const row *view, int is_long, real pivot,
                            int again)
{
    sweep_sums sums;
    sweep_total x, square;
    sweep_alone(&sums, view, is_long, pivot, again);
    sweep_sums_of(&sums, is_long, &x, &square);
    return statistics_found(stats, pivot, sweep_total_sum(x), sweep_total_sum(square));
}

#ifndef SWEEP_AGAIN_OWN
/* The pivot was far off: takes what was found for it, where items are long as an f32, which the
 * elements of a constant row are. Where kappa is so large that this is itself more than two standard
 * deviations off, one more sweep has a pivot that is not, if the statistics say SWEEPS_AGAIN 2: errors of
 * y grow with the square of that distance. Bounds of second sweeps hold for it, whose pivot lies no
 * farther from the mean: a sum about a nearer pivot is off by less. Rare, so not in the way of others. */
#ifndef SWEEPS_AGAIN
#define SWEEPS_AGAIN 1
#endif
LN_RARE moments sweep_again(statistics stats, row view, moments found)
{
    int left = SWEEPS_AGAIN;
    do {
        real mean = found.mean + found.rest, pivot = SUMS_ARE_LONG ? (real)(float)mean : mean;
        found = sweep_row(&stats, &view, sweep_is_long(view.hidden), pivot, 1);
    } while (--left > 0 && found.rest * found.rest * (real)view.hidden > 4 * found.m2);
    return found;
}
#endif

/* What was found of a row, or if that is off, what a second sweep finds. */
LN_INLINE moments sweep_final(const statistics *stats, row view, moments found)
{
    if (__builtin_expect(statistics_is_off(stats, found), 0))
        found = sweep_again(*stats, view, found);
    found.scale = 1; /* which compilers see here */
    return found;
}

/* Of LANES rows: a loop that compilers make vectors of. */
LN_INLINE void statistics_found_all(const statistics *stats, const real pivot[LANES],
                                    const real sum[LANES], const real square[LANES],
                                    real mean[LANES], real rest[LANES], real m2[LANES])
{
    LN_VECTORIZED
    for (size_t g = 0; g < LANES; g++) {
        moments found = statistics_found(stats, pivot[g], sum[g], square[g]);
        mean[g] = found.mean;
        rest[g] = found.rest;
        m2[g] = found.m2;
    }
}

LN_INLINE real sweep_pivot(const statistics *stats, const row *view, int is_long)
{
    if (!LN_PIVOT)
        return 0;
    return statistics_pivot_of(stats, acc_sum(statistics_pivot_sum(view, is_long)));
}

LN_INLINE moments sweep_moments(const statistics *stats, const row *view, int is_long, real pivot)
{
    return sweep_final(stats, *view, sweep_row(stats, view, is_long, pivot, 0));
}

LN_INLINE real statistics_pivot(const statistics *stats, const row *view)
{
    return sweep_pivot(stats, view, sweep_is_long(view->hidden));
}

LN_INLINE moments statistics_of(const statistics *stats, const row *view, real pivot)
{
    return sweep_moments(stats, view, sweep_is_long(view->hidden), pivot);
}

#endif

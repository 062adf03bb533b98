/* Functions for statistics of one sweep: sums of t and t^2 over the row, t = x - pivot, or x itself.
 *
 * They are divided into steps, so that a schedule can do each step for several rows together:
 *
 *     statistics_pivot_sum(&row, is_long) -> acc    the sum of its lanes -> statistics_pivot_of()
 *     statistics_pivot_fetch(&row, is_long)         fetches the elements for that
 *     sweep_add(&sums, &row, pivot, i, left)        reads each element for the first time
 *     sweep_sums_of(&sums, is_long, &x, &square)    the vectors whose lanes are then added
 *     statistics_found(&statistics, pivot, sum, square) -> moments
 *     statistics_is_off(&statistics, moments)       1: the row must be swept again (rare) by
 *     sweep_again(&statistics, row, moments)
 *
 * A file that includes this one defines LN_PIVOT (1: t = x - pivot, 0: only when a row is swept again), LN_CHUNK, the
 * functions named statistics_, SWEEP_DOTS if sums may be of products of pairs (LANE_DOT), and SWEEP_AGAIN_OWN if it
 * defines sweep_again(). Statistics that sum x itself define SWEEP_UNSHIFTED, so that all pivots are 0; those that only
 * sum squares also define SWEEP_SQUARES. statistics_pivot() and statistics_of(), for one row at a time, are in this
 * file.
 *
 * Sums of LN_CHUNK blocks (a power of two; 0: of all) are added to other sums before the next block, by sweep_chunk(),
 * which each loop over blocks calls. If SWEEP_CHAIN is defined, so many blocks are added in items and then converted to
 * accumulators: one conversion for a chain, not for each element. Second sweeps do not use chains. */
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

/* The type of a row's sums before their lanes are added. Sums of chains have at most eight lanes: lanes that are
 * added in items need not be converted or kept. */
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

/* Returns whether so many elements are more than one chunk. A schedule may have its own code for such rows,
 * in which is_long is a constant, so that chunks cost nothing for short rows. */
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

/* Adds the sums of a chunk that ends at column i to the other sums. Called before the block at column i is added. (At
 * the end of a row it makes no difference.) */
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

/* Adds the first n, at most LANES, elements from column `at` on to the sums number u. Zeros after them change
 * nothing. */
LN_INLINE void sweep_add_vector(sweep_sums *sums, const row *view, acc pivot, unsigned u, size_t at,
                                size_t n, int again)
{
    (void)pivot, (void)again;
#ifdef SWEEP_DOTS
    if (view->form == RESIDUAL_NONE) {
        /* Even u are added to the even lanes, odd u to the odd ones. */
        lane_dot(view->x + at, n, u % 2, &sums->x[u], &sums->square[u]);
        return;
    }
#endif
    vec x = row_first(view, at, n);
    sums->x[u] = lane_add(sums->x[u], x);
    sums->square[u] = multiply_add(x, x, sums->square[u]);
}
#else
/* Adds the first n, at most LANES, elements of x to the sums number u. */
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

/* The same for the elements from column `at` on. again: they have been read before. */
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

/* Sweeps a whole row. */
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
/* Sweeps a row again whose pivot was far from the mean. The new pivot is the mean that was found, rounded to f32 if
 * items are longer, since the elements of a constant row are f32 numbers. If kappa is so large that this pivot is also
 * more than two standard deviations from the mean, statistics with SWEEPS_AGAIN 2 sweep once more: errors of
 * y grow with the square of that distance. The bounds of second sweeps hold for the third one too, since its pivot is
 * no farther from the mean, and a sum about a nearer pivot has a smaller error. This is rare and not inlined. */
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

/* Returns the moments of a row, by a second sweep if the first was not accurate enough. */
LN_INLINE moments sweep_final(const statistics *stats, row view, moments found)
{
    if (__builtin_expect(statistics_is_off(stats, found), 0))
        found = sweep_again(*stats, view, found);
    found.scale = 1; /* tells compilers that it is 1 */
    return found;
}

/* The moments of LANES rows, in a loop that compilers vectorise. */
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

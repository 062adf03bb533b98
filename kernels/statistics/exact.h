/* exact: sums of f32 or 16-bit elements in double, with their largest errors.
 *
 *     s = sum(x)    q = sum(x^2)    h = s / N    m2 = q - s h    rstd = 1 / sqrt(m2 / (N - ddof) ...)
 *
 * This is a plain sweep: products of two f32 are exact in double, and 2^-53 is precise enough for a result of 24
 * bits. Only rows whose mean is large compared with their deviations (q > 32 m2) are swept again, about
 * p = h: x - p instead of x. Rows that are still unknown then (equal elements, eps
 * outside 2^+-500, NaN) are computed with integers (exact/exact.c).
 *
 * Reads the row once, or twice. The error is proven at estimate_of(). */
#ifndef LN_STATISTICS_H
#define LN_STATISTICS_H

#ifndef LN_LANE_FILE
#define LN_ITEM f64
#define LN_LANE_FILE "lane/avx512.h"
#define LN_STORAGE f32
#define LN_PARAM f32
#define LN_LANES 8
#define LN_UNROLL 4
#define LN_CHUNK 16
#define LN_APPLY_FILE "apply/certified.h"
#define LN_SCHEDULE_FILE "schedule/grouped.h"
#endif
#ifndef LN_STATISTICS_FILE
#define LN_STATISTICS_FILE "statistics/exact.h"
#endif
#include "exact/exact.h"
#include "moments.h"

#ifdef LN_UNCENTRED
enum { UNCENTRED = 1 };
#else
enum { UNCENTRED = 0 };
#endif

/* ---- The sweep ---- */

/* Load n elements of a row from i on: for the first time, which writes the sum if the caller wants it, and again.
 * Without a sum, x and residual are added again, since y may be x. */
LN_INLINE vec exact_first(const row *view, size_t i, size_t n)
{
    vec x = row_add_up(view, i, n);
    if (view->form == RESIDUAL_ADDED && view->sum)
        row_store(view->sum + i, x, n);
    return x;
}

LN_INLINE vec exact_again(const row *view, size_t i, size_t n)
{
    return view->form == RESIDUAL_ADDED && view->sum ? row_load(view->sum + i, n)
                                                     : row_add_up(view, i, n);
}

typedef struct exact_sums {
    real sum;
    real square;
    real
        most; /* the largest x^2 (or (x - pivot)^2) or more, except for the rounding of a sum of CHUNK */
} exact_sums;

LN_INLINE real acc_most(acc a)
{
    real lanes[LANES], most = 0;
    acc_store(lanes, a);
    for (size_t k = 0; k < LANES; k++)
        most = lanes[k] > most ? lanes[k] : most;
    return most;
}

/* The state of a sweep of x, or x - pivot, over the columns before i. Each CHUNK blocks have their own sum, so that
 * errors hardly grow with the row. */
typedef struct sweeping {
    acc sums[UNROLL], squares[UNROLL]; /* of this chunk */
    acc sum, square, most;
    size_t i;
} sweeping;

LN_INLINE void sweep_begin(sweeping *so_far)
{
    so_far->sum = so_far->square = so_far->most = acc_set(0);
    so_far->i = 0;
    parts_clear(so_far->sums);
    parts_clear(so_far->squares);
}

/* Adds `count` whole blocks, or as many as are left, to this chunk. first: they are read for the first time. Chunks
 * end every LN_CHUNK blocks, and with the row: sweep_end_chunk(). */
LN_INLINE void sweep_blocks(sweeping *so_far, const row *view, int first, int pivoted, acc pivots,
                            size_t count)
{
    acc sums[UNROLL], squares[UNROLL];
    size_t left = (view->hidden - so_far->i) / BLOCK, i = so_far->i;
    memcpy(sums, so_far->sums, sizeof sums);
    memcpy(squares, so_far->squares, sizeof squares);
    for (size_t b = left < count ? left : count; b > 0; b--, i += BLOCK) {
        LN_UNROLLED
        for (size_t u = 0; u < UNROLL; u++) {
            size_t at = i + u * LANES;
            vec x = first ? exact_first(view, at, LANES) : exact_again(view, at, LANES);
            x = pivoted ? acc_subtract(x, pivots) : x;
            sums[u] = acc_add(sums[u], x);
            squares[u] = acc_multiply_add(x, x, squares[u]);
        }
    }
    so_far->i = i;
    memcpy(so_far->sums, sums, sizeof sums);
    memcpy(so_far->squares, squares, sizeof squares);
}

LN_INLINE void sweep_end_chunk(sweeping *so_far)
{
    so_far->sum = acc_add(so_far->sum, parts_sum(so_far->sums));
    so_far->square = acc_add(so_far->square, parts_sum(so_far->squares));
    LN_UNROLLED
    for (size_t u = 0; u < UNROLL; u++)
        so_far->most = lane_maximum(so_far->most, so_far->squares[u]);
    parts_clear(so_far->sums);
    parts_clear(so_far->squares);
}

/* Adds the columns after the last whole block, and adds all lanes. */
LN_INLINE exact_sums sweep_end(sweeping *so_far, const row *view, int first, int pivoted,
                               acc pivots)
{
    for (size_t i = so_far->i; i < view->hidden; i += LANES) {
        size_t n = view->hidden - i < LANES ? view->hidden - i : LANES;
        vec x = first ? exact_first(view, i, n) : exact_again(view, i, n);
        x = pivoted ? acc_first(acc_subtract(x, pivots), n) : x;
        acc product = acc_multiply(x, x);
        so_far->sum = acc_add(so_far->sum, x);
        so_far->square = acc_add(so_far->square, product);
        so_far->most = lane_maximum(so_far->most, product);
    }
    exact_sums found = {UNCENTRED ? 0 : acc_sum(so_far->sum), acc_sum(so_far->square), 0};
    found.most = view->hidden > BLOCK * LN_CHUNK ? acc_most(so_far->most) : found.square;
    return found;
}

LN_INLINE exact_sums sweep(const row *view, int first, int pivoted, real pivot)
{
    const acc pivots = acc_set(pivot);
    sweeping so_far;
    sweep_begin(&so_far);
    do {
        sweep_blocks(&so_far, view, first, pivoted, pivots, LN_CHUNK);
        sweep_end_chunk(&so_far);
    } while (view->hidden - so_far.i >= BLOCK);
    return sweep_end(&so_far, view, first, pivoted, pivots);
}

LN_APART exact_sums sweep_plain(const row *view)
{
    row plain = *view;
    plain.form = RESIDUAL_NONE;
    return sweep(&plain, 1, 0, 0);
}

LN_APART exact_sums sweep_residual(const row *view)
{
    row added = *view;
    added.form = RESIDUAL_ADDED;
    return sweep(&added, 1, 0, 0);
}

LN_APART exact_sums sweep_again(const row *view, real pivot)
{
    return sweep(view, 0, 1, pivot);
}

/* Returns the sum of a and b, and adds its rounding error to *rest. */
LN_INLINE acc sum_and_rest(acc a, acc b, acc *rest)
{
    acc sum = acc_add(a, b), of_b = acc_subtract(sum, a);
    acc error = acc_add(acc_subtract(a, acc_subtract(sum, of_b)), acc_subtract(b, of_b));
    *rest = acc_add(*rest, error);
    return sum;
}

LN_INLINE ln_two sum_of_lanes(acc sums, acc rests)
{
    real sum[LANES], rest[LANES];
    ln_two all = {0, 0};
    acc_store(sum, sums);
    acc_store(rest, rests);
    for (size_t k = 0; k < LANES; k++) {
        ln_two next = ln_two_sum(all.high, sum[k]);
        all = (ln_two){next.high, all.low + (next.low + rest[k])};
    }
    return ln_two_sum(all.high, all.low);
}

typedef struct fine_sums {
    acc sum, sum_rest;
    acc square, square_rest;
} fine_sums;

LN_INLINE void add_finely(fine_sums *sums, vec x)
{
    sums->sum = sum_and_rest(sums->sum, x, &sums->sum_rest);
    sums->square = sum_and_rest(sums->square, acc_multiply(x, x), &sums->square_rest);
}

/* Computes finer sums for the few rows with an element that the estimate leaves uncertain (exact/exact.c). */
LN_APART void sweep_fine(const void *of_row, ln_exact_sums *found)
{
    const row view = *(const row *)of_row;
    const acc zero = acc_set(0);
    fine_sums sums = {zero, zero, zero, zero};
    size_t i = 0;
    for (; view.hidden - i >= LANES; i += LANES)
        add_finely(&sums, exact_again(&view, i, LANES));
    if (i < view.hidden)
        add_finely(&sums, exact_again(&view, i, view.hidden - i));
    found->sum = UNCENTRED ? (ln_two){0, 0} : sum_of_lanes(sums.sum, sums.sum_rest);
    found->square = sum_of_lanes(sums.square, sums.square_rest);
    found->depth = (real)(view.hidden / LANES) + 3 * LANES + 1;
}

/* ---- The estimate ---- */

/* The values that are the same for all rows. */
typedef struct statistics {
    real inverse;         /* 1 / N */
    real inverse_divisor; /* 1 / (N - ddof); infinite if N is ddof */
    real growth;          /* g below */
    real eps_in_variance;
    real eps_on_std;
    real quotient;
} statistics;

LN_INLINE statistics statistics_prepare(const ln_problem *problem)
{
    const ln_convention *wanted = &problem->convention;
    real chunks = (real)(problem->hidden / (BLOCK * LN_CHUNK)) + 1;
    real blocks = (real)(problem->hidden / BLOCK);
    real tail = problem->hidden % BLOCK == 0 ? 0 : UNROLL;
    real depth = (blocks < LN_CHUNK ? blocks : LN_CHUNK) + chunks + tail + (real)log2(BLOCK);
    return (statistics){
        .inverse = 1 / (real)problem->hidden,
        .inverse_divisor = 1 / (real)(problem->hidden - (size_t)wanted->ddof),
        .growth = (depth + 6) * (REAL_UNIT * (1 + 0x1p-7)),
        .eps_in_variance = wanted->eps_place == LN_EPS_VAR ? wanted->eps : 0,
        .eps_on_std = wanted->eps_place == LN_EPS_STD ? wanted->eps : 0,
        .quotient = wanted->eps_place == LN_EPS_QUOTIENT ? wanted->eps : 0,
    };
}

/* Computes the intervals of a row's results (ln_exact_estimate) from its sums about p.
 *
 * u = 2^-53; S, Q are the exact sums of x - p and of its square; R = sqrt(Q / N). A term has at most D roundings of its
 * partial sum: CHUNK blocks, log2(UNROLL) levels, the chunks, a tail of UNROLL vectors, log2(LANES) levels. There is
 * one more for x - p, which counts twice in the square, and one for a product that is not fused. Nothing underflows: p
 * and x - p are multiples of 2^-270 (N < 2^60) and less than 2^129. g = (D + 6) u (1 + 2^-7) covers gamma(D + 6) and
 * the rounding of R: if there is an estimate, e below is at most 2^-16, and g is at most e.
 *
 *     |s - S| <= g N R           |q - Q| <= g Q           (Cauchy: sum |x - p| <= N R)
 *     h = s fl(1 / N):           |h - S / N| <= g R       (two more roundings)
 *     m2 = q - s h:              |s h - S^2 / N| <= |s - S| |h| + |S| |h - S / N|
 *                                                <= 2 g |s| R (1 + 4 u) + g^2 Q
 *                                both are rounded: 2 u q. The error of q needs only D + 3 of the D + 6 in g, so
 *                                that g q includes this and g^2 Q:
 *     |m2 - M2| <= e m2          e = g (q + 2.25 |s| R) / m2
 *     rstd: m2 / n has two roundings; + eps, the root, + eps and the reciprocal have one each. Terms are not
 *     negative, so that no sum increases the relative error:
 *     |rstd / exact - 1| <= e (1 + 2^-6) / 2 + 6 u
 *
 * t = (x - p) rstd + c, c = quotient - h rstd. With z = (x - p) rstd, whose roundings are those of x - p and its own:
 *     three roundings of z and t: 3.2 u (|t| + |c|);  those of c: u |h rstd| + u |c|
 *     |z + quotient - h rstd - xhat| <= |xhat - quotient| rho + rstd |h - S / N|
 * so that |t - xhat| <= |t| (rho + 4 u) + (rho + 8 u) |quotient| + 8 u |h rstd| + rstd g R, times a factor 1 + 2^-7 for
 * |xhat| instead of |t| and for the roundings of this estimate. Another 16 u are for the steps after it:
 * y = t gamma + beta with 1 + gamma, product and sum rounded, and the two ends of the interval. rstd within 2^+-500
 * keeps all products far from underflow, except those with gamma and with a tiny eps, whose error is less than
 * LN_EXACT_UNDERFLOW. */
LN_INLINE ln_exact_estimate estimate_of(const statistics *stats, real pivot, exact_sums found)
{
    real h = found.sum * stats->inverse, m2 = found.square - found.sum * h;
    real size = sqrt(found.square * stats->inverse);
    real std = sqrt(m2 * stats->inverse_divisor + stats->eps_in_variance) + stats->eps_on_std;
    real rstd = 1 / std, shift = h * rstd;
    real error = stats->growth * (found.square + 2.25 * (fabs(found.sum) * size)) / m2;
    real relative = (error * (0.5 + 0x1p-5) + 24 * REAL_UNIT) * (1 + 0x1p-7);
    real absolute = relative * stats->quotient + (UNCENTRED ? 0 : rstd * (stats->growth * size)) +
                    8 * REAL_UNIT * fabs(shift);
    int known =
        (found.square <= 32 * m2) & (error <= 0x1p-16) & (rstd >= 0x1p-500) & (rstd <= 0x1p500);
    return (ln_exact_estimate){
        .pivot = pivot,
        .rstd = rstd,
        .addend = stats->quotient - shift,
        .relative = known ? relative : (real)INFINITY,
        .absolute = absolute * (1 + 0x1p-7),
        .mean = pivot + h,
        .mean_error = stats->growth * size + 2 * REAL_UNIT * fabs(pivot + h),
    };
}

#endif

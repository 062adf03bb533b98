/* lanewise: one sweep in items about a pivot for each lane; what is left of it is put together in
 * longer accumulators.
 *
 * There are eight lanes j: elements whose column is j modulo eight.
 *
 *     p_j = of two means of up to eight elements of lane j each, spread over the row, the one that
 *           is nearer to zero                                                  t = p_j - x
 *     X_j = sum(t)    Q_j = sum(t^2)    over lane j, in items
 *     with d_j = p_0 - p_j, in accumulators:
 *     X = sum(X_j + n_j d_j)     Q = sum(Q_j + d_j (2 X_j + n_j d_j))     mean = p_0 - X / N
 *     m2 = Q - X^2 / N, mean in two parts: the first 0 or an item
 *
 * (Shifted data: Chan, Golub, LeVeque, 1983, section 3; put together as their updating formulae
 * do.) Reads the row once, and up to 16 eights of it before. Costs per element what shifted costs.
 *
 * A row for which items will not do is done again in accumulators, in two sweeps: one whose squares
 * overflow or may have vanished, and one whose pivots are off, sum(Q_j) > 1.375 m2 (1.125 m2 is
 * usual).
 *
 * Measured: docs/lab/experiments.md, "lanewise".
 *
 * Bound: proven below, beside the code that computes it. */
#ifndef LN_STATISTICS_H
#define LN_STATISTICS_H

#ifndef LN_ACCUMULATOR
#define LN_ACCUMULATOR f64
#define LN_ACCUMULATOR_FILE "lane/accumulator_f64_avx2.h"
#endif
#include "moments.h"

/* What makes it accurate:
 *  - Rounding errors that differ in sign hardly add up: sums over N terms are off by about
 *    sqrt(N) u (Higham, Mary, "A New Approach to Probabilistic Rounding Error Analysis", SIAM J.
 *    Sci. Comput. 41, 2019). They do add up in rows of few different values, where all lanes round
 *    alike. With a pivot of its own each lane rounds in its own way; and where a lane has one value
 *    only, its t is 0.
 *  - The lanes' sums, which are few, are added up without a rounding that counts.
 *  - Where |mean| is below half a standard deviation the first part of the mean is 0: then x - mean
 *    does not round at all. (Far from zero it does not either: Sterbenz.)
 *  - Of two candidates for a pivot an outlier spoils one. (t of a pivot that is far off are all
 *    nearly the same, so that sums of their squares round alike: a row with one large element came
 *    out 3.5 units off, and 1.7 with the choice.)
 *  - After every eight blocks the sums are taken over to accumulators, so that they do not grow. */

/* Below it squares may have been lost, above it they may overflow: 2^149 and 2^27 away. */
#define LOWEST 0x1p-100
#define HIGHEST 0x1p100
#define HIDING_FLOOR 0x1p-40

/* What passes; of normal rows one in 20 000 does not. */
#define RAW_MOST 1.375

enum { OCTET = 8 };
_Static_assert(LN_LANES == OCTET, "lanewise is for vectors of 8 items");

/* A pivot has two candidates of so many elements, a power of two: those of constant rows are exact.
 * Vectors that are looked at for them: */
enum { PIVOT_ELEMENTS = 8, SAMPLE = 2 * PIVOT_ELEMENTS };

LN_INLINE real lanewise_lowest(const ln_convention *rules)
{
    return convention_floor(rules) < (real)HIDING_FLOOR ? (real)LOWEST : 0;
}

#ifndef LN_BOUND_ONLY

/* ---- The mean as 0 or an item, and what is left ---- */

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

/* ---- The sweep ---- */

#define CHUNK_COLUMNS ((size_t)LN_CHUNK * BLOCK)

/* Where the whole blocks of the chunk end that column i is of. */
LN_INLINE size_t sweep_chunk_end(size_t i, size_t hidden)
{
    size_t end = (i / CHUNK_COLUMNS + 1) * CHUNK_COLUMNS, whole = hidden / BLOCK * BLOCK;
    return end < whole ? end : whole;
}

typedef struct statistics {
    real counts[OCTET]; /* elements of each lane */
    real count;
    real inverse;
    real lowest;
    size_t last; /* number of samples less one */
    size_t stride;
} statistics;

LN_INLINE statistics statistics_prepare(const ln_problem *problem)
{
    size_t hidden = problem->hidden, whole = hidden / LANES, samples = 1;
    while (2 * samples <= whole && samples < SAMPLE)
        samples *= 2;
    statistics stats = {
        .count = (real)hidden,
        .inverse = 1 / (real)hidden,
        .lowest = lanewise_lowest(&problem->convention),
        .last = samples - 1,
        .stride = whole / samples * LANES,
    };
    for (size_t i = 0; i < OCTET; i++)
        stats.counts[i] = (real)(hidden / OCTET + (i < hidden % OCTET));
    return stats;
}

LN_INLINE moments statistics_found(const statistics *stats, real pivot, real sum, real square)
{
    real rest = -sum * stats->inverse;
    return long_split(pivot, rest, square + sum * rest, stats->inverse);
}

/* The same of four rows at once: loops without branches, of which compilers make vectors. */
enum { QUAD = 4 };

LN_INLINE void statistics_found_four(const statistics *stats, const real pivot[QUAD],
                                     const real sum[QUAD], const real square[QUAD], real mean[QUAD],
                                     real rest[QUAD], real m2[QUAD])
{
    real moved[QUAD], found[QUAD], both[QUAD];
    LN_VECTORIZED
    for (size_t g = 0; g < QUAD; g++) {
        moved[g] = -sum[g] * stats->inverse;
        found[g] = square[g] + sum[g] * moved[g];
        both[g] = pivot[g] + moved[g];
    }
    LN_VECTORIZED
    for (size_t g = 0; g < QUAD; g++)
        both[g] = long_is_near(both[g], found[g], stats->inverse) ? 0 : both[g];
    LN_VECTORIZED
    for (size_t g = 0; g < QUAD; g++) {
        mean[g] = (item)both[g];
        rest[g] = (pivot[g] - mean[g]) + moved[g];
        m2[g] = found[g] < 0 ? 0 : found[g];
    }
}

LN_INLINE int swept_is_off(const statistics *stats, moments found, real raw)
{
    real var = found.m2 * stats->inverse;
    int fine = (raw <= (real)RAW_MOST * found.m2) & (var >= stats->lowest) & (var < (real)HIGHEST);
    return !fine;
}

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

/* From the sums over lanes to the moments, by way of a second attempt if need be. */
LN_INLINE moments swept_moments(const statistics *stats, const row *view, swept total)
{
    moments found =
        statistics_found(stats, total.pivot, octet_sum(total.x), octet_sum(total.square));
    if (__builtin_expect(swept_is_off(stats, found, octet_sum(total.raw)), 0))
        found = sweep_again(*stats, *view);
    return found;
}

/* Needs a pivot for each lane, not one. */
#define STATISTICS_UNPIVOTED

LN_INLINE moments statistics_of(const statistics *stats, const row *view, real pivot)
{
    (void)pivot;
    sweep_sums sums;
    sweep_origin origin = sweep_origin_of(stats, view);
    sweep_row(&sums, view, origin);
    return swept_moments(stats, view, sweep_end(stats, &sums, origin));
}

#endif

/* Bound. V the exact biased variance, s = p_j - x exact, R^2 = sum(s^2) / N, u = ITEM_UNIT, g(k) =
 * k u / (1 - k u), D = min(ceil(N / BLOCK), 9) + log2(UNROLL) the roundings of a
 * lane's sums, C the chunks of eight blocks.
 *  1. Over lane j
 *         |X_j - sum s| <= g(D + 1) sum |s|,    |Q_j - sum s^2| <= g(D + 2) sum s^2 + 2 tiny n_j.
 *     In exact arithmetic from there on, with P^2 = sum n_j (p_j - mu)^2 / N <= (R + sqrt V)^2
 *     (triangle inequality, over elements):
 *         |X / N - (p_0 - mu)| <= e = g(D + 1) R                                (Cauchy-Schwarz)
 *         |m2 / N - V| <= g(D + 2) R^2 + 2 g(D + 1) P R + e^2 + 2 tiny
 *     since an error x_j of X_j moves m2 by 2 (d_j - (p_0 - mu)) x_j = 2 (mu - p_j) x_j, and by the
 *     square of their sum.
 *  2. Accumulators round too, g'(k) with their unit: numbers added up are, over N and in absolute
 *     value, below M = R + P + |p_0 - mu| for X, and M^2 for Q. Lane 0 has n_0 >= N / 8 elements,
 *     so n_0 (p_0 - mu_0)^2 <= N R^2 and n_0 (mu_0 - mu)^2 <= N V give
 *         |p_0 - mu| <= sqrt(8) (R + sqrt V).
 *     No number goes through more than C + 8 + log2(8) roundings: X / N is off by g'(C + 12) M,
 *     m2 / N by 4 g'(C + 16) M^2, and the mean by 4 u' (|mu| + M), in being split.
 *  3. The row passed, so the computed sum(Q_j), which is at least N R^2 (1 - g(D + 2)) - 2 N tiny
 *     but for accumulators' roundings, is at most q m2, q = 1.375: with the error E of m2 / N,
 *         R^2 (1 - g(D + 3)) <= q (V + E(R)) + 4 tiny.
 *     E is quadratic in R, since M <= (2 + sqrt 8)(R + sqrt V):
 *         E <= c (R^2 + R sqrt V + V) + 2 tiny,
 *         c = 3 g(D + 2) + g(D + 1)^2 + 4 g'(C + 16)(3 + 2 sqrt(8))^2.
 *     Without tiny R <= r sqrt V, r the larger root of k r^2 - q c r - q (1 + c) = 0,
 *     k = 1 - g(D + 3) - q c; tiny adds no more than sqrt(8 tiny / k).
 *  4. A row that was done again in two passes, the second of which removes the mean of the residuals:
 *     its first mean is within gamma(D + 2) A + tiny of mu, D the roundings of one accumulator's
 *     turn, A = sum|x| / N; then bound_sweep() with that; and 4 u (|mu| + that) for splitting the
 *     mean.
 * The claim is the wider of 3 and 4. */

/* The second part of a mean of at most `mean`. */
LN_INLINE double long_rest_bound(double var_hi, double mean)
{
    return fmax(0.5 * sqrt(var_hi) * (1 + 4 * REAL_UNIT), ITEM_UNIT * mean + ITEM_TINY);
}

/* Step 4. */
LN_INLINE moments_bound long_again_bound(const ln_problem *problem, const ln_row_facts *facts)
{
    double depth = ceil((double)problem->hidden / LN_LANES) + log2(LN_LANES);
    double a = bound_gamma(depth + 2) * facts->mean_abs + REAL_TINY;
    moments_bound bound = bound_sweep(depth, facts->var, a * bound_slack);
    bound.mean += 4 * REAL_UNIT * (fabs(facts->mean) + a);
    bound.rest = long_rest_bound(bound.var_hi, fabs(facts->mean) + bound.mean);
    return bound;
}

/* Step 3. */
LN_INLINE moments_bound lanewise_passed_bound(const ln_problem *problem, const ln_row_facts *facts)
{
    double blocks = ceil((double)problem->hidden / BLOCK), lanes = OCTET, q = RAW_MOST;
    double depth = fmin(blocks, LN_CHUNK + 1) + log2(UNROLL), chunks = blocks / LN_CHUNK + 1;
    double std = sqrt(facts->var), more = 3 + 2 * sqrt(lanes), first_order = item_gamma(depth + 1);
    double c = 3 * item_gamma(depth + 2) + first_order * first_order +
               4 * bound_gamma(chunks + 16) * more * more;
    double k = 1 - item_gamma(depth + 3) - q * c;
    if (!(k > 0.5))
        return bound_none;
    double root = (q * c + sqrt(q * c * q * c + 4 * k * q * (1 + c))) / (2 * k);
    double raw = (root * std + sqrt(8 * ITEM_TINY / k)) * bound_slack;
    double most = (2 + sqrt(lanes)) * (raw + std), e = first_order * raw;
    double error = item_gamma(depth + 2) * raw * raw + 2 * e * (raw + std) + e * e + 2 * ITEM_TINY +
                   4 * bound_gamma(chunks + 16) * most * most;
    double mean = e + bound_gamma(chunks + 12) * most + 4 * REAL_UNIT * (fabs(facts->mean) + most) +
                  REAL_TINY;
    double rest = long_rest_bound(facts->var + error, fabs(facts->mean) + mean);
    moments_bound bound = bound_around(facts->var, error, mean, rest + mean);
    bound.var_lo = fmax(0, bound.var_lo);
    return bound;
}

LN_INLINE moments_bound statistics_bound(const ln_problem *problem, const ln_row_facts *facts)
{
    moments_bound again = long_again_bound(problem, facts);
    if (facts->var == 0 && facts->max_dev == 0)
        return again;
    moments_bound passed = lanewise_passed_bound(problem, facts);
    /* Whether it may have passed. */
    if (passed.var_hi < lanewise_lowest(&problem->convention) || passed.var_lo >= HIGHEST)
        return again;
    return (moments_bound){fmax(passed.mean, again.mean), fmax(passed.rest, again.rest),
                           fmin(passed.var_lo, again.var_lo), fmax(passed.var_hi, again.var_hi), 1};
}

#endif

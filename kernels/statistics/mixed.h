/* mixed: one sweep over x itself in items, and what is left of it in longer accumulators.
 *
 *     d = sum(x) / N     m2 = sum(x^2) - sum(x) * d     mean = d, which the apply keeps as 0 and d
 *
 * (The textbook formula: Chan, Golub, LeVeque, 1983, formula 1.3.) Items add up over the row, and
 * over the lanes until four sums are left; these are added up, and all else is done, in
 * accumulators. It is retry.h's sweep, whose sums need no pivot and no subtraction, made for a
 * row ULP of 2:
 *  - Rounding errors of sums over many lanes hardly add up (lanewise.h). In rows of few different
 *    values they do; then it helps that no sum has many terms: 4 up to hidden 64, 8 a chunk beyond.
 *  - A row whose mean is far from zero, d^2 > m2 / 2N (m2 / 4N from hidden 64 on: of normal rows
 *    one in 16 000), is swept once more about the pivot d, as long as that comes within 2^-10
 *    standard deviations of its mean. Else, and where squares leave the items' range, it is done
 *    again in accumulators, in two passes.
 *  - x - mean does not round in rows that passed: the first part of their mean is 0.
 * So rows about zero take the time that shifted takes. Others are swept twice: that is twice the
 * time at hidden 768. Groups of short rows are not for it: where one of 16 is off, all wait for its
 * second sweep. Transposed, at 64, it took 1.12 times the time of fast, but 3.2 times where means
 * are .3 standard deviations and 9 times where they are 1 (with their sums over lanes taken
 * together 3.8 and 7); verified takes 1.57 times whatever the mean.
 *
 * Measured: docs/lab/experiments.md, "mixed".
 *
 * Bound: proven below, beside the code that computes it. */
#ifndef LN_STATISTICS_H
#define LN_STATISTICS_H

#ifndef LN_ACCUMULATOR
#define LN_ACCUMULATOR f64
#define LN_ACCUMULATOR_FILE "lane/accumulator_f64_avx512.h"
#endif
#include "statistics/long_moments.h"

/* Below it squares may have been lost, above it they may overflow. */
#define LOWEST 0x1p-100
#define HIGHEST 0x1p100
#define HIDING_FLOOR 0x1p-40

/* A second sweep passes where its pivot is so many times as near as a first one's. */
#define SHARPER 0x1p10

/* What the parts of a lane's first element are multiples of: 1 to 31 of it. */
#define PART_UNIT 0x1p-20
#define PART_MOST 0x1p-15

/* Levels of the tree over a vector's lanes that are in items. */
enum { ITEM_LEVELS = 2 };

/* What mean^2 / var may be: means of normal rows are within four of their standard deviations. */
LN_INLINE real mixed_most(const ln_problem *problem)
{
    return (real)lesser(0.5, greater(0.25, 16 / (double)problem->hidden));
}

LN_INLINE real mixed_lowest(const ln_convention *rules)
{
    return convention_floor(rules) < (real)HIDING_FLOOR ? (real)LOWEST : 0;
}

#ifndef LN_BOUND_ONLY

typedef struct statistics {
    real count;
    real inverse;
    real lowest;
    real most;
    item counts[LANES]; /* elements of each lane */
    item parts[LANES];
} statistics;

LN_INLINE statistics statistics_prepare(const ln_problem *problem)
{
    size_t hidden = problem->hidden;
    statistics stats = {.count = (real)hidden,
                        .inverse = 1 / (real)hidden,
                        .lowest = mixed_lowest(&problem->convention),
                        .most = mixed_most(problem)};
    for (size_t i = 0; i < LANES; i++) {
        stats.counts[i] = (item)(hidden / LANES + (i < hidden % LANES));
        stats.parts[i] = (item)(2 * i + 1) * (item)PART_UNIT;
    }
    return stats;
}

LN_INLINE moments statistics_found(const statistics *stats, real sum, real square)
{
    real mean = sum * stats->inverse, m2 = square - sum * mean;
    return (moments){0, mean, m2 < 0 ? 0 : m2, 1}; /* a NaN stays one */
}

LN_INLINE int statistics_is_off(const statistics *stats, moments found)
{
    real var = found.m2 * stats->inverse;
    int fine = (found.rest * found.rest <= stats->most * var) & (var >= stats->lowest) &
               (var < (real)HIGHEST);
    return !fine; /* of a NaN too */
}

#ifndef ITEM_SUMS
#error "mixed is for accumulators that add up lanes of items (item_sum_four())"
#endif

#ifndef LANE_HELD
#define lane_held(a) (a)
#endif

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

#define STATISTICS_UNPIVOTED

LN_INLINE moments statistics_of(const statistics *stats, const row *view, real pivot)
{
    sweep_sums sums;
    sweep_origin origin = sweep_origin_of(stats, view);
    (void)pivot;
    sweep_row(&sums, view, origin);
    return swept_moments(stats, view, sweep_end(stats, &sums, origin));
}

#endif

/* Bound. V the exact biased variance, u = ITEM_UNIT, g its gamma, g' that of the accumulators, D
 * the roundings of a sum in items, R^2 = V + a^2.
 *  1. A sweep about p, |mu - p| <= a (p = 0 in the first): bound_sweep() of moments.h, with two
 *     units:
 *         e = (g(D + 1) + g'(5)) R              what sum(t) is off by, over N
 *         delta = e + g'(3)(a + e) + tiny       what d is
 *         E = (g(D + 2) + g'(5)) R^2 + 4 tiny_item + a (e + delta) + e delta
 *             + u' (a + e)(a + delta)
 *     for m2 / N, and its last rounding. (g'(5): two levels of the tree, and the product of both
 *     errors.) Splitting the mean rounds twice: 4 u' (|mu| + a + delta).
 *     The second sweep is about a part q_j <= w |t_0j| of each lane's first t: w = 2^-15, P^2 = sum
 *     n_j q_j^2 / N <= w^2 ceil(N / lanes) R^2. t and q - t round, relative to |t| + |q|, whose
 *     squares have a mean of at most (R + P)^2. Moving the sums back to p rounds twice; squares
 *     take over the errors of sums times |q_j|, 2 g(D + 4) P (R + P) N in all (Cauchy-Schwarz), and
 *     round twice. So there g(D + 4)(R + 2 P) is for g(D + 1) R, and g(D + 8)(R + 2 P)^2 for g(D +
 *     2) R^2.
 *  2. A sweep that passed has fl(d^2) <= fl(k fl(m2 fl(1/N))), k = mixed_most() in the first and
 *     SHARPER^-2 in the second, so with |d| >= a - delta(a)
 *         a <= f(a) = sqrt(k (V + E(a))(1 + g'(8)) + 2^10 tiny_item) + delta(a).
 *     f(a) / a falls as a grows (E is at most quadratic in a, delta at most linear): f(b) < b rules
 *     out every a >= b, as in shifted.h. That bounds a for the second sweep, and |mu| for the
 *     first.
 *  3. Where |mu| and its error are below what the least computed variance allows, the first sweep
 *     did pass: then 1 with a = |mu|.
 *  4. A row that was done again in accumulators: long_moments.h.
 * The claim is 3, or the widest of 1 and 4, as far as 2 leaves them. */

/* Step 1; again: of the second sweep. */
LN_INLINE moments_bound mixed_sweep_bound(const ln_problem *problem, const ln_row_facts *facts,
                                          double a, int again)
{
    double n = (double)problem->hidden, blocks = ceil(n / BLOCK), chunk = LN_CHUNK;
    double depth = fmin(blocks, chunk + ceil(blocks / chunk)) + log2(UNROLL) + 1 + ITEM_LEVELS;
    double most = sqrt(facts->var + a * a);
    if (again)
        most *= 1 + 2 * PART_MOST * sqrt(ceil(n / LN_LANES));
    double e = (item_gamma(depth + (again ? 4 : 1)) + bound_gamma(5)) * most;
    double delta = e + bound_gamma(3) * (a + e) + REAL_TINY;
    double error = (item_gamma(depth + (again ? 8 : 2)) + bound_gamma(5)) * most * most +
                   4 * ITEM_TINY + a * (e + delta) + e * delta + REAL_UNIT * (a + e) * (a + delta) +
                   REAL_TINY;
    error += REAL_UNIT * (facts->var + error);
    double split = 4 * REAL_UNIT * (fabs(facts->mean) + a + delta);
    moments_bound bound = bound_around(facts->var, error, delta + split, a + delta);
    bound.var_lo = fmax(0, bound.var_lo);
    return bound;
}

/* Step 2: the largest a that passes, infinite where every one might. */
LN_INLINE double mixed_passing(const ln_problem *problem, const ln_row_facts *facts, int again)
{
    double limit = again ? 1 / (SHARPER * SHARPER) : (double)mixed_most(problem);
    double b = 1.25 * sqrt(limit * facts->var) + 64 * sqrt(ITEM_TINY);
    for (int tries = 0; tries < 60; tries++, b *= 1.5) {
        moments_bound at = mixed_sweep_bound(problem, facts, b, again);
        double f = sqrt(limit * at.var_hi * (1 + bound_gamma(8)) + 0x1p10 * ITEM_TINY) + at.mean;
        if (f * bound_slack < b)
            return f * bound_slack;
    }
    return INFINITY;
}

/* Step 3. */
LN_INLINE int mixed_surely_passes(const ln_problem *problem, const moments_bound *first)
{
    double rest = first->rest * (1 + bound_gamma(8)), least = first->var_lo * (1 - bound_gamma(8));
    return rest * rest < (double)mixed_most(problem) * least &&
           least > (double)mixed_lowest(&problem->convention) &&
           first->var_hi * (1 + bound_gamma(8)) < HIGHEST;
}

LN_INLINE moments_bound mixed_widest(moments_bound a, moments_bound b)
{
    return (moments_bound){fmax(a.mean, b.mean), fmax(a.rest, b.rest), fmin(a.var_lo, b.var_lo),
                           fmax(a.var_hi, b.var_hi), 1};
}

/* Whether a computed variance may lie where sweeps pass. */
LN_INLINE int mixed_is_within(const ln_problem *problem, const moments_bound *bound)
{
    return bound->var_hi >= (double)mixed_lowest(&problem->convention) && bound->var_lo < HIGHEST;
}

LN_INLINE moments_bound statistics_bound(const ln_problem *problem, const ln_row_facts *facts)
{
    double mu = fabs(facts->mean), second = mixed_passing(problem, facts, 1);
    moments_bound first = mixed_sweep_bound(problem, facts, mu, 0);
    if (mixed_surely_passes(problem, &first))
        return first;
    moments_bound claim = long_again_bound(problem, facts);
    if (facts->var == 0 && facts->max_dev == 0)
        return claim;
    moments_bound about = mixed_sweep_bound(problem, facts, second, 1);
    about.rest = long_rest_bound(about.var_hi, mu + about.mean);
    if (mixed_is_within(problem, &about))
        claim = mixed_widest(claim, about);
    if (mu <= mixed_passing(problem, facts, 0) && mixed_is_within(problem, &first))
        claim = mixed_widest(claim, first);
    return claim;
}

#endif

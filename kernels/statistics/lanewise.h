/* lanewise: one sweep in items about a pivot for each lane; what is left of it is put together in
 * longer accumulators.
 *
 * There are eight lanes j: elements whose column is j modulo eight. (Where vectors have sixteen,
 * two of theirs share a pivot and are added up in the end.)
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
 * Measured: docs/experiments.md, "lanewise".
 *
 * Bound: proven below, beside the code that computes it. */
#ifndef LN_STATISTICS_H
#define LN_STATISTICS_H

#ifndef LN_ACCUMULATOR_FILE
#define LN_ACCUMULATOR_FILE "lane/accumulator_f64_avx512.h"
#endif
#include "statistics/long_moments.h"

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

enum { OCTET = 8, TWINS = LN_LANES / OCTET };

/* A pivot has two candidates of so many elements, a power of two: those of constant rows are exact.
 * Vectors that are looked at for them: */
enum { PIVOT_ELEMENTS = 8, SAMPLE = 2 * PIVOT_ELEMENTS / TWINS };
_Static_assert(TWINS == 1 || TWINS == 2, "lanewise is for vectors of 8 or 16 items");

LN_INLINE real lanewise_lowest(const ln_convention *rules)
{
    return convention_floor(rules) < (real)HIDING_FLOOR ? (real)LOWEST : 0;
}

#ifndef LN_BOUND_ONLY

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

#include "statistics/lanewise_sums.h"

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
#include "statistics/no_pivot.h"

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
 * k u / (1 - k u), D = min(ceil(N / BLOCK), 9) + log2(UNROLL) + log2(TWINS) the roundings of a
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
 *  4. A row that was done again: long_moments.h.
 * The claim is the wider of 3 and 4. */

/* Step 3. */
LN_INLINE moments_bound lanewise_passed_bound(const ln_problem *problem, const ln_row_facts *facts)
{
    double blocks = ceil((double)problem->hidden / BLOCK), lanes = OCTET, q = RAW_MOST;
    double depth = fmin(blocks, LN_CHUNK + 1) + log2(UNROLL) + log2(TWINS),
           chunks = blocks / LN_CHUNK + 1;
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

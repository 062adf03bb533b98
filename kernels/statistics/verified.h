/* verified: one sweep over x itself in long accumulators, and a look at what was cancelled.
 *
 *     mean = sum(x) / N     m2 = sum(x^2) - sum(x) * mean
 *     mean in two parts, the first 0 or an item
 *
 * (The textbook formula: Chan, Golub, LeVeque, 1983, formula 1.3.) Reads the row once. It loses
 * kappa^2; but accumulators of f64 have 29 digits more than f32, so that up to kappa 2^10, which
 * few rows exceed, nothing is felt. A row for which mean^2 > 2^20 m2 / N is done again in two
 * passes. So is one of equal elements, which must come out exactly. No product overflows or
 * vanishes: squares of f32 lie well within f64. No element is more in the way than another, no
 * pivot is needed.
 *
 * For short rows (schedule transposed), whose sums stay in registers: there eight conversions,
 * seven additions and eight fused operations for 64 elements cost less than lanewise's pivots and
 * their checks. In longer rows lanewise is ahead.
 *
 * Bound: proven below, beside the code that computes it. */
#ifndef LN_STATISTICS_H
#define LN_STATISTICS_H

/* What passes. */
#define CANCELLED_MOST 0x1p20

#include "statistics/long_moments.h"

typedef struct statistics {
    real count;
    real inverse;
} statistics;

LN_INLINE statistics statistics_prepare(const ln_problem *problem)
{
    return (statistics){(real)problem->hidden, 1 / (real)problem->hidden};
}

LN_INLINE moments statistics_found(const statistics *stats, real pivot, real sum, real square)
{
    (void)pivot;
    real mean = sum * stats->inverse;
    return long_split(mean, 0, square - sum * mean, stats->inverse);
}

LN_INLINE int statistics_is_off(const statistics *stats, moments found)
{
    real mean = found.mean + found.rest;
    int fine = mean * mean <= (real)CANCELLED_MOST * (found.m2 * stats->inverse);
    return !fine; /* of a NaN too */
}

LN_RARE moments sweep_again(statistics stats, row view, moments found)
{
    (void)found;
    return long_again(&view, stats.count, stats.inverse);
}

/* The same of LANES rows at once: loops without branches, of which compilers make vectors. */
LN_INLINE void statistics_found_all(const statistics *stats, const real pivot[LANES],
                                    const real sum[LANES], const real square[LANES],
                                    real mean[LANES], real rest[LANES], real m2[LANES])
{
    real all[LANES], found[LANES], far[LANES];
    (void)pivot;
    LN_VECTORIZED
    for (size_t g = 0; g < LANES; g++) {
        all[g] = sum[g] * stats->inverse;
        found[g] = square[g] - sum[g] * all[g];
    }
    LN_VECTORIZED
    for (size_t g = 0; g < LANES; g++)
        far[g] = long_is_near(all[g], found[g], stats->inverse) ? 0 : all[g];
    LN_VECTORIZED
    for (size_t g = 0; g < LANES; g++) {
        mean[g] = (item)far[g];
        rest[g] = all[g] - mean[g];
        m2[g] = found[g] < 0 ? 0 : found[g];
    }
}

#define SWEEP_AGAIN_OWN
#define SWEEP_FOUND_ALL
#define SWEEP_UNSHIFTED
#include "statistics/one_sweep.h"

/* Bound. u the accumulators' unit, D = bound_depth(N) + 1 (short rows have fewer sums, and longer:
 * schedule/transposed.h), V the exact biased variance.
 *  1. One sweep: naive.h, which has the quotient where here is a product with fl(1/N), one
 *     rounding more: delta and the rounding of the product P are counted with gamma(3). Splitting
 *     the mean rounds twice: 2 u (|mu| + delta).
 *  2. It passed: fl(mean^2) <= fl(2^20 fl(m2 fl(1/N))). With |mean| >= |mu| - delta and m2 / N <=
 *     V + E, where E is at most e (V + mu^2) + t, e and t of 1,
 *         mu^2 (1 - 2 c) <= 2^20 (V + E)(1 + 8 u):
 *     so wherever the exact mu^2 is above twice what V allows, 2^21 V + tiny, it did not pass, as
 *     long as e 2^21 is below 1/8, which is asked for. There the claim is 3 alone.
 *  3. It did not: the first mean is within gamma(D + 2) A + tiny of mu, A = sum|x| / N; then
 *     bound_sweep() with that, whose D counts one accumulator's turn.
 * The claim is the wider of 1 and 3, or where 2 says so, 3. */

LN_INLINE moments_bound statistics_bound(const ln_problem *problem, const ln_row_facts *facts)
{
    moments_bound again = long_again_bound(problem, facts);
    double n = (double)problem->hidden, mu = fabs(facts->mean), square = facts->var + mu * mu;
    double gamma = bound_gamma(bound_depth(problem->hidden) + 1);
    if (mu * mu > 2 * CANCELLED_MOST * facts->var + 0x1p30 * REAL_TINY)
        return again;
    double s = gamma * facts->mean_abs, delta = s + bound_gamma(3) * (mu + s) + REAL_TINY;
    double error = gamma * square + 2 * REAL_TINY + mu * (s + delta) + s * delta +
                   REAL_UNIT * (mu + s) * (mu + delta) + REAL_TINY;
    error += REAL_UNIT * (facts->var + error);
    double mean = delta + 2 * REAL_UNIT * (mu + delta);
    if (!(2 * n * facts->mean_abs < REAL_MAX && 2 * n * (square + error) < REAL_MAX &&
          16 * gamma * CANCELLED_MOST < 0.125))
        return bound_none;
    moments_bound passed = bound_around(facts->var, error, mean, 0);
    passed.rest = long_rest_bound(passed.var_hi, mu + mean);
    return (moments_bound){fmax(passed.mean, again.mean), fmax(passed.rest, again.rest),
                           fmax(0, fmin(passed.var_lo, again.var_lo)),
                           fmax(passed.var_hi, again.var_hi), 1};
}

#endif

/* What the two-pass statistics share: the two sweeps' steps, and their error.
 *
 * Bound. D = the roundings that a term of a sum goes through, that of its product included; A =
 * sum|x| / N, V the exact biased variance.
 *   mean: |mean - mu| <= delta = gamma(D + 2) A + tiny: the sum, N where it is not exact, the
 *         quotient.
 *   With the computed mean, sum (x - mean)^2 = N (V + (mean - mu)^2) in exact arithmetic, since
 *   sum (x - mu) = 0. Each computed term is the square of a rounded difference, then D roundings
 *   (the product's among them): a factor within 1 +- gamma(D + 2); and it may be subnormal. So
 *         V (1 - gamma(D + 2)) - 2 tiny <= m2 / N <= (V + delta^2)(1 + gamma(D + 2)) + 2 tiny,
 *   and m2 >= 0, being a sum of squares.
 * Both sums may be ones whose roundings cancel (moments.h), with M <= max_dev + delta, R^2 >= V.
 * No claim where N A, a difference or N (V + delta^2) come near the largest number. */
#ifndef LN_TWO_SWEEPS_H
#define LN_TWO_SWEEPS_H

#include "moments.h"

#define STATISTICS_UNPIVOTED

typedef struct statistics {
    real count;
} statistics;

LN_INLINE statistics statistics_prepare(const ln_problem *problem)
{
    return (statistics){(real)problem->hidden};
}

LN_INLINE void two_pass_add(acc sums[UNROLL], const row *view, size_t i, size_t left)
{
    LN_UNROLLED
    for (size_t u = 0; u < UNROLL; u++) {
        if (left <= u * LANES)
            continue;
        sums[u] = acc_add(sums[u], acc_of(row_first(view, i + u * LANES, left - u * LANES)));
    }
}

LN_INLINE void two_pass_add_squares(acc sums[UNROLL], const row *view, acc mean, size_t i,
                                    size_t left)
{
    LN_UNROLLED
    for (size_t u = 0; u < UNROLL; u++) {
        if (left <= u * LANES)
            continue;
        size_t n = left - u * LANES;
        acc deviation = acc_subtract(acc_of(row_again(view, i + u * LANES, n)), mean);
        if (n < LANES)
            deviation = acc_first(deviation, n);
        sums[u] = acc_multiply_add(deviation, deviation, sums[u]);
    }
}

LN_INLINE moments_bound two_pass_bound(const ln_problem *problem, const ln_row_facts *facts,
                                       const row_sums *sums)
{
    double n = (double)problem->hidden, rms = sqrt(facts->var + facts->mean * facts->mean);
    double delta = sum_error(sums, 2, facts->mean_abs, rms, 1) + REAL_TINY;
    double most = facts->max_dev + delta;
    double gamma = sum_error(sums, 2, 1, 1, most * most / facts->var);
    double lo = facts->var * (1 - gamma) - 2 * REAL_TINY;
    double hi = (facts->var + delta * delta) * (1 + gamma) + 2 * REAL_TINY;
    if (!(2 * n * facts->mean_abs < REAL_MAX && 2 * (facts->max_dev + delta) < REAL_MAX &&
          2 * n * hi < REAL_MAX))
        return bound_none;
    return bound_between(facts, lo, hi, delta, 0);
}

#endif

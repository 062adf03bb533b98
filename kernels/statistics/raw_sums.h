/* What naive and clamped share: sums of x and x^2, m2 = sum(x^2) - sum(x)^2 / N, and its error.
 *
 * Bound. D = bound_depth(N), A = sum|x| / N, V the exact biased variance, mu the exact mean.
 *   S = fl(sum x):    S = N (mu + s), |s| <= gamma(D) A.
 *   mean = fl(S / N): N itself may round, then the quotient: |mean - mu| <= delta
 *                     = |s| + gamma(2) (|mu| + |s|) + tiny.
 *   Q = fl(sum x^2):  |Q / N - (V + mu^2)| <= gamma(D) (V + mu^2) + 2 tiny, the product's rounding
 *                     being one of the D; each of N products may be subnormal.
 *   P = fl(S * mean): |P / N - mu^2| <= |mu| (s + delta) + s delta + u (|mu| + s)(|mu| + delta) +
 *                     tiny.
 *   m2 = fl(Q - P):   |m2 / N - V| <= E + u (V + E), E the sum of the two.
 * The product is rounded before it is subtracted, also where the ISA could fuse: so a row of one
 * element has m2 = fl(x^2) - fl(x^2) = 0 exactly, and is NaN under ddof 1.
 * No claim where N A or N (V + mu^2) come near the largest number. */
#ifndef LN_RAW_SUMS_H
#define LN_RAW_SUMS_H

#include "statistics/count.h"

LN_INLINE moments naive_found(const statistics *stats, real sum, real square)
{
    real mean = sum / stats->count;
    real correction = sum * mean;
    return (moments){mean, 0, square - correction, 1};
}

LN_INLINE int statistics_is_off(const statistics *stats, moments found)
{
    (void)stats, (void)found;
    return 0;
}

LN_INLINE moments_bound naive_bound(const ln_problem *problem, const ln_row_facts *facts)
{
    double n = (double)problem->hidden;
    double gamma = bound_gamma(bound_depth(problem->hidden));
    double mu = fabs(facts->mean);
    double square = facts->var + mu * mu;
    double s = gamma * facts->mean_abs;
    double delta = s + bound_gamma(2) * (mu + s) + REAL_TINY;
    double error = gamma * square + 2 * REAL_TINY + mu * (s + delta) + s * delta +
                   REAL_UNIT * (mu + s) * (mu + delta) + REAL_TINY;
    error += REAL_UNIT * (facts->var + error);
    /* Written so that a NaN or infinity fails it too. */
    if (!(2 * n * facts->mean_abs < REAL_MAX && 2 * n * (square + error) < REAL_MAX))
        return bound_none;
    return bound_around(facts->var, error, delta, 0);
}

#endif

/* naive: one pass, sum(x) and sum(x^2).
 *
 *     mean = sum(x) / N            m2 = sum(x^2) - sum(x) * mean
 *
 * The textbook formula (Chan, Golub, LeVeque, "Algorithms for Computing the Sample Variance", The
 * American Statistician 37, 1983, formula 1.3). Reads the row once for the statistics. It subtracts
 * two numbers of size N * mean^2, so that its error grows with kappa^2: m2 may lose every digit and
 * even come out negative, which gives NaN. That is left as it is: this kernel is here to be
 * measured, not to be recommended.
 *
 * Bound: proven below, beside the code that computes it. */
#ifndef LN_STATISTICS_H
#define LN_STATISTICS_H

#include "moments.h"

typedef struct statistics {
    real count;
} statistics;

LN_INLINE statistics statistics_prepare(const ln_problem *problem)
{
    return (statistics){(real)problem->hidden};
}

LN_INLINE moments statistics_found(const statistics *stats, real pivot, real sum, real square)
{
    (void)pivot;
    real mean = sum / stats->count;
    real correction = sum * mean;
    real m2 = square - correction;
    return (moments){mean, 0, m2, 1};
}

LN_INLINE int statistics_is_off(const statistics *stats, moments found)
{
    (void)stats, (void)found;
    return 0;
}

#define SWEEP_UNSHIFTED
#include "statistics/one_sweep.h"

/* Bound. D = bound_depth(N), A = sum|x| / N, V the exact biased variance, mu the exact mean.
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
 * S and Q may be sums whose roundings cancel (moments.h).
 * No claim where N A or N (V + mu^2) come near the largest number. */
#define STATISTICS_PROBABLE
LN_INLINE moments_bound statistics_bound(const ln_problem *problem, const ln_row_facts *facts,
                                         double lambda)
{
    double n = (double)problem->hidden;
    const row_sums sums = sums_of_blocks(problem, facts, lambda);
    double mu = fabs(facts->mean);
    double square = facts->var + mu * mu;
    double s = sum_error(&sums, 0, facts->mean_abs, sqrt(square), 1);
    double delta = s + bound_gamma(2) * (mu + s) + REAL_TINY;
    double peak = facts->max_abs * facts->max_abs / square;
    double error = sum_error(&sums, 0, square, square, peak) + 2 * REAL_TINY + mu * (s + delta) +
                   s * delta + REAL_UNIT * (mu + s) * (mu + delta) + REAL_TINY;
    error += REAL_UNIT * (facts->var + error);
    /* Written so that a NaN or infinity fails it too. */
    if (!(2 * n * facts->mean_abs < REAL_MAX && 2 * n * (square + error) < REAL_MAX))
        return bound_none;
    return bound_around(facts->var, error, delta, 0);
}

#endif

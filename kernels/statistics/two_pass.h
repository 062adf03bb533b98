/* two_pass: the mean, then the squared deviations from it.
 *
 *     mean = sum(x) / N            m2 = sum((x - mean)^2)
 *
 * (Chan, Golub, LeVeque, 1983, formula 1.1.) Reads the row twice for the statistics. Its variance
 * is good for every row; what limits it is that the mean is rounded before it is subtracted.
 *
 * Bound. D = bound_depth(N), A = sum|x| / N, V the exact biased variance.
 *   mean: |mean - mu| <= delta = gamma(D + 2) A + tiny: the sum, N where it is not exact, the
 *         quotient.
 *   With the computed mean, sum (x - mean)^2 = N (V + (mean - mu)^2) in exact arithmetic, since
 *   sum (x - mu) = 0. Each computed term is the square of a rounded difference, then D roundings
 *   (the product's among them): a factor within 1 +- gamma(D + 2); and it may be subnormal. So
 *         V (1 - gamma(D + 2)) - 2 tiny <= m2 / N <= (V + delta^2)(1 + gamma(D + 2)) + 2 tiny,
 *   and m2 >= 0, being a sum of squares.
 * No claim where N A, a difference or N (V + delta^2) come near the largest number. */
#ifndef LN_STATISTICS_H
#define LN_STATISTICS_H

typedef struct statistics {
    real count;
} statistics;

LN_INLINE statistics statistics_prepare(const ln_problem *problem)
{
    return (statistics){(real)problem->hidden};
}

LN_INLINE void two_pass_add(acc sums[UNROLL], const row *row, size_t i, size_t left)
{
    LN_UNROLLED
    for (size_t u = 0; u < UNROLL; u++) {
        if (left <= u * LANES)
            continue;
        sums[u] = acc_add(sums[u], acc_of(row_first(row, i + u * LANES, left - u * LANES)));
    }
}

LN_INLINE void two_pass_add_squares(acc sums[UNROLL], const row *row, acc mean, size_t i,
                                    size_t left)
{
    LN_UNROLLED
    for (size_t u = 0; u < UNROLL; u++) {
        if (left <= u * LANES)
            continue;
        size_t n = left - u * LANES;
        acc deviation = acc_subtract(acc_of(row_again(row, i + u * LANES, n)), mean);
        if (n < LANES)
            deviation = acc_first(deviation, n);
        sums[u] = acc_multiply_add(deviation, deviation, sums[u]);
    }
}

/* Needs no pivot. */
LN_INLINE real statistics_pivot(const statistics *statistics, const row *row)
{
    (void)statistics, (void)row;
    return 0;
}

LN_INLINE moments statistics_of(const statistics *statistics, const row *row, real pivot)
{
    (void)pivot;
    acc sums[UNROLL];
    LN_UNROLLED
    for (unsigned u = 0; u < UNROLL; u++)
        sums[u] = acc_set(0);
    size_t i = 0;
    for (; row->hidden - i >= BLOCK; i += BLOCK)
        two_pass_add(sums, row, i, BLOCK);
    two_pass_add(sums, row, i, row->hidden - i);
    real mean = sum_of(sums) / statistics->count;

    LN_UNROLLED
    for (unsigned u = 0; u < UNROLL; u++)
        sums[u] = acc_set(0);
    acc means = acc_set(mean);
    for (i = 0; row->hidden - i >= BLOCK; i += BLOCK)
        two_pass_add_squares(sums, row, means, i, BLOCK);
    two_pass_add_squares(sums, row, means, i, row->hidden - i);
    return (moments){mean, 0, sum_of(sums), 1};
}

LN_INLINE moments_bound statistics_bound(const ln_problem *problem, const ln_row_facts *facts)
{
    double n = (double)problem->hidden;
    double depth = bound_depth(problem->hidden);
    double gamma = bound_gamma(depth + 2);
    double delta = gamma * facts->mean_abs + REAL_TINY;
    double lo = facts->var * (1 - gamma) - 2 * REAL_TINY;
    double hi = (facts->var + delta * delta) * (1 + gamma) + 2 * REAL_TINY;
    if (!(2 * n * facts->mean_abs < REAL_MAX && 2 * (facts->max_dev + delta) < REAL_MAX &&
          2 * n * hi < REAL_MAX))
        return bound_none;
    return (moments_bound){delta * bound_slack, 0, fmax(0.0, lo - facts->var * 1e-14),
                           hi * bound_slack, 1};
}

#endif

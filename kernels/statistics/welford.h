/* welford: running means; one pass, each of the BLOCK lanes an accumulator of its own, merged
 * pairwise.
 *
 *     d = x - mean;  mean += d / k;  m2 += d * (x - mean)                         (k-th element)
 *     n = na + nb;   d = mean_b - mean_a;  mean = mean_a + d nb / n;
 *     m2 = m2_a + m2_b + d^2 na nb / n                                            (merge)
 *
 * (Welford, "Note on a Method for Calculating Corrected Sums of Squares and Products",
 * Technometrics 4, 1962; Chan, Golub, LeVeque, "Updating Formulae and a Pairwise Algorithm for
 * Computing Sample Variances", COMPSTAT 1982.) Reads the row once for the statistics.
 *
 * Bound: proven below, beside the code that computes it. */
#ifndef LN_STATISTICS_H
#define LN_STATISTICS_H

#include "moments.h"

typedef struct statistics {
    char nothing;
} statistics;

typedef struct welford_lanes {
    acc mean[UNROLL];
    acc m2[UNROLL];
} welford_lanes;

/* Of a group of elements. */
typedef struct welford_moments {
    real mean;
    real m2;
    real count;
} welford_moments;

/* The accumulators again, one by one, for merging. */
typedef struct welford_parts {
    real mean[BLOCK];
    real m2[BLOCK];
    real count[BLOCK];
} welford_parts;

LN_INLINE statistics statistics_prepare(const ln_problem *problem)
{
    (void)problem;
    return (statistics){0};
}

#define STATISTICS_UNPIVOTED

/* The k-th element of each accumulator; those from left on have no k-th. */
LN_INLINE void welford_add(welford_lanes *lanes, const row *view, size_t i, size_t left, real k)
{
    acc inverse = acc_set(1 / k);
    LN_UNROLLED
    for (size_t u = 0; u < UNROLL; u++) {
        if (left <= u * LANES)
            continue;
        size_t n = left - u * LANES;
        acc x = acc_of(row_first(view, i + u * LANES, n));
        acc before = acc_subtract(x, lanes->mean[u]);
        if (n < LANES)
            before = acc_first(before, n);
        lanes->mean[u] = acc_multiply_add(before, inverse, lanes->mean[u]);
        acc after = acc_subtract(x, lanes->mean[u]);
        lanes->m2[u] = acc_multiply_add(before, after, lanes->m2[u]);
    }
}

/* b merged into a. A count of 0 on one side or both leaves the other as it is. */
LN_INLINE welford_moments welford_merged(welford_moments a, welford_moments b)
{
    real count = a.count + b.count;
    real weight = count > 0 ? b.count / count : 0;
    real difference = b.mean - a.mean;
    real scaled = difference * (a.count * weight);
    real between = scaled * difference;
    real step = difference * weight;
    return (welford_moments){a.mean + step, (a.m2 + b.m2) + between, count};
}

LN_INLINE void welford_merge(welford_parts *parts, size_t a, size_t b)
{
    welford_moments merged =
        welford_merged((welford_moments){parts->mean[a], parts->m2[a], parts->count[a]},
                       (welford_moments){parts->mean[b], parts->m2[b], parts->count[b]});
    parts->mean[a] = merged.mean;
    parts->m2[a] = merged.m2;
    parts->count[a] = merged.count;
}

/* Elements first to end. */
LN_INLINE welford_moments welford_range(const row *view, size_t first, size_t end)
{
    welford_parts parts;
    welford_lanes lanes;
    parts_clear(lanes.mean);
    parts_clear(lanes.m2);
    size_t i = first, steps = 0;
    for (; end - i >= BLOCK; i += BLOCK)
        welford_add(&lanes, view, i, BLOCK, (real)++steps);
    size_t left = end - i;
    welford_add(&lanes, view, i, left, (real)(steps + 1));

    LN_UNROLLED
    for (size_t u = 0; u < UNROLL; u++) {
        acc_store(parts.mean + u * LANES, lanes.mean[u]);
        acc_store(parts.m2 + u * LANES, lanes.m2[u]);
    }
    for (size_t j = 0; j < BLOCK; j++)
        parts.count[j] = (real)(steps + (j < left));
    for (size_t half = BLOCK / 2; half > 0; half /= 2)
        for (size_t j = 0; j < half; j++)
            welford_merge(&parts, j, j + half);
    return (welford_moments){parts.mean[0], parts.m2[0], parts.count[0]};
}

LN_INLINE moments statistics_of(const statistics *stats, const row *view, real pivot)
{
    (void)pivot;
    (void)stats;
    welford_moments found = welford_range(view, 0, view->hidden);
    return (moments){found.mean, 0, found.m2, 1};
}

/* Bound. V, mu exact; X = max|x|; S = sqrt(sum x^2 / N) = sqrt(V + mu^2). n elements at most go to
 * an accumulator, L levels merge. Errors of means are bounded in the mean square, each element
 * counted with the error of the mean of its group: that is what m2 feels.
 *  1. One accumulator, exact running mean mu_k, a_k = x_k - mu_{k-1}, e_k = |mean_k - mu_k|. Three
 *     roundings (difference, 1/k, product) and that of the sum give, since
 *     mu_k = mu_{k-1} + a_k / k, and since the first step is exact (e_1 = 0),
 *         k e_k <= (k-1)(1 + u) e_{k-1} + gamma(4) (|a_k| + e_{k-1}) + k u |mu_k| + k tiny,
 *     where gamma(4) for gamma(3) pays for u times their errors. So k e_k <= g sum_{2<=j<=k}
 *     (gamma(4) |a_j| + j u |mu_j| + j tiny) with g = exp(n u + gamma(4) (1 + log n)).
 *  2. Q, the accumulator's exact m2, is sum a_k b_k with b_k = x_k - mu_k = a_k (k-1)/k, so that
 *     sum_{k>=2} a_k^2 <= 2 Q, sum b_k^2 <= Q. Hardy's inequality,
 *         sum_k (1/k sum_{j<=k} |a_j|)^2 <= 4 sum a_j^2,
 *     and k |mu_k| <= min(k X, sum of its |x|) give over all accumulators together
 *         sum e_k^2 <= N e^2,    e = g (2 sqrt(2) gamma(4) sqrt(V) + u P + tiny (n + 1)/2),
 *         P = min(n S, X (n + 1)/2),
 *     and the sum over accumulators of n e_n^2 is <= N e^2 too.
 *  3. The products, but for their roundings, are (a_k +- e_{k-1})(b_k +- e_k): their sum over all
 *     accumulators is off the exact Q_w by (1 + sqrt 2) sqrt(Q_w N) e + N e^2 at most
 *     (Cauchy-Schwarz).
 *  4. A merge, D = mean_b - mean_a exactly, w = nb / n <= 1/2 (lower accumulators hold as many
 *     elements or one more), W = na nb / n, group errors e_a, e_b:
 *         e' <= (1 + u)((1 - w) e_a + w e_b) + gamma(4) w (|D| + e_a + e_b) + u |mu'| + tiny.
 *     With n e'^2 summed over a level: convexity for the first term, n w^2 <= W, 2 n w^2 <= nb for
 *     the second, n mu'^2 <= sum x^2 for the third; B_l = the level's sum of W D^2:
 *         E' <= (1 + gamma(5)) E + gamma(4) sqrt(B_l / N) + u S + tiny,
 *     and so after all levels, as sum sqrt(B_l) <= sqrt(L N V),
 *         E = (1 + gamma(5))^L (e + gamma(4) sqrt(L V) + L (u S + tiny)),
 *     which is also the error of the row's mean.
 *  5. It adds W (D +- (e_a + e_b))^2 to m2. As W (e_a + e_b)^2 <= na e_a^2 + nb e_b^2, a level is
 *     off by 2 sqrt(B_l N) E + N E^2, all levels by 2 sqrt(L B N) E + L N E^2, B = sum B_l. As
 *     Q_w + B = N V, 3 and 5 together are (Cauchy-Schwarz) at most
 *         F = N E sqrt(V) sqrt((1 + sqrt 2)^2 + 4 L) + (1 + L) N E^2.
 *  6. Roundings of m2: a product has 3 and goes through at most n additions and two a level; a
 *     merge's term has 7 at most and two a level. All terms' absolute values sum to at most
 *     N V + F, so
 *         |m2 / N - V| <= F/N + gamma(n + 2 L + 7) (V + F/N) + 4 tiny.
 * A constant row is exact: every difference is 0, or is x - 0 with the weights 1 or 0. No claim
 * where counts are not exact (N > 2^24), and where a difference or N V + F come near the largest
 * number. */

/* steps: n = ceil(N / BLOCK), levels: L = log2(BLOCK) of the proof. */
LN_INLINE moments_bound welford_bound(const ln_problem *problem, const ln_row_facts *facts,
                                      double steps, double levels)
{
    if (facts->var == 0.0 && facts->max_dev == 0.0)
        return (moments_bound){0, 0, 0, 0, 1};
    double n = (double)problem->hidden;
    double largest = facts->max_abs, square = facts->var + facts->mean * facts->mean;
    if (n > REAL_EXACT_INTEGERS)
        return bound_none;
    double path = fmin(steps * sqrt(square), largest * (steps + 1) / 2);
    double growth = exp(steps * REAL_UNIT + bound_gamma(4) * (1 + log(steps)));
    double mean = growth * (2 * sqrt(2.0 * facts->var) * bound_gamma(4) + REAL_UNIT * path +
                            REAL_TINY * (steps + 1) / 2);
    mean += bound_gamma(4) * sqrt(levels * facts->var) +
            levels * (REAL_UNIT * sqrt(square) + REAL_TINY);
    mean *= pow(1 + bound_gamma(5), levels) * bound_slack;
    double root = 1 + sqrt(2.0);
    double f =
        mean * sqrt(facts->var) * sqrt(root * root + 4 * levels) + (1 + levels) * mean * mean;
    double error = f + bound_gamma(steps + 2 * levels + 7) * (facts->var + f) + 4 * REAL_TINY;
    if (!(4 * (largest + sqrt(n) * mean) < REAL_MAX && 4 * n * (facts->var + error) < REAL_MAX))
        return bound_none;
    return bound_around(facts->var, error, mean, 0);
}

LN_INLINE moments_bound statistics_bound(const ln_problem *problem, const ln_row_facts *facts)
{
    return welford_bound(problem, facts, ceil((double)problem->hidden / BLOCK), bound_levels());
}

#endif

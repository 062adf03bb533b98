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
 * Bound. V, mu exact; X = max|x|; G = 2 max|x - mu| >= the distance of any two elements, hence of
 * any element from any mean of elements, and of any two such means. n = ceil(N / BLOCK) elements go
 * to an accumulator, L = log2(BLOCK) levels merge. One accumulator, e_k = |mean_k - exact running
 * mean mu_k|:
 *  1. The k-th step adds (x - mean_{k-1})(1/k) with the roundings of the difference, of 1/k and (if
 *     not fused) of the product, then rounds. Since mu_k = mu_{k-1} + (x - mu_{k-1}) / k,
 *         e_k <= e_{k-1} (k - 1)/k + gamma(4) |x - mean_{k-1}| / k + u (X + E) + tiny,
 *     where |x - mean_{k-1}| <= G + e_{k-1}, and the value before its last rounding is a convex
 *     combination of x and mean_{k-1}, |mean_{k-1}| <= X + e_{k-1}, but for terms that gamma(4)
 *     for gamma(3) makes room for. Times k, summed up to n (the first step is exact: e_1 = 0):
 *         e_n <= c1 (G + E) + c2 (X + E) + c3,  c1 = gamma(4), c2 = u (n + 1)/2, c3 = tiny (n + 1)
 *     if all earlier e_k <= E; so by induction e_k <= E for E = (c1 G + c2 X + c3) / (1 - c1 - c2).
 *  2. Its m2. With a_k = x - mu_{k-1}, b_k = x - mu_k = a_k (k-1)/k, sum_{k>=2} a_k b_k = Q, the
 *     exact m2 of the accumulator; sum a_k^2 <= 2 Q, sum b_k^2 <= Q. The product as computed is
 *     (a - e_{k-1})(b - e_k) but for roundings; so (Cauchy-Schwarz; the product of k = 1 is 0) the
 *     products' sum is within (1 + sqrt 2) E sqrt(n Q) + n E^2 of Q, and so is the sum of their
 *     absolute values.
 *  3. A merge: the weight nb / n <= 1/2, since lower accumulators hold as many elements or one
 *     more; the exact merged mean is a convex combination; the difference, the weight and the
 *     product round, then the sum:
 *         E' = E + gamma(4) (G / 2 + E) + u (X + E) + tiny.
 *     It adds d^2 na nb / n to m2. The exact D^2 W, W = na nb / n <= n/4, becomes (D + 2 E)^2 W at
 *     most: 4 E sqrt(W) sqrt(D^2 W) + 4 E^2 W more, summed over a level (Cauchy-Schwarz over its
 *     merges) 2 E sqrt(N B_l) + N E^2, B_l the level's exact D^2 W in all. Over all levels
 *     2 E sqrt(L N B) + L N E^2, with B = sum B_l.
 *  4. All accumulators' Q and B add up to N V. With E the largest (the last level's), 2 and 3 sum
 * up (Cauchy-Schwarz once more) to F = E N sqrt(V) sqrt((1 + sqrt 2)^2 + 4 L) + (1 + L) N E^2.
 *  5. Roundings of m2: a product has 3, goes through at most n additions and two a level; a merge's
 *     term has 7 at most and two a level. All terms' absolute values sum to at most N V + F. So
 *         |m2 / N - V| <= F/N + gamma(n + 2 L + 7) (V + F/N) + 4 tiny.
 * A constant row is exact: every difference is 0, or is x - 0 with the weights 1 or 0. No claim
 * where counts are not exact (N > 2^24), and where a difference or N V + F come near the largest
 * number. */
#ifndef LN_STATISTICS_H
#define LN_STATISTICS_H

typedef struct statistics {
    char nothing;
} statistics;

typedef struct welford_lanes {
    vec mean[UNROLL];
    vec m2[UNROLL];
} welford_lanes;

/* The accumulators again, one by one, for merging. */
typedef struct welford_parts {
    real mean[BLOCK];
    real m2[BLOCK];
    real count[BLOCK];
} welford_parts;

LN_INLINE statistics statistics_prepare(size_t hidden)
{
    (void)hidden;
    return (statistics){0};
}

/* The k-th element of each accumulator; those from left on have no k-th. */
LN_INLINE void welford_add(welford_lanes *lanes, const row *row, size_t i, size_t left, real k)
{
    vec inverse = lane_set(1 / k);
    LN_UNROLLED
    for (size_t u = 0; u < UNROLL; u++) {
        if (left <= u * LANES)
            break;
        size_t n = left - u * LANES;
        vec x = row_first(row, i + u * LANES, n);
        vec before = lane_subtract(x, lanes->mean[u]);
        if (n < LANES)
            before = lane_first(before, n);
        lanes->mean[u] = lane_multiply_add(before, inverse, lanes->mean[u]);
        vec after = lane_subtract(x, lanes->mean[u]);
        lanes->m2[u] = lane_multiply_add(before, after, lanes->m2[u]);
    }
}

/* Merges b into a. A count of 0 on one side or both leaves the other as it is. */
LN_INLINE void welford_merge(welford_parts *parts, size_t a, size_t b)
{
    real count = parts->count[a] + parts->count[b];
    real weight = count > 0 ? parts->count[b] / count : 0;
    real difference = parts->mean[b] - parts->mean[a];
    real scaled = difference * (parts->count[a] * weight);
    real between = scaled * difference;
    real step = difference * weight;
    parts->mean[a] += step;
    parts->m2[a] = (parts->m2[a] + parts->m2[b]) + between;
    parts->count[a] = count;
}

LN_INLINE moments statistics_of(const statistics *statistics, const row *row)
{
    (void)statistics;
    welford_lanes lanes;
    LN_UNROLLED
    for (unsigned u = 0; u < UNROLL; u++)
        lanes.mean[u] = lanes.m2[u] = lane_set(0);
    size_t i = 0, steps = 0;
    for (; row->hidden - i >= BLOCK; i += BLOCK)
        welford_add(&lanes, row, i, BLOCK, (real)++steps);
    size_t left = row->hidden - i;
    welford_add(&lanes, row, i, left, (real)(steps + 1));

    welford_parts parts;
    LN_UNROLLED
    for (size_t u = 0; u < UNROLL; u++) {
        lane_store(parts.mean + u * LANES, lanes.mean[u]);
        lane_store(parts.m2 + u * LANES, lanes.m2[u]);
    }
    for (size_t j = 0; j < BLOCK; j++)
        parts.count[j] = (real)(steps + (j < left));
    for (size_t half = BLOCK / 2; half > 0; half /= 2)
        for (size_t j = 0; j < half; j++)
            welford_merge(&parts, j, j + half);
    return (moments){parts.mean[0], 0, parts.m2[0]};
}

LN_INLINE moments_bound statistics_bound(const ln_problem *problem, const ln_row_facts *facts)
{
    if (facts->var == 0.0 && facts->max_dev == 0.0)
        return (moments_bound){0, 0, 0, 0};
    double n = (double)problem->hidden, levels = bound_levels();
    double steps = ceil(n / BLOCK), reach = 2 * facts->max_dev, largest = facts->max_abs;
    double c1 = bound_gamma(4), c2 = REAL_UNIT * (steps + 1) / 2, c3 = REAL_TINY * (steps + 1);
    if (n > REAL_EXACT_INTEGERS || c1 + c2 > 0.5)
        return bound_none;
    double mean = (c1 * reach + c2 * largest + c3) / (1 - c1 - c2) * bound_slack;
    for (double level = 0; level < levels; level++)
        mean = (mean + bound_gamma(4) * (reach / 2 + mean) + REAL_UNIT * (largest + mean) +
                REAL_TINY) *
               bound_slack;
    double root = 1 + sqrt(2.0);
    double f =
        mean * sqrt(facts->var) * sqrt(root * root + 4 * levels) + (1 + levels) * mean * mean;
    double error = f + bound_gamma(steps + 2 * levels + 7) * (facts->var + f) + 4 * REAL_TINY;
    if (!(4 * (largest + mean) < REAL_MAX && 4 * n * (facts->var + error) < REAL_MAX))
        return bound_none;
    return bound_around(facts->var, error, mean, 0);
}

#endif

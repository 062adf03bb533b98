/* welford: running means in one pass. Each of the BLOCK lanes has its own accumulator; they are merged pairwise.
 *
 *     d = x - mean;  mean += d / k;  m2 += d * (x - mean)                         (k-th element)
 *     n = na + nb;   d = mean_b - mean_a;  mean = mean_a + d nb / n;
 *     m2 = m2_a + m2_b + d^2 na nb / n                                            (merge)
 *
 * (Welford, "Note on a Method for Calculating Corrected Sums of Squares and Products", Technometrics 4, 1962; Chan,
 * Golub, LeVeque, "Updating Formulae and a Pairwise Algorithm for Computing Sample Variances", COMPSTAT 1982.) Reads
 * the row once for the statistics.
 *
 * Bound: bounds/bounds.c. */
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

/* The moments of a group of elements. */
typedef struct welford_moments {
    real mean;
    real m2;
    real count;
} welford_moments;

/* The accumulators as single numbers, for merging. */
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

/* Adds the k-th element of each accumulator; those from `left` on have none. */
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

/* Merges b into a. If one count is 0, the result is the other. */
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

/* Returns the moments of the elements from `first` to `end`. */
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

#endif

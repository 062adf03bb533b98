/* rms: one sweep, sum(x^2), for RMSNorm.
 *
 *     m2 = sum(x^2), mean = 0
 *
 * (Zhang, Sennrich, "Root Mean Square Layer Normalization", 2019.) Nothing is subtracted, so that the error
 * is that of a sum of squares whatever the row; sums of LN_CHUNK blocks are taken over to others.
 *
 * Sums of f64 over 16-bit storage, whose squares are exact in f32, are of such sums of f32 (SWEEP_CHAIN):
 * what 16 blocks of them round is nothing beside storing. A row whose squares f32 may not hold is swept
 * again in f64.
 *
 * Bound: below. */
#ifndef LN_STATISTICS_H
#define LN_STATISTICS_H

#include "moments.h"

/* The kernel's operation is RMSNorm: what its problems ask for is in convention.h. */
#define LN_RMS

typedef struct statistics {
    real inverse; /* 1 / N */
} statistics;

/* Blocks of items that are added up before they go to a sum of f64. */
#if defined(LN_ACCUMULATOR_FILE) && !STORES_F32
#define SWEEP_CHAIN 16
#endif

LN_INLINE statistics statistics_prepare(const ln_problem *problem)
{
    return (statistics){1 / (real)problem->hidden};
}

LN_INLINE moments statistics_found(const statistics *stats, real pivot, real sum, real square)
{
    (void)stats, (void)pivot, (void)sum;
    return (moments){0, 0, square, 1};
}

#ifdef SWEEP_CHAIN
/* Between them, f32 holds the squares that count. */
#define CHAINED_MIN 0x1p-90
#define CHAINED_MAX 0x1p120

/* True of NaNs too. */
LN_INLINE int statistics_is_off(const statistics *stats, moments found)
{
    real mean_square = found.m2 * stats->inverse;
    return !((mean_square >= CHAINED_MIN) & (mean_square <= CHAINED_MAX));
}

#define SWEEP_AGAIN_OWN
LN_RARE moments sweep_again(statistics stats, row view, moments found)
{
    acc sum, square;
    (void)found;
    row_sums_about(&view, 0, &sum, &square);
    return statistics_found(&stats, 0, 0, acc_sum(square));
}
#else
LN_INLINE int statistics_is_off(const statistics *stats, moments found)
{
    (void)stats, (void)found;
    return 0;
}
#endif

#define SWEEP_UNSHIFTED
#define SWEEP_SQUARES
#ifdef LANE_DOT
#define SWEEP_DOTS
#endif
#include "statistics/one_sweep.h"

/* Bound. V = sum(x^2) / N. Q = fl(sum x^2): |Q / N - V| <= gamma(D) V + 2 tiny, the product's rounding
 * being one of the D = sweep_depth(N); each of N products may be subnormal. Nothing is negative. No claim
 * where N V comes near the largest number.
 *
 * Of chains this is the second sweep, whose block is one vector. The first is off by sweep_chain_share(N) V;
 * squares below 2^-126 by 4 tiny of f32, or flushed as in retry.h, step 1. A sum of items that overflows stays
 * infinite, and the row is swept again; so is one where Q / N cannot come to CHAINED_MIN. */
#define STATISTICS_PROBABLE
LN_INLINE moments_bound statistics_bound(const ln_problem *problem, const ln_row_facts *facts,
                                         double lambda)
{
    row_sums sums = sums_of_sweep(problem, facts, lambda);
    double n = (double)problem->hidden, var = facts->var;
    double peak = facts->max_abs * facts->max_abs / var;
#ifdef SWEEP_CHAIN
    const double flushed = CHAIN_PRODUCTS > 1 ? 0x1p-124 : 0;
    sums.depth = ceil(n / LN_LANES) + log2(LN_LANES);
    double chained = sweep_chain_share(problem->hidden) * var + 4 * ITEM_TINY + flushed;
    if (!((var + chained) * (1 + bound_gamma(8)) >= CHAINED_MIN))
        chained = 0;
#else
    const double chained = 0;
#endif
    double error = fmax(sum_error(&sums, 0, var, var, peak) + 2 * REAL_TINY, chained);
    if (var == 0) /* all are 0 */
        error = 0;
    if (!(2 * n * (var + error) < REAL_MAX))
        return bound_none;
    return bound_between(facts, var - error, var + error, 0, 0);
}

#endif

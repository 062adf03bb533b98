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
 * Bound: bounds/bounds.c. */
#ifndef LN_STATISTICS_H
#define LN_STATISTICS_H

#include "moments.h"

/* The kernel's operation is RMSNorm: what its problems ask for is in convention.h. */
#define LN_RMS

typedef struct statistics {
    real inverse; /* 1 / N */
} statistics;

/* Blocks of items that are added up before they go to a sum of f64. */
#if SUMS_ARE_LONGER && !STORES_F32
#define SWEEP_CHAIN RMS_CHAIN
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

#endif

/* rms: one sweep, sum(x^2), for RMSNorm.
 *
 *     m2 = sum(x^2), mean = 0
 *
 * (Zhang, Sennrich, "Root Mean Square Layer Normalization", 2019.) Nothing is subtracted, so that the error
 * is that of a sum of squares for every row; sums of LN_CHUNK blocks are added to other sums.
 *
 * f64 sums over 16-bit storage, whose squares are exact in f32, are sums of f32 sums (SWEEP_CHAIN):
 * the roundings of 16 blocks are negligible compared with that of y. A row whose squares may overflow or underflow in
 * f32 is swept again in f64.
 *
 * Bound: bounds/bounds.c. */
#ifndef LN_STATISTICS_H
#define LN_STATISTICS_H

#include "moments.h"

/* The kernel's operation is RMSNorm (convention.h). */
#define LN_RMS

typedef struct statistics {
    real inverse; /* 1 / N */
} statistics;

/* The number of blocks that are added in items before they are added to an f64 sum. */
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
/* Also true for NaNs. */
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

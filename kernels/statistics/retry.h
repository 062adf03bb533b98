/* retry: the sums of naive, with a test whether they were accurate enough.
 *
 *     d = sum(x) / N             m2 = sum(x^2) - sum(x) * d
 *
 * This is the sweep of shifted.h with pivot 0, which needs no subtraction and can begin at once. A row is swept again,
 * with pivot d as in shifted.h, if d^2 > k m2 / N (k = retry_most(): 4 for f32, 32 for 16-bit storage, up to 1024 for
 * f32 with f64 sums), or if its variance is outside 2^-90 ... 2^120. So no row has an error that grows with kappa^2,
 * and rows far from zero cost a second sweep.
 *
 * If lanes have products of pairs (LANE_DOT: AVX512-BF16), 32 elements take two instructions, which treat subnormals as
 * zeros: these are negligible compared with the smallest variance that passes.
 *
 * f64 sums over 16-bit storage (SWEEP_CHAIN) are sums of items for up to 32 elements each, whose squares are exact:
 * eight bf16 or four f16 in each lane, then lanes are added until eight are left (ACC_OCTETS), so that y is within 0.51
 * row ULP. A row whose mean is more than 5.6 (f16: 3.5) standard deviations from zero is swept again in f64, like rows
 * of f32.
 *
 * Bound: bounds/bounds.c. */
#ifndef LN_STATISTICS_H
#define LN_STATISTICS_H

#include "moments.h"

typedef struct statistics {
    real inverse; /* 1 / N */
    real most;    /* the largest mean^2 / var without a second sweep */
} statistics;

#if SUMS_ARE_LONGER && !STORES_F32
#define CHAIN_OF LN_PASTE(CHAIN_OF_, LN_STORAGE)
#define SWEEP_CHAIN (CHAIN_OF / LN_UNROLL)
_Static_assert(LN_UNROLL <= CHAIN_OF, "a chain is a block at least");

#define CHAIN_MOST LN_PASTE(CHAIN_MOST_, LN_STORAGE)
#endif

/* Returns the largest mean^2 / var without a second sweep; with SWEEP_CHAIN, that of the sweep in f64. */
LN_INLINE double retry_most_of_row(size_t hidden)
{
#ifdef SWEEP_CHAIN
    const double block = LN_LANES;
#else
    const double block = BLOCK;
#endif
    return retry_most((double)hidden / block, LN_PASTE(UNIT_, LN_STORAGE), REAL_UNIT);
}

LN_INLINE statistics statistics_prepare(const ln_problem *problem)
{
    real most = (real)retry_most_of_row(problem->hidden);
#ifdef SWEEP_CHAIN
    most = (real)lesser(most, CHAIN_MOST);
#endif
    return (statistics){1 / (real)problem->hidden, most};
}

LN_INLINE moments statistics_found(const statistics *stats, real pivot, real sum, real square)
{
    real rest = sum * stats->inverse;
    real correction = sum * rest;
    real m2 = square - correction;
    return (moments){pivot, rest, m2 < 0 ? 0 : m2, 1}; /* a NaN stays one */
}

/* Also true for NaNs: the second sweep, which subtracts the mean, shows whether the row has a NaN or only its squares
 * overflowed. */
LN_INLINE int statistics_is_off(const statistics *stats, moments found)
{
    real var = found.m2 * stats->inverse;
    return !((found.rest * found.rest <= stats->most * var) & (var >= (real)RETRY_VAR_MIN) &
             (var <= (real)RETRY_VAR_MAX));
}

#define STATISTICS_RETRY
/* From kappa 1e7 on in f32, the sum about zero gives a mean that is too inaccurate for the second sweep. */
#define SWEEPS_AGAIN (SUMS_ARE_LONG ? 1 : 2)
#define SWEEP_UNSHIFTED
#ifdef SWEEP_CHAIN
#define SWEEP_AGAIN_OWN

LN_INLINE moments sweep_long(const statistics *stats, const row *view, real pivot)
{
    acc sum, square;
    row_sums_about(view, pivot, &sum, &square);
    return statistics_found(stats, pivot, acc_sum(sum), acc_sum(square));
}

/* Sweeps again as for rows of f32, with all sums in f64. */
LN_RARE moments sweep_again(statistics stats, row view, moments found)
{
    found = sweep_long(&stats, &view, 0);
    stats.most = (real)retry_most_of_row(view.hidden);
    return statistics_is_off(&stats, found) ? sweep_long(&stats, &view, (real)(float)found.rest)
                                            : found;
}
#endif
#ifdef LANE_DOT
#define SWEEP_DOTS
#endif
#include "statistics/one_sweep.h"

#endif

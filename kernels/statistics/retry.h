/* retry: naive's sums, and a look at whether they were good enough.
 *
 *     d = sum(x) / N             m2 = sum(x^2) - sum(x) * d
 *
 * that is shifted.h's sweep with pivot 0, which needs no subtraction and nothing before it can
 * begin. A row is swept once more, with pivot d, as shifted does, where d^2 > k m2 / N (k =
 * retry_most(): 4 of f32, 32 of 16-bit storage, up to 1024 of f32 with sums of f64), or where its
 * variance is outside 2^-90 ... 2^120: so what naive loses to kappa^2 is lost by no row, and rows far
 * off the centre cost a second sweep.
 *
 * Where lanes have products of pairs (LANE_DOT: AVX512-BF16), 32 elements cost two instructions,
 * which take subnormals for zeros: next to the least variance that passes, those are nothing.
 *
 * Sums of f64 over 16-bit storage (SWEEP_CHAIN) are of items for up to 32 elements each, whose squares
 * are exact: of bf16 eight in a lane, of f16 four, then over lanes until eight are left (ACC_OCTETS),
 * so that y is within .51 row ULP. A row whose mean is more than 5.6 standard deviations from zero, of
 * f16 3.5, is swept again in f64, as rows of f32 are.
 *
 * Bound: bounds/bounds.c. */
#ifndef LN_STATISTICS_H
#define LN_STATISTICS_H

#include "moments.h"

typedef struct statistics {
    real inverse; /* 1 / N */
    real most;    /* what mean^2 / var may be */
} statistics;

#if SUMS_ARE_LONGER && !STORES_F32
#define CHAIN_OF LN_PASTE(CHAIN_OF_, LN_STORAGE)
#define SWEEP_CHAIN (CHAIN_OF / LN_UNROLL)
_Static_assert(LN_UNROLL <= CHAIN_OF, "a chain is a block at least");

#define CHAIN_MOST LN_PASTE(CHAIN_MOST_, LN_STORAGE)
#endif

/* What mean^2 / var may be; with SWEEP_CHAIN, of the sweep in f64. */
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

/* True of NaNs too: whether a row has one, or its squares went beyond the largest number, is seen
 * with its mean taken away. */
LN_INLINE int statistics_is_off(const statistics *stats, moments found)
{
    real var = found.m2 * stats->inverse;
    return !((found.rest * found.rest <= stats->most * var) & (var >= (real)RETRY_VAR_MIN) &
             (var <= (real)RETRY_VAR_MAX));
}

#define STATISTICS_RETRY
/* A sum about zero loses the mean of rows so far off: from kappa 1e7 on, in f32. */
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

/* As rows of f32 are swept, where all sums are of f64. */
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

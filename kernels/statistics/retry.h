/* retry: naive's sums, and a look at whether they were good enough.
 *
 *     d = sum(x) / N             m2 = sum(x^2) - sum(x) * d
 *
 * that is shifted.h's sweep with pivot 0, which needs no subtraction and nothing before it can
 * begin. A row whose mean is more than two standard deviations from zero (d^2 > 4 m2 / N; more where
 * sums are f64 and elements f32, retry_most()), or whose variance is not within 2^-90 ... 2^120, is swept once
 * more, with pivot d, as shifted does: so what naive loses to kappa^2 is lost by no row, and rows
 * far off the centre cost a second sweep.
 *
 * Where lanes have products of pairs (LANE_DOT: AVX512-BF16), 32 elements cost two instructions,
 * which take subnormals for zeros: next to the least variance that passes, those are nothing.
 *
 * Bound: proven below, beside the code that computes it. */
#ifndef LN_STATISTICS_H
#define LN_STATISTICS_H

#include "moments.h"

typedef struct statistics {
    real inverse; /* 1 / N */
    real most;    /* what mean^2 / var may be */
} statistics;

/* Beside long sums, errors of rstd of a 2^-8 of an item's unit are fine (apply/split.h). */
LN_INLINE double retry_most(size_t hidden)
{
    double depth = (double)hidden / BLOCK;
    return ITEMS_ARE_LONG ? 1024 : SUMS_ARE_LONG ? fmin(1024, 0x1p19 / depth) : 4;
}

LN_INLINE statistics statistics_prepare(const ln_problem *problem)
{
    return (statistics){1 / (real)problem->hidden, (real)retry_most(problem->hidden)};
}

LN_INLINE moments statistics_found(const statistics *stats, real pivot, real sum, real square)
{
    real rest = sum * stats->inverse;
    real correction = sum * rest;
    real m2 = square - correction;
    return (moments){pivot, rest, m2 < 0 ? 0 : m2, 1}; /* a NaN stays one */
}

#define RETRY_VAR_MIN 0x1p-90
#define RETRY_VAR_MAX 0x1p120

/* True of NaNs too: whether a row has one, or its squares went beyond the largest number, is seen
 * with its mean taken away. */
LN_INLINE int statistics_is_off(const statistics *stats, moments found)
{
    real var = found.m2 * stats->inverse;
    return !((found.rest * found.rest <= stats->most * var) & (var >= (real)RETRY_VAR_MIN) &
             (var <= (real)RETRY_VAR_MAX));
}

#define STATISTICS_RETRY
#ifdef LANE_DOT
#define SWEEP_DOTS
#endif
#define SWEEP_UNSHIFTED
#include "statistics/one_sweep.h"

/* Bound. V the exact biased variance, mu the exact mean, u = REAL_UNIT, k = retry_most().
 *  1. The first sweep is bound_sweep() of moments.h with pivot 0, hence a = |mu|, but for two things
 *     where items are f32. A lane may take two products an instruction, each rounded: the depth is
 *     2 (sweep_depth(N) - log2(BLOCK)) + log2(BLOCK) at most. And what is below 2^-126 may be
 *     flushed, x, a product, or a sum: of no element more than 4 times, so that d is off by f =
 *     2^-124 more, m2 / N by f + 2 |mu| f + f^2 more, and what that rounds (1 + u).
 *  2. If the check passed, |d| <= sqrt(k m2 / N) (1 + gamma(8)), as in step 3 of shifted.h: with
 *     |mu| <= |d| + delta(|mu|) and m2 / N <= V + F(|mu|) that rules out every row whose |mu| is
 *     more than g(|mu|), see there. Those have been swept again.
 *  3. If not, the pivot is d: |mu - d| <= delta(|mu|), and the second sweep is without products of
 *     pairs: bound_sweep() holds for it.
 *     Where items are long it is p, the f32 nearest to d. No f32 lies nearer to d, no element either:
 *     |x - mu| >= |p - d| - delta for all of them, so that sqrt(V) is no less, and |mu - p| <=
 *     sqrt(V) + 2 delta. Of a constant row (one of zeros, or one that 2 says was swept again) p is
 *     the element, if delta < 2^-26 |mu|, a quarter of the least gap beside it: then all x - p are
 *     0, and all that is found is exact.
 *  The claim is the larger of 1, unless ruled out, and 3.
 * No claim where N (V + mu^2) or N max_abs come near the largest number. */

/* Step 1. */
LN_INLINE moments_bound retry_first(row_sums sums, double var, double mu)
{
    const double flushed = SUMS_ARE_LONG ? 0 : 0x1p-124;
    sums.depth = (SUMS_ARE_LONG ? 1 : 2) * (sums.depth - bound_levels()) + bound_levels() + WIDE;
    moments_bound sweep = bound_sweep_of(&sums, var, mu);
    double more = (flushed + 2 * mu * flushed + flushed * flushed) * (1 + REAL_UNIT) * bound_slack;
    sweep.mean += flushed;
    sweep.rest += flushed;
    sweep.var_lo = fmax(0.0, sweep.var_lo - more);
    sweep.var_hi += more + DOUBLE_UNIT * sweep.var_hi;
    return sweep;
}

/* Step 3: |mu - pivot|. */
LN_INLINE double retry_again(const moments_bound *first, double var, double mu)
{
    double off =
        SUMS_ARE_LONG ? sqrt(var) + 2 * first->mean : first->mean + REAL_UNIT * (mu + first->mean);
    return off * bound_slack;
}

#define STATISTICS_PROBABLE
LN_INLINE moments_bound statistics_bound(const ln_problem *problem, const ln_row_facts *facts,
                                         double lambda)
{
    double n = (double)problem->hidden, mu = fabs(facts->mean), var = facts->var;
    /* Products of pairs are added up in another order. */
    int in_pairs = LN_PASTE(UNIT_, LN_STORAGE) > UNIT_f32;
    const row_sums sums = sums_of_sweep(problem, facts, in_pairs ? 0 : lambda);
    moments_bound first = retry_first(sums, var, mu);
    if (!(4 * n * facts->max_abs < REAL_MAX && 32 * n * (var + mu * mu) < REAL_MAX &&
          first.var_hi < REAL_MAX))
        return bound_none;
    moments_bound second = bound_sweep_of(&sums, var, retry_again(&first, var, mu));
    double passes =
        (sqrt(retry_most(problem->hidden) * first.var_hi) * (1 + bound_gamma(8)) + first.mean) *
        bound_slack;
    if (SUMS_ARE_LONG && facts->max_dev == 0 &&
        (mu == 0 || (mu > passes && first.mean < 0x1p-26 * mu)))
        return (moments_bound){0, 0, 0, 0, 1};
    if (mu > passes)
        return second;
    return (moments_bound){fmax(first.mean, second.mean), fmax(first.rest, second.rest),
                           fmin(first.var_lo, second.var_lo), fmax(first.var_hi, second.var_hi), 1};
}

#endif

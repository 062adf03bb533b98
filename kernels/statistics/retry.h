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
 * Bound: proven below, beside the code that computes it. */
#ifndef LN_STATISTICS_H
#define LN_STATISTICS_H

#include "moments.h"

typedef struct statistics {
    real inverse; /* 1 / N */
    real most;    /* what mean^2 / var may be */
} statistics;

#if defined(LN_ACCUMULATOR_FILE) && !STORES_F32
#define CHAIN_OF_bf16 8
#define CHAIN_OF_f16 4
#define CHAIN_OF LN_PASTE(CHAIN_OF_, LN_STORAGE)
#define SWEEP_CHAIN (CHAIN_OF / LN_UNROLL)
_Static_assert(LN_UNROLL <= CHAIN_OF, "a chain is a block at least");

/* What mean^2 / var may be of sums by chains. At 32 a relative error e of the sums becomes about 100 e of
 * var; at 16 the three roundings of f16 would prove .5113 row ULP. */
#define CHAIN_MOST_bf16 32
#define CHAIN_MOST_f16 12
#define CHAIN_MOST LN_PASTE(CHAIN_MOST_, LN_STORAGE)
#endif

/* What mean^2 / var may be; with SWEEP_CHAIN, of the sweep in f64. Beside long sums, errors of rstd of a
 * 2^-8 of an item's unit are fine (apply/split.h). Sums of items over 16-bit storage are off by as much
 * as they are long: f16 rows of two values came out .534 row ULP off at 12288 with 32, where they have 8. */
LN_INLINE double retry_most(size_t hidden)
{
#ifdef SWEEP_CHAIN
    double depth = (double)hidden / LN_LANES;
#else
    double depth = (double)hidden / BLOCK;
#endif
    if (SUMS_ARE_LONG)
        return lesser(1024, 0x1p19 / depth);
    const double unit = LN_PASTE(UNIT_, LN_STORAGE);
    return ITEMS_ARE_LONG    ? 1024
           : unit > UNIT_f32 ? greater(4, lesser(32, 0x3p20 * unit / depth))
                             : 4;
}

LN_INLINE statistics statistics_prepare(const ln_problem *problem)
{
    real most = (real)retry_most(problem->hidden);
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
    stats.most = (real)retry_most(view.hidden);
    return statistics_is_off(&stats, found) ? sweep_long(&stats, &view, (real)(float)found.rest)
                                            : found;
}
#endif
#ifdef LANE_DOT
#define SWEEP_DOTS
#endif
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
 *  4. Chains: by sweep_chain_share() = e, sums are off by e R N and e R^2 N: bound_of_sums(). A square is
 *     exact, or, below 2^-126, off by half of the smallest number, or with two products an instruction
 *     flushed as in 1. If a sum of items overflows, so does that of their squares,
 *     which stays infinite: the row does not pass. Whether one passes is as in 2, with k = CHAIN_MOST;
 *     one that does not is 1 to 3, where the first sweep is sweep_long(), whose block is a vector.
 * The claim is the larger of 1, unless ruled out, and 3; and of 4, unless ruled out.
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

/* What passes has no larger |mu|: step 2. */
LN_INLINE double retry_passes(const moments_bound *found, double most)
{
    return (sqrt(most * found->var_hi) * (1 + bound_gamma(8)) + found->mean) * bound_slack;
}

LN_INLINE moments_bound retry_either(const moments_bound *a, const moments_bound *b)
{
    return (moments_bound){fmax(a->mean, b->mean), fmax(a->rest, b->rest),
                           fmin(a->var_lo, b->var_lo), fmax(a->var_hi, b->var_hi), 1};
}

#ifdef SWEEP_CHAIN
/* Step 4. */
LN_INLINE moments_bound retry_chained(const ln_problem *problem, double var, double mu)
{
    double share = sweep_chain_share(problem->hidden), square = var + mu * mu;
    const double flushed = CHAIN_PRODUCTS > 1 ? 0x1p-124 : 0;
    return bound_of_sums(var, mu, share * sqrt(square) + flushed,
                         share * square + 4 * ITEM_TINY + flushed);
}
#endif

/* Steps 1 to 3. */
LN_INLINE moments_bound retry_bound(const ln_problem *problem, const ln_row_facts *facts,
                                    double lambda)
{
    double n = (double)problem->hidden, mu = fabs(facts->mean), var = facts->var;
    /* Products of pairs are added up in another order, and so are chains: no probable bound. */
    int is_short = LN_PASTE(UNIT_, LN_STORAGE) > UNIT_f32;
    row_sums sums = sums_of_sweep(problem, facts, is_short ? 0 : lambda);
#ifdef SWEEP_CHAIN
    sums.depth = ceil(n / LN_LANES) + log2(LN_LANES);
#endif
    moments_bound first = retry_first(sums, var, mu);
    if (!(4 * n * facts->max_abs < REAL_MAX && 32 * n * (var + mu * mu) < REAL_MAX &&
          first.var_hi < REAL_MAX))
        return bound_none;
    moments_bound second = bound_sweep_of(&sums, var, retry_again(&first, var, mu));
    double passes = retry_passes(&first, retry_most(problem->hidden));
    if (SUMS_ARE_LONG && facts->max_dev == 0 &&
        (mu == 0 || (mu > passes && first.mean < 0x1p-26 * mu)))
        return (moments_bound){0, 0, 0, 0, 1};
    return mu > passes ? second : retry_either(&first, &second);
}

#define STATISTICS_PROBABLE
LN_INLINE moments_bound statistics_bound(const ln_problem *problem, const ln_row_facts *facts,
                                         double lambda)
{
    moments_bound claim = retry_bound(problem, facts, lambda);
#ifdef SWEEP_CHAIN
    double mu = fabs(facts->mean);
    moments_bound chained = retry_chained(problem, facts->var, mu);
    if (chained.var_hi >= RETRY_VAR_MIN * (1 - bound_gamma(8)) &&
        mu <= retry_passes(&chained, CHAIN_MOST))
        return retry_either(&claim, &chained);
#endif
    return claim;
}

#endif

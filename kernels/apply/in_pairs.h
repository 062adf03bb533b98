/* in_pairs: xhat in two numbers, so that y rounds once, and where beta is added twice.
 *
 *     x - mean = d + e           p + l = (d + e)(rstd + its rest), p = d rstd rounded
 *     y = p gamma + (l gamma + beta)
 *
 * For the statistics `doubled` and the schedule `alone`, which computes this.
 *
 * Bound, u = 2^-53, N elements in B accumulators of n = ceil(N / B) terms, D = max|x - mu|, a = |mu -
 * m| for the first mean m, A = a / D.
 *  1. p being an element, |x - p| <= 2 D: with the depth of one turn, as bound_sweep(),
 *     A <= 2 gamma(n + log2(B) + 4) + u |mu| / D (1 + u) + the like of the former.
 *  2. A sum of terms t in pairs. What it rounds is kept exactly: n + B partial sums, each off by u of
 *     at most sum|t|, and what t itself, or a product, is given beside it, at most 4 u of that. These
 *     rests are added up by at most k = n + 2 B + 8 roundings:
 *         |S' - S| <= E sum|t|,  E = gamma(k) u (n + B + 8) + 8 u^2.
 *  3. mean: sum|t| <= N D (1 + A), and S / N rounds 5 u^2 of at most D (A + E (1 + A)): all parts are
 *     kept, so that |mean - mu| <= D f, f = E (1 + A) + 5 u^2 (A + E (1 + A)).
 *  4. m2: Q' and S'^2 / N are pairs. sum t^2 = N (V + a^2), V >= D^2 / N the variance: relative to N V
 *     Q' is off by (E + 32 u^2)(1 + N A^2), and S^2 / N by 2 N A (1 + A) E + N (E (1 + A))^2, and what
 *     it rounds, in the first term. Their sum h <= 1/4 is rstd's relative error, with room for that
 *     half of it does not need, and 64 u^2 more for quotient, root and reciprocal in pairs: eps only
 *     makes it less. (A row that is `far` neglects 2^-250.)
 *  5. (d + e): x - m, first part, is exact in two; less the second part rounds where the first did:
 *     then x - m is more than half of m, and that is 3 u^2 |x - m|; less the third, u^2 D (1 + A). The
 *     product keeps what d rstd rounds, and rounds 8 u^2 of itself. With M = max|xhat|, eps on the
 *     quotient in it (which is added in a pair, too),
 *         |p + l - xhat| <= X = M (h + f + 64 u^2 (1 + A)) + tiny.
 *  6. y = p + l rounds once. p gamma + (l gamma) too, but for u^2. p gamma + (l gamma + beta): |beta|
 *     and what is less than 3 u of |gamma| M rounds, then the whole. gamma1 is 1 + gamma in two parts,
 *     the second of which is treated as l is. Rows that are `far` round gamma xhat, and the sum.
 *  Nothing overflows but what is infinite: a row is at a scale where x - m or squares do not.
 * All of it is relative to |gamma| M + |beta|, and stands in affine_rel. Two roundings of at most half
 * a unit in the last place of that are one row ULP, but for a few u^2; affine_rel has to say 2 u,
 * which may come to two. */
#ifndef LN_APPLY_H
#define LN_APPLY_H

#ifndef LN_LANE_FILE
#include "statistics/doubled.h"
#endif
#include "moments.h"

typedef double factor;
#define FACTOR f64

#define APPLY_IN_PAIRS
#define APPLY_BOUND(problem, facts) in_pairs_bound(problem, facts)

LN_INLINE ln_bound in_pairs_bound(const ln_problem *problem, const ln_row_facts *facts)
{
    ln_affine affine = problem->convention.affine;
    double u = REAL_UNIT, n = (double)problem->hidden, turn = ceil(n / BLOCK), off = 0;
    double least = 0x1p-1074, dev = facts->max_dev, mu = fabs(facts->mean), doubt = 1;
    if (isnan(facts->rstd)) /* equal elements, whose 0 is divided by 0 */
        return (ln_bound){dev == 0 ? 0 : INFINITY, 0};
    if (dev < 0x1p-960 && facts->max_abs < 0x1p-900) {
        doubt = 2; /* dev may be twice what it stands for, and mu 0 */
        mu += least;
    }
    if (dev > 0)
        off = (2 * bound_gamma(turn + bound_levels() + 4) + doubt * u * (mu / dev)) * (1 + 4 * u);
    double sums = bound_gamma(turn + 2 * BLOCK + 8) * u * (turn + BLOCK + 8) + 8 * u * u;
    double mean = sums * (1 + off) + 5 * u * u * (off + sums * (1 + off));
    double more = sums * (1 + off),
           m2 = (sums + 32 * u * u) * (1 + n * off * off) + 2 * n * off * more + n * more * more;
    double relative = (m2 + mean + 128 * u * u * (1 + off)) * (1 + 8 * u) + 16 * u * u;
    double roundings = affine == LN_AFFINE_NONE || affine == LN_AFFINE_GAMMA ? 1 : 2;
    if (!(m2 < 0.25))
        return (ln_bound){INFINITY, 0};
    return (ln_bound){0, (roundings * u + relative) * bound_slack};
}

#endif

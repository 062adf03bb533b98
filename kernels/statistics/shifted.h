/* shifted: one sweep over x - pivot, the pivot taken from a few of the row's elements.
 *
 *     p = mean of min(N, P) elements, P = PIVOT_ELEMENTS                 t = x - p
 *     d = sum(t) / N                                     m2 = sum(t^2) - sum(t) * d
 *     mean = p + d, kept in these two parts
 *
 * (Chan, Golub, LeVeque, 1983, section 3, "shifted data"; formula 1.3 on x - p.) Reads the row
 * once; the first elements are still in L1 when the sweep begins. What naive loses to kappa^2, this
 * loses to (mean - p)^2 / var. A pivot that is far off is found out by d^2 > 4 m2 / N, and the row
 * is swept once more, with pivot p + d. (4, since a ramp, whose first elements lie sqrt(3) standard
 * deviations from the mean, should pass: a smaller factor proves a smaller bound, but costs such
 * rows a second sweep.)
 *
 * The elements are the first ones; in long rows, of more than LN_CHUNK blocks, medians of three, lane
 * by lane: of the first block, one from the middle and the last. Sums of long rows are taken over to
 * others after each chunk. Both keep rows of few different values, or with one large element, from
 * rounding all alike (docs/lab/experiments.md, "shifted").
 *
 * Bound: proven below, beside the code that computes it. */
#ifndef LN_STATISTICS_H
#define LN_STATISTICS_H

#include "moments.h"

/* The pivot's elements: enough that their mean is seldom two standard deviations off. */
enum { PIVOT_VECTORS = LN_LANES < 8 ? UNROLL : 1, PIVOT_ELEMENTS = PIVOT_VECTORS * LN_LANES };

/* 1024 elements of AVX-512: shorter rows, which depend on every operation more, have one chunk. */
_Static_assert(LN_CHUNK >= 4, "three blocks of a long row must be three");

typedef struct statistics {
    real inverse;       /* 1 / N */
    real pivot_inverse; /* 1 / min(N, PIVOT_ELEMENTS) */
} statistics;

LN_INLINE statistics statistics_prepare(const ln_problem *problem)
{
    size_t hidden = problem->hidden;
    return (statistics){1 / (real)hidden,
                        1 / (real)(hidden < PIVOT_ELEMENTS ? hidden : PIVOT_ELEMENTS)};
}

/* Of numbers, the second in size; a NaN may get lost. */
LN_INLINE vec median_of_three(vec a, vec b, vec c)
{
    return lane_maximum(lane_minimum(a, b), lane_minimum(lane_maximum(a, b), c));
}

/* The first column of the middle block of a long row, and of its last. */
LN_INLINE size_t pivot_middle(const row *view)
{
    return (view->hidden / BLOCK - 1) / 2 * BLOCK;
}

LN_INLINE size_t pivot_end(const row *view)
{
    return (view->hidden / BLOCK - 1) * BLOCK;
}

/* One element for each lane, from column i of a block on. Adds up again, where there is a residual:
 * this does not count as a touch. */
LN_INLINE vec pivot_elements(const row *view, int is_long, size_t i)
{
    vec first = row_add_up(view, i, view->hidden - i);
    if (!is_long)
        return first;
    return median_of_three(first, row_add_up(view, pivot_middle(view) + i, LANES),
                           row_add_up(view, pivot_end(view) + i, LANES));
}

LN_INLINE acc statistics_pivot_sum(const row *view, int is_long)
{
    acc sums[UNROLL];
    LN_UNROLLED
    for (size_t u = 0; u < PIVOT_VECTORS; u++) {
        sums[u] = acc_set(0);
        if (view->hidden > u * LANES)
            sums[u] = acc_of(pivot_elements(view, is_long, u * LANES));
    }
    if (PIVOT_VECTORS == 1)
        return sums[0];
    return parts_sum(sums);
}

/* Asks memory for what a row's pivot will want, but for its first elements. The row need not exist.
 */
LN_INLINE void statistics_pivot_fetch(const row *view, int is_long)
{
    for (int i = 0; is_long && i < 2; i++) {
        size_t at = (i ? pivot_end(view) : pivot_middle(view)) * sizeof(storage);
        fetch_line((uintptr_t)view->x + at, fetches_to_l2());
        if (view->form != RESIDUAL_NONE)
            fetch_line((uintptr_t)view->residual + at, fetches_to_l2());
    }
}

LN_INLINE real statistics_pivot_of(const statistics *stats, real sum)
{
    return sum * stats->pivot_inverse;
}

LN_INLINE moments statistics_found(const statistics *stats, real pivot, real sum, real square)
{
    real rest = sum * stats->inverse;
    real correction = sum * rest;
    real m2 = square - correction;
    return (moments){pivot, rest, m2 < 0 ? 0 : m2, 1}; /* a NaN stays one */
}

LN_INLINE int statistics_is_off(const statistics *stats, moments found)
{
    return found.rest * found.rest > 4 * (found.m2 * stats->inverse);
}

#include "statistics/one_sweep.h"

/* Bound. D = sweep_depth(N), V the exact biased variance, a = mu - p for the pivot as it is.
 *  1. One sweep, given a bound on |a|: bound_sweep() of moments.h. The errors of d (delta) and of m2
 *     (call it F) grow with |a|.
 *  2. How far off the first pivot is. The mean of a subset of b = P of the N elements is within
 *     min(max_dev, sqrt(V (N - b) / b)) of mu (Cauchy-Schwarz), whichever they are: medians of
 *     three are elements too, and of different columns. So with the roundings of the pivot,
 *     |a| <= a1 = that + gamma(log2(BLOCK) + 3) max_abs + tiny.
 *  3. If the check passed, fl(d^2) <= fl(4 fl(m2 fl(1/N))), hence with |a| <= |d| + delta
 *         |a| <= g(|a|) = sqrt(4 (V + F(a)) (1 + gamma(8)) + 2^10 tiny) + delta(a).
 *     g(a) / a falls as a grows (F is at most quadratic in a, delta at most linear), so g(b) < b
 *     rules out every a >= b: any such b bounds |a|. Put in again, g(b) is a bound too.
 *  4. If it did not pass, the second pivot is fl(p + d): |a| <= delta(a1) + u (|mu| + delta(a1)).
 *  The claim is that of the largest |a| that 3 (or 2, where that is less) and 4 leave.
 * No claim where N (V + a^2) or N max_abs come near the largest number. */

/* Step 3: the largest |mu - pivot| that passes the check, infinite where every one might. */
LN_INLINE double passed_bound(const row_sums *sums, double var)
{
    double b = 2.5 * sqrt(var) + 64 * sqrt(REAL_TINY), best = INFINITY;
    for (int tries = 0; tries < 60; tries++) {
        moments_bound at = bound_sweep_of(sums, var, b);
        double g = (sqrt(4 * at.var_hi * (1 + bound_gamma(8)) + 0x1p10 * REAL_TINY) + at.mean) *
                   bound_slack;
        if (!(g < b)) {
            if (isfinite(best))
                return best;
            b *= 1.5;
        } else {
            best = b;
            if (g > 0.999 * b)
                return best;
            b = 1.0001 * g;
        }
    }
    return best;
}

#define STATISTICS_PROBABLE
LN_INLINE moments_bound statistics_bound(const ln_problem *problem, const ln_row_facts *facts,
                                         double lambda)
{
    const row_sums sums = sums_of_sweep(problem, facts, lambda);
    double n = (double)problem->hidden, var = facts->var;
    double pivots = PIVOT_ELEMENTS;
    double subset = n > pivots ? fmin(facts->max_dev, sqrt(var * (n - pivots) / pivots)) : 0.0;
    double first =
        (subset + bound_gamma(bound_levels() + 3) * facts->max_abs + REAL_TINY) * bound_slack;
    moments_bound first_sweep = bound_sweep_of(&sums, var, first);
    double second =
        (first_sweep.mean + REAL_UNIT * (fabs(facts->mean) + first_sweep.mean)) * bound_slack;
    if (!(4 * n * facts->max_abs < REAL_MAX && 32 * n * (var + first * first) < REAL_MAX &&
          first_sweep.var_hi < REAL_MAX))
        return bound_none;
    return bound_sweep_of(&sums, var, fmax(second, fmin(first, passed_bound(&sums, var))));
}

#endif

/* split: x * rstd + a, a = quotient - mean * rstd, rstd and a in two items each: what the first parts
 * leave is added with gamma and beta, where it costs no rounding of xhat's size.
 *
 *     rstd = r + l      a = b + c      s = x r + b      w = x l + c      y = s gamma + (w gamma + beta)
 *
 * Four fused operations, no conversion. x r is not rounded, so that a mean far from zero costs nothing:
 * s, the sum within the brackets and y round once each.
 *
 * Beside 16-bit storage l and c, 2^-24 of r and a, are little (of f16 .004 row ULP): there y = s gamma
 * + beta, with a = quotient - mean * r.
 *
 * A row is strange where that is not enough: where statistics took a pivot (retry.h: its mean is more
 * than 32 standard deviations from zero, or less in long rows), rstd outside 2^-90 ... 2^90, an eps on
 * the quotient above 2^-6, xhat near subnormal numbers, or a NaN. Such rows are made in the
 * accumulators' type (schedule/call.h).
 *
 * Bound: proven below, beside the code that computes it. */
#ifndef LN_APPLY_H
#define LN_APPLY_H

#include "moments.h"

/* The type in which rstd is computed. */
typedef double factor;
#define FACTOR f64

#define CENTRE_CHECKED
#define CENTRE_SPLIT
#if STORES_F32
#define CENTRE_IN_TWO
#endif
#define SPLIT_RSTD_LEAST 0x1p-90
#define SPLIT_RSTD_MOST 0x1p90
#define SPLIT_MEAN_MOST 0x1p5 /* of mean / sqrt(var) where statistics took no pivot */
#define SPLIT_QUOTIENT_MOST 0x1p-6
#define SPLIT_SQUARES_LEAST 0x1p-60 /* of sum((x - mean)^2) rstd^2 */

/* rstd need not be an item (convention.h). */
#undef RSTD_MAX
#undef RSTD_MIN
#define RSTD_MAX FACTOR_MAX
#define RSTD_MIN FACTOR_MIN

/* The numbers that are the same for all elements of a row: schedules that compute those of several
 * rows at once keep them so. */
#ifdef CENTRE_IN_TWO
enum { CENTRE_PARTS = 4 };
#else
enum { CENTRE_PARTS = 2 };
#endif

typedef struct centre {
    vec rstd;
    vec addend;
#ifdef CENTRE_IN_TWO
    vec rstd_rest;
    vec addend_rest;
#endif
    int strange; /* the row is not for items: apply_in_double(), schedule/call.h */
    double mean;
    double rest;
    double rstd_of_row;
} centre;

#ifdef CENTRE_IN_TWO
/* xhat in two parts. */
typedef struct normalised {
    vec first;
    vec rest;
} normalised;
#else
typedef vec normalised;
#endif

LN_INLINE void centre_parts(moments found, factor rstd, double quotient, item parts[CENTRE_PARTS])
{
    item first = (item)rstd;
    parts[0] = first;
    /* The mean's first part is 0, or the row is strange. */
#ifdef CENTRE_IN_TWO
    double addend = quotient - found.rest * rstd;
    item first_addend = (item)addend;
    parts[1] = first_addend;
    parts[2] = (item)(rstd - first);
    parts[3] = (item)(addend - first_addend);
#else
    parts[1] = (item)(quotient - found.rest * first);
#endif
}

/* The quotient is that of convention.h: an eps, or -0. */
LN_INLINE int centre_is_strange(moments found, factor rstd, double quotient)
{
    double squares = found.m2 * rstd * rstd;
    int fine = (rstd >= SPLIT_RSTD_LEAST) & (rstd <= SPLIT_RSTD_MOST) & (found.mean == 0) &
               (quotient <= SPLIT_QUOTIENT_MOST) & (squares >= SPLIT_SQUARES_LEAST);
    return !fine;
}

LN_INLINE centre centre_of_parts(const item parts[CENTRE_PARTS])
{
    centre by = {.rstd = lane_set(parts[0]), .addend = lane_set(parts[1])};
#ifdef CENTRE_IN_TWO
    by.rstd_rest = lane_set(parts[2]);
    by.addend_rest = lane_set(parts[3]);
#endif
    return by;
}

LN_INLINE centre centre_of(moments found, factor rstd, double quotient)
{
    item parts[CENTRE_PARTS];
    centre_parts(found, rstd, quotient, parts);
    centre by = centre_of_parts(parts);
    by.strange = centre_is_strange(found, rstd, quotient);
    by.mean = found.mean;
    by.rest = found.rest;
    by.rstd_of_row = rstd;
    return by;
}

LN_INLINE normalised centre_normalise(centre by, vec x)
{
#ifdef CENTRE_IN_TWO
    return (normalised){multiply_add(x, by.rstd, by.addend),
                        multiply_add(x, by.rstd_rest, by.addend_rest)};
#else
    return multiply_add(x, by.rstd, by.addend);
#endif
}

/* For schedules that have shorter ways for rows of some kind: there are none. */
LN_INLINE normalised centre_normalise_unshifted(centre by, vec x)
{
    return centre_normalise(by, x);
}

/* Whether the addend is far from subnormal: see convention_is_regular(). */
LN_INLINE int centre_is_regular(const item parts[CENTRE_PARTS])
{
#ifdef LANE_STORE_REGULAR
    return fabs((double)parts[1]) >= 0x1p-60;
#else
    (void)parts;
    return 1;
#endif
}

/* Bound, u = ITEM_UNIT, u' = 2^-53, tiny = ITEM_TINY. r' = r_exact (1 + rho) is the rstd that was
 * computed, m = rest the mean (mean itself is 0), delta its error, q the eps on the quotient, D = max|d| r_exact, X =
 * max|xhat| <= D + q, A >= |a|, P >= max|x| r', e1 to e4 what is off.
 *  1. (x - m) r' + q is within delta r' + D rho of xhat. In double the product m r' and the
 *     difference round: a is 4 u' A off, A = (|mu| + delta) r' + q.
 *  2. r + l = r' (1 + e), |e| <= u^2 + 2^-60 as r' >= 2^-90; b + c = a (1 + u^2) + tiny: (2 u^2) (P + A)
 *     + tiny.
 *  3. w = fl(x l + c), |l| <= u r', |c| <= u A: |w| <= W = u (1 + 2 u)(P + A) + 2 tiny. Off by u W + tiny.
 *  4. s = fl(x r + b). x r + b = xhat - (x l + c), but for 1 to 3, is at most X' = X + W + e1 + e2 + e3,
 *     and P <= X' + A. It rounds half a unit in its last place, h = u 2^floor(log2 X'), and tiny.
 *     So s + w = xhat + e, |e| <= h + E with E = the sum of 1 to 3, and tiny.
 *  5. The affine form, before it rounds for the last time. (Subnormal products, and y, are in ln_bound's
 *     2 of the smallest number.)
 *     none              s + w
 *     gamma             s g + fl(w g)                u W |g|
 *     gamma and beta    s g + fl(w g + beta)         u (|beta| + W |g|)
 *     gamma1            g = G + H (Knuth's two_sum), |H| <= u |G|, |G| <= |g| (1 + 2 u). s G + fl(t +
 *                       beta), t = fl(s H + fl(w G)): u W |G| for w H, which is left out, u W |G| for
 *                       w G, u (1 + u)(u X' + W) |G| for t, and as much and u |beta| for the sum
 *     In all, |g| (h + E + 5 u W + 3 u^2 X') + u |beta|.
 *  6. The last rounding is at most half a unit in the last place, or u of |g| X + |beta| and of 5.
 * ln_bound has one factor for |gamma| X and |beta|: where beta is added, u X of h is in affine_rel, and
 * in xhat_abs what h is more, as where X' is past a power of two that X is not. X >= D - q.
 * u (|g| X + |beta|) being at most one unit in the last place of that, all is 1.5 row ULP and what
 * statistics are off (LN_TRAIT_ROUNDED_LAST), 2^-8 at most; but 2, and 2^-8, where |g| X + |beta| is
 * so little (2^-8 units) below a power of two that y may round to the second number beyond it.
 * In a row that is not strange nothing overflows but y, and w gamma + beta where |beta| is within 2^-12
 * of the largest number.
 * Without l and c (16-bit storage), a being that of r: in 1 a is 4 u' A off, as there; r is u off, which
 * x - m takes, b u A, and s rounds once, u X'. 1 + gamma rounds, and the last sum. */
LN_INLINE ln_bound split_items_bound(const ln_problem *problem, const ln_row_facts *facts,
                                     const moments_bound *found, double rho)
{
    double u = ITEM_UNIT, delta = found->mean, r = facts->rstd * (1 + rho);
    double q = problem->convention.eps_place == LN_EPS_QUOTIENT ? problem->convention.eps : 0.0;
    double deviation = facts->max_dev * facts->rstd, a = (fabs(facts->mean) + delta) * r + q;
    double off = delta * r + deviation * rho + 4 * DOUBLE_UNIT * a;
#ifdef CENTRE_IN_TWO
    double p = (deviation + q + off) * (1 + 0x1p-10) + a * (1 + 0x1p-10);
    double w = u * (1 + 4 * u) * (p + a) + 2 * ITEM_TINY;
    off += 2 * u * u * (p + a) + u * w + 4 * ITEM_TINY;
    double most = (deviation + q + off + w) * bound_slack, half = u * exp2(floor(log2(most)));
    int has_beta = ln_has_beta(problem->convention.affine);
    if (has_beta)
        half = fmax(0.0, half - u * (deviation - q) * (1 - 0x1p-40)); /* facts are rounded */
    double error = half + off + 5 * u * w + 3 * u * u * most;
    return (ln_bound){error * (1 + 4 * u), has_beta ? u * (2 + 4 * u) : u};
#else
    off += u * (deviation + off) + u * a + 2 * ITEM_TINY;
    double error = off + u * (deviation + q + off);
    return (ln_bound){error * (1 + 4 * u) * bound_slack, u * (2 + 4 * u)};
#endif
}

/* Bound of a strange row, with r', delta and D as above, all in double but the last. x - mean, the
 * next difference, the product and sum: 4 u' (S r' + q) with S = max_dev + |rest| + delta; the
 * affine form 3 u' of what stands behind it; y is rounded to an item. */
LN_INLINE ln_bound split_double_bound(const ln_problem *problem, const ln_row_facts *facts,
                                      const moments_bound *found, double rho)
{
    double q = problem->convention.eps_place == LN_EPS_QUOTIENT ? problem->convention.eps : 0.0;
    double r = facts->rstd * (1 + rho), s = facts->max_dev + 2 * found->rest + found->mean;
    double error = r * found->mean + facts->max_dev * facts->rstd * rho;
    error += 8 * DOUBLE_UNIT * (s * r + q);
    double affine = problem->convention.affine == LN_AFFINE_NONE ? 0 : 4 * DOUBLE_UNIT;
    return (ln_bound){error * (1 + 2 * ITEM_UNIT), ITEM_UNIT + affine};
}

/* Storage that is shorter than items rounds y once more: convention.h. */
LN_INLINE ln_bound split_stored(const ln_problem *problem, const ln_row_facts *facts, ln_bound y)
{
    double stored = STORAGE_UNIT;
    if (stored > 0 && problem->convention.affine == LN_AFFINE_NONE) { /* relative to max|xhat| */
        double eps = problem->convention.eps_place == LN_EPS_QUOTIENT ? problem->convention.eps : 0;
        y.xhat_abs += y.affine_rel * (facts->max_dev * facts->rstd + eps);
        y.affine_rel = 0;
    }
    return (ln_bound){y.xhat_abs * (1 + stored) * bound_slack,
                      y.affine_rel * (1 + stored) + stored};
}

/* Near a limit either may be computed: the claim is the wider one. */
LN_INLINE ln_bound split_bound(const ln_problem *problem, const ln_row_facts *facts,
                               const moments_bound *found, double rho)
{
    const ln_convention *rules = &problem->convention;
    double near = 1 + 0x1p-4, mean = fabs(facts->mean), r = facts->rstd,
           n = (double)problem->hidden;
    if (!(rho < 0x1p-6))
        return (ln_bound){INFINITY, 0};
    int strange =
        mean - 2 * found->mean > SPLIT_MEAN_MOST * near * sqrt(found->var_hi) + 0x1p-149 ||
        n * found->var_hi * r * r * near < SPLIT_SQUARES_LEAST ||
        (rules->eps_place == LN_EPS_QUOTIENT && rules->eps > SPLIT_QUOTIENT_MOST);
    ln_bound apart = split_double_bound(problem, facts, found, rho);
    if (strange)
        return split_stored(problem, facts, apart);
    ln_bound items = split_items_bound(problem, facts, found, rho);
    return split_stored(
        problem, facts,
        (ln_bound){fmax(items.xhat_abs, apart.xhat_abs), fmax(items.affine_rel, apart.affine_rel)});
}

#endif

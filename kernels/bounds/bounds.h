/* Error bounds of kernels. bounds.c has a proof for each statistics and each apply. Bounds are evaluated in double from
 * the facts of a row, and on any CPU: the types and vectors of a kernel are arguments.
 *
 *     static const bounded_row kernel = {.moments = ln_moments_two_pass, .apply = BOUND_APPLY_direct,
 *                                        .storage = &ln_numbers[LN_F32], ...};
 *     ln_bound proven = ln_bound_of(&kernel, &problem, &facts, 0); */
#ifndef LN_BOUNDS_H
#define LN_BOUNDS_H

#include "lane/lane.h"
#include "layernorm_plugin.h"
#include <stdbool.h>

/* The constants of a type (lane.h). */
typedef struct number_type {
    double unit, tiny, max, min, exact_integers;
    int scales;
} number_type;

extern const number_type ln_numbers[]; /* by ln_type */

/* Proven bounds of moments. An infinite var_hi: there is no bound. A var_lo >= 0: the computed m2 is not negative. */
typedef struct moments_bound {
    double mean;   /* |mean + rest - exact mean| */
    double rest;   /* |rest|; 0 if it is exactly 0 */
    double var_lo; /* var_lo <= m2 / N <= var_hi, N the exact count */
    double var_hi;
    double scale; /* the scale of moments */
} moments_bound;

typedef enum bound_apply {
    BOUND_APPLY_direct,
    BOUND_APPLY_folded,
    BOUND_APPLY_two_mean,
    BOUND_APPLY_two_rstd,
    BOUND_APPLY_scaled,
    BOUND_APPLY_split,
    BOUND_APPLY_certified,
    BOUND_APPLY_in_pairs,
} bound_apply;

/* A kernel, and a row. */
typedef struct bounded_row bounded_row;
typedef moments_bound moments_bound_of(const bounded_row *row);
struct bounded_row {
    moments_bound_of *moments;
    bound_apply apply;
    const number_type *storage; /* of x and y */
    const number_type *item;    /* the type of the computation */
    const number_type *sum;     /* of sums, mean and rstd */
    double lanes, unroll;       /* of items */
    double chunk, tile;         /* as in kernels.def */
    bool fuses;                 /* multiply_add rounds once */
    /* The row, which ln_bound_of() fills in: its facts, */
    double n, mean, mean_abs, max_abs, var, max_dev, rstd;
    const ln_convention *convention;
    double quotient; /* the eps on the quotient, or 0, */
    double lambda;   /* and 0 for the proven bound, else see "Sums whose roundings cancel" below */
};

/* The bounds of each statistics. */
moments_bound_of ln_moments_naive, ln_moments_two_pass, ln_moments_pairwise, ln_moments_compensated,
    ln_moments_welford, ln_moments_shifted, ln_moments_retry, ln_moments_corrected,
    ln_moments_reproducible, ln_moments_rms, ln_moments_rms_tiled;
#define ln_moments_unpivoted ln_moments_retry

/* The bounds of certified and in_pairs do not use moments. */
#define ln_moments_exact NULL
#define ln_moments_rms_exact NULL
#define ln_moments_doubled NULL

ln_bound ln_bound_of(const bounded_row *kernel, const ln_problem *problem,
                     const ln_row_facts *facts, double lambda);

LN_INLINE double block_of(const bounded_row *row)
{
    return row->lanes * row->unroll;
}

/* Returns whether sums are longer than items. */
LN_INLINE bool is_wide(const bounded_row *row)
{
    return row->sum->unit < row->item->unit;
}

/* Returns whether sums are f64, and all elements are f32 numbers. */
LN_INLINE bool has_long_sums(const bounded_row *row)
{
    return row->sum->unit == UNIT_f64 && row->storage->unit >= UNIT_f32;
}

/* ---- The model of all proofs ----
 *
 * Apply and affine are computed in the items' type, statistics and rstd in that of sums. The model (Higham, "Accuracy
 * and Stability of Numerical Algorithms", 2nd ed., 2.2 and 3.1): with u the unit of sums, each operation gives (a op
 * b)(1 + e) + t, |e| <= u; t is 0, except for subnormal products and quotients (also fused ones), where |t| <= tiny. k
 * successive roundings change a result by a factor 1 + g, |g| <= gamma(k) = k u / (1 - k u). This holds while nothing
 * overflows: a bound must check this, and must not exist if an intermediate result might overflow.
 *
 * A sum over a row: each of the BLOCK = lanes x unroll partial sums has ceil(N / BLOCK) terms (the first is added to
 * zero, exactly), and a tree of log2(BLOCK) levels adds them. So each term has at most bound_depth(N) = ceil(N / BLOCK)
 * + log2(BLOCK) roundings, including the rounding of its product if the term is a product.
 *
 * The bounds are evaluated in double, from facts that were rounded to double: w = DOUBLE_UNIT. An error is a sum of
 * products without a subtraction, with at most about a hundred roundings: a factor 1 + 1e-12 (9000 w) covers these. If
 * an error is subtracted from or added to the number that has it (var, rstd), such a factor would exceed f64's own
 * errors: there the roundings are counted, and k w of that number is added. */

static const double bound_slack = 1.0 + 1e-12;
#define DOUBLE_UNIT 0x1p-53
static const moments_bound bound_none = {INFINITY, INFINITY, -INFINITY, INFINITY, 1};

LN_INLINE double bound_gamma_of(double unit, double roundings)
{
    double ku = roundings * unit;
    return ku < 0.5 ? ku / (1.0 - ku) * bound_slack : INFINITY;
}

LN_INLINE double bound_gamma(const bounded_row *row, double roundings)
{
    return bound_gamma_of(row->sum->unit, roundings);
}

LN_INLINE double item_gamma(const bounded_row *row, double roundings)
{
    return bound_gamma_of(row->item->unit, roundings);
}

LN_INLINE double bound_levels(const bounded_row *row)
{
    return log2((double)block_of(row));
}

LN_INLINE double bound_depth(const bounded_row *row)
{
    return ceil(row->n / block_of(row)) + bound_levels(row);
}

/* Returns the bound if m2 / N is within `error` of the exact biased variance. var and each end are rounded: two
 * roundings of numbers up to var + error. */
LN_INLINE moments_bound bound_around(double var, double error, double mean, double rest)
{
    error = error * bound_slack + 3 * DOUBLE_UNIT * var;
    return (moments_bound){mean * bound_slack, rest * bound_slack, var - error, var + error, 1};
}

/* Returns the bound if m2 / N >= 0 is in [lo, hi]. Each end is computed from var with at most six roundings. */
LN_INLINE moments_bound bound_between(const bounded_row *row, double lo, double hi, double mean,
                                      double rest)
{
    return (moments_bound){mean * bound_slack, rest * bound_slack,
                           fmax(0.0, lo - 8 * DOUBLE_UNIT * row->var), hi * (1 + 8 * DOUBLE_UNIT),
                           1};
}

/* ---- Sums whose roundings cancel ----
 *
 * gamma(D) bounds D roundings that all have the largest size and the same sign. A
 * probable bound assumes that they are random: each addition's error has mean 0, given those before it
 * ("mean independent": Connolly, Higham, Mary, "Stochastic Rounding and Its Probabilistic
 * Backward Error Analysis", SIAM J. Sci. Comput. 43, 2021; Higham and Mary, 2019, require
 * independence). For rounding to nearest this is only a model, which a row of equal elements may contradict.
 *
 * fl(a + b) = a + b + e, |e| <= u |a + b| <= u (1 + gamma(D)) T, where T is the sum of |terms| in a + b. The
 * error of a sum, by any tree, is the sum of these e: a martingale whose steps have known bounds. So
 * by Azuma's and Hoeffding's inequality (for trees of additions: Hallman, Ipsen, "Precision-aware
 * Deterministic and Probabilistic Error Bounds for Floating Point Summation", 2022)
 *     |error| <= lambda u (1 + gamma(D)) sqrt(Z),     Z = the sum of T^2 over all additions,
 * fails with a probability of at most 2 exp(-lambda^2 / 2), for sums of any length. Roundings of a
 * term before it is added are bounded as in the proven bound.
 *
 * Z: additions form levels. In a level each term is part of at most one a + b, which has at most m terms.
 * R^2 = sum t^2 / N.
 *   Sum of t:   T^2 <= m sum t^2 over these m (Cauchy and Schwarz): a level is at most m N R^2.
 *   Sum of t^2: T <= N R^2 and T <= m M^2, M = max|t|: a level is at most N R^2 min(N R^2, m M^2).
 * That is (N R)^2, or (N R^2)^2, times min(1, m q), where q = 1 / N, or M^2 / R^2 / N. */

/* The additions of a sum: each accumulator adds `steps` terms, one by one; `parts` accumulators are added by a tree,
 * then `chunks` such sums one by one, then `lanes` of these by a tree. (With fewer additions Z is smaller.) */
typedef struct row_sums {
    double depth;        /* the largest number of roundings of a term */
    double lambda;       /* 0: for the proven bound, which needs only depth */
    double hidden, most; /* N, and max |x - mu| */
    double steps, parts, chunks, lanes;
} row_sums;

LN_INLINE row_sums sums_of_blocks(const bounded_row *row)
{
    double n = row->n;
    row_sums sums = {.depth = bound_depth(row), .lambda = row->lambda, .hidden = n};
    sums.most = row->max_dev;
    sums.steps = ceil(n / block_of(row)), sums.parts = row->unroll, sums.chunks = 1,
    sums.lanes = row->lanes;
    return sums;
}

/* Return min(1, q) + min(1, 2 q) + ... + min(1, count q), and for a tree min(1, 2 q) + min(1, 4 q) + ... */
LN_INLINE double levels_in_turn(double count, double q)
{
    double below = fmin(count, floor(1 / q));
    return q * below * (below + 1) / 2 + (count - below);
}

LN_INLINE double levels_of_tree(double count, double q)
{
    double levels = 0;
    for (double m = 2; m <= count; m *= 2)
        levels += fmin(1, m * q);
    return levels;
}

/* Returns sqrt(Z) / (N R), or sqrt(Z) / (N R^2). peak: 1, or M^2 / R^2. (A NaN counts as N.) */
LN_INLINE double sum_spread(const row_sums *sums, double peak)
{
    double q = fmin(peak, sums->hidden) / sums->hidden, chunk = sums->steps * sums->parts;
    double levels = levels_in_turn(sums->steps, q) + levels_of_tree(sums->parts, sums->steps * q) +
                    levels_of_tree(sums->lanes, chunk * sums->chunks * q);
    if (sums->chunks > 1)
        levels += levels_in_turn(sums->chunks, chunk * q);
    return sqrt(levels);
}

LN_RARE double sum_probable_error(const bounded_row *row, const row_sums *sums, double own,
                                  double peak)
{
    double terms = bound_gamma(row, own + 1), roots = sums->lambda * sum_spread(sums, peak);
    double added = row->sum->unit * (1 + bound_gamma(row, sums->depth)) * roots;
    return (terms + (1 + terms) * added) * bound_slack;
}

/* Returns a bound of |fl(sum) - sum| / N for terms that have `own` roundings besides that of a product:
 * gamma(D + own) total, total >= sum |terms| / N, or the probable bound above, where scale is R or R^2. */
LN_INLINE double sum_error(const bounded_row *row, const row_sums *sums, double own, double total,
                           double scale, double peak)
{
    double proven = bound_gamma(row, sums->depth + own) * total;
    if (is_wide(row) || !(sums->lambda > 0))
        return proven;
    return fmin(proven, sum_probable_error(row, sums, own, peak) * scale);
}

/* Returns the bound of a sweep over x - p for |mu - p| <= a, where the terms of sums have at most `depth` roundings:
 *     d = sum(t) / N      m2 = sum(t^2) - sum(t) * d, or 0 if that is negative      t = x - p
 * s = x - p is exact, sum s = N a, sum s^2 = N (V + a^2), and sum |s| / N <= R = sqrt(V + a^2). t = s (1 + e).
 *   T = fl(sum t):    |T / N - a| <= e_T = gamma(D + 1) R, or its sum_error().
 *   d = fl(T / N), or fl(T fl(1/N)), where N may be rounded too: |d - a| <= delta = e_T + gamma(3)(|a| + e_T)
 *                     + tiny.
 *   W = fl(sum t^2):  |W / N - R^2| <= gamma(D + 2) R^2 + 2 tiny, likewise; M <= max_dev + a.
 *   m2 = fl(W - fl(T d)): |m2 / N - V| <= E + u (V + E), where
 *     E = gamma(D + 2) R^2 + |a| (e_T + delta) + e_T delta + u (|a| + e_T)(|a| + delta) + 3 tiny.
 * Setting a negative m2 to 0 only reduces its distance from V >= 0. The mean is p + d, so that `mean` is delta and
 * `rest` |d|. */
LN_INLINE moments_bound bound_of_sums(const bounded_row *row, double var, double a, double e_sum,
                                      double e_square)
{
    double delta = e_sum + bound_gamma(row, 3) * (a + e_sum) + row->sum->tiny;
    double error = e_square + a * (e_sum + delta) + e_sum * delta +
                   row->sum->unit * (a + e_sum) * (a + delta) + 3 * row->sum->tiny;
    error += row->sum->unit * (var + error);
    moments_bound bound = bound_around(var, error, delta, a + delta);
    bound.var_lo = fmax(0.0, bound.var_lo);
    return bound;
}

LN_INLINE moments_bound bound_sweep(const bounded_row *row, const row_sums *sums, double var,
                                    double a)
{
    double square = var + a * a, root = sqrt(square), most = sums->most + a;
    return bound_of_sums(row, var, a, sum_error(row, sums, 1, root, root, 1),
                         sum_error(row, sums, 2, square, square, most * most / square));
}

#endif

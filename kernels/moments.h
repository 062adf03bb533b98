/* What a kernel's parts are written over: a row in memory, the sums over it, what statistics find,
 * and what the proofs of all error bounds share. */
#ifndef LN_MOMENTS_H
#define LN_MOMENTS_H

#include "layernorm_plugin.h"
#include "lane/lane.h"
#include LN_LANE_FILE
#include LN_STORAGE_FILE
#include LN_PARAM_FILE

/* ---- Memory ----
 *
 * The words of lanes for what lies there: LN_STORAGE is the type of x, residual, y and sum, LN_PARAM
 * that of gamma and beta. */

typedef LN_PASTE(element_, LN_STORAGE) storage;
typedef LN_PASTE(element_, LN_PARAM) param;

/* What rounding to the storage type is off by: 0 where items are stored as they are. */
#define STORED_AS_COMPUTED (LN_PASTE(UNIT_, LN_STORAGE) == ITEM_UNIT)
#define STORAGE_UNIT (STORED_AS_COMPUTED ? 0.0 : LN_PASTE(UNIT_, LN_STORAGE))

/* Items of f64 over f32: what they round is nothing beside storing. */
#define ITEMS_ARE_LONG (ITEM_UNIT == UNIT_f64 && STORAGE_UNIT == UNIT_f32)

/* Sums of f64 over elements that are numbers of f32. */
#define SUMS_ARE_LONG (REAL_UNIT == UNIT_f64 && LN_PASTE(UNIT_, LN_STORAGE) >= UNIT_f32)

LN_INLINE vec lane_load(const storage *p)
{
    return LN_PASTE(lane_load_, LN_STORAGE)(p);
}

LN_INLINE vec lane_load_first(const storage *p, size_t n)
{
    return LN_PASTE(lane_load_first_, LN_STORAGE)(p, n);
}

LN_INLINE void lane_store(storage *p, vec a)
{
    LN_PASTE(lane_store_, LN_STORAGE)(p, a);
}

LN_INLINE void lane_store_first(storage *p, vec a, size_t n)
{
    LN_PASTE(lane_store_first_, LN_STORAGE)(p, a, n);
}

LN_INLINE vec lane_stored(vec a)
{
    return LN_PASTE(lane_stored_, LN_STORAGE)(a);
}

/* lane_store(), and around the caches, where no number is subnormal. */
#ifdef LANE_STORE_REGULAR
LN_INLINE void lane_store_regular(storage *p, vec a)
{
    LN_PASTE(lane_store_regular_, LN_STORAGE)(p, a);
}

LN_INLINE void lane_stream_regular(storage *p, vec a)
{
    LN_PASTE(lane_stream_regular_, LN_STORAGE)(p, a);
}
#else
#define lane_store_regular lane_store
#define lane_stream_regular LN_PASTE(lane_stream_, LN_STORAGE)
#endif

#ifdef LANE_DOT
LN_INLINE void lane_dot(const storage *p, size_t n, int odd, vec *sum, vec *square)
{
    LN_PASTE(lane_dot_, LN_STORAGE)(p, n, odd, sum, square);
}
#endif

/* The first n parameters (LANES of them if n is more), zeros behind them. */
LN_INLINE vec param_load(const param *p, size_t n)
{
    return n >= LANES ? LN_PASTE(lane_load_, LN_PARAM)(p)
                      : LN_PASTE(lane_load_first_, LN_PARAM)(p, n);
}

/* One parameter in every lane. */
LN_INLINE vec param_set(const param *p)
{
    return lane_set(LN_PASTE(item_of_, LN_PARAM)(*p));
}

/* ---- A row ----
 *
 * A row as the algorithms see it: x, or x + residual rounded to the storage type. What a row is, is
 * what is stored: where items are longer than the storage type, the sum is rounded to it at once.
 * Items are so much longer that it comes out as if rounded once (Figueroa, "When is Double Rounding
 * Innocuous?", SIGNUM Newsletter 30, 1995: twice the digits and one more).
 *
 * The sum is written by the first touch of an element, where nobody wants it to y; later touches
 * read it. An element of x and residual is loaded before the same element of sum or y is stored, and
 * not loaded after, so that sum may be x or residual, and y may be x. Kernels that store y around
 * the caches add up anew instead of writing to y twice. */

/* A constant of always-inline bodies: no loop tests it. */
typedef enum residual_form {
    RESIDUAL_NONE,
    RESIDUAL_ADDED, /* the row knows whether the sum is written */
} residual_form;

typedef struct row {
    const storage *x;
    const storage *residual;
    storage *sum;
    storage *y;
    size_t hidden;
    residual_form form;
} row;

/* In all of these n is the number of elements from i on that count: LANES of them, or, where n is
 * less, n and zeros behind them. */
LN_INLINE vec row_load(const storage *p, size_t n)
{
    return n >= LANES ? lane_load(p) : lane_load_first(p, n);
}

LN_INLINE void row_store(storage *p, vec a, size_t n)
{
    if (n >= LANES)
        lane_store(p, a);
    else
        lane_store_first(p, a, n);
}

LN_INLINE vec row_add_up(const row *view, size_t i, size_t n)
{
    vec x = row_load(view->x + i, n);
    return view->form == RESIDUAL_NONE ? x
                                       : lane_stored(lane_add(x, row_load(view->residual + i, n)));
}

LN_INLINE int row_has_sum(const row *view)
{
    return view->form != RESIDUAL_NONE && (!LN_NONTEMPORAL || view->sum);
}

/* The first touch of these elements. */
LN_INLINE vec row_first(const row *view, size_t i, size_t n)
{
    vec x = row_add_up(view, i, n);
    if (row_has_sum(view))
        row_store(view->sum + i, x, n);
    return x;
}

/* A later touch. */
LN_INLINE vec row_again(const row *view, size_t i, size_t n)
{
    return row_has_sum(view) ? row_load(view->sum + i, n) : row_add_up(view, i, n);
}

/* ---- Sums ---- */

/* a * b + c: one rounding where the kernel's line gives LN_FMA, else two. */
LN_INLINE vec multiply_add(vec a, vec b, vec c)
{
    return LN_FMA ? lane_multiply_add(a, b, c) : lane_add(lane_multiply(a, b), c);
}

#ifdef LN_ACCUMULATOR_FILE
#include LN_ACCUMULATOR_FILE
#else
/* The accumulators have the type of the items: the words of statistics are those of the lanes. */
typedef vec acc;

LN_INLINE acc acc_of(vec a)
{
    return a;
}

LN_INLINE vec acc_items(acc a)
{
    return a;
}

LN_INLINE acc acc_set(real a)
{
    return lane_set(a);
}

LN_INLINE void acc_store(real *p, acc a)
{
    item_store(p, a);
}

LN_INLINE acc acc_first(acc a, size_t n)
{
    return lane_first(a, n);
}

LN_INLINE acc acc_add(acc a, acc b)
{
    return lane_add(a, b);
}

LN_INLINE acc acc_subtract(acc a, acc b)
{
    return lane_subtract(a, b);
}

LN_INLINE acc acc_multiply(acc a, acc b)
{
    return lane_multiply(a, b);
}

LN_INLINE acc acc_multiply_add(acc a, acc b, acc c)
{
    return multiply_add(a, b, c);
}

LN_INLINE real acc_sum(acc a)
{
    return lane_sum(a);
}

/* Lanes that have no better way sum one by one: the same tree, hence the same bits. */
#ifndef LANE_SUM_ROWS
LN_INLINE void lane_sum_rows(const vec a[4], item sums[4])
{
    LN_UNROLLED
    for (int i = 0; i < 4; i++)
        sums[i] = lane_sum(a[i]);
}

LN_INLINE void lane_sum_two(vec a, vec b, item sums[2])
{
    sums[0] = lane_sum(a);
    sums[1] = lane_sum(b);
}
#endif

/* The sums of the lanes of four vectors, and of two, each by the tree of acc_sum(). */
LN_INLINE void acc_sum_rows(const acc a[4], real sums[4])
{
    lane_sum_rows(a, sums);
}

LN_INLINE void acc_sum_two(acc a, acc b, real sums[2])
{
    lane_sum_two(a, b, sums);
}

#ifdef LANE_SUM_SQUARE
#define ACC_SUM_SQUARE
typedef acc acc_fold;

LN_INLINE acc_fold acc_fold_one(acc a)
{
    return a;
}

LN_INLINE acc_fold acc_fold_four(const acc_fold a[4])
{
    return lane_fold_four(a);
}

LN_INLINE acc acc_sum_folds(const acc_fold folds[LANES / 4])
{
    return lane_sum_folds(folds);
}
#endif
#endif

#if defined(LN_ACCUMULATOR_FILE) && !defined(ACC_SUM_ROWS)
LN_INLINE void acc_sum_rows(const acc a[4], real sums[4])
{
    LN_UNROLLED
    for (int i = 0; i < 4; i++)
        sums[i] = acc_sum(a[i]);
}
#endif

enum { UNROLL = LN_UNROLL, BLOCK = LN_LANES * LN_UNROLL };
_Static_assert((UNROLL & (UNROLL - 1)) == 0 && UNROLL > 0, "unroll must be a power of two");

/* What statistics finds: mean + rest is the row's mean, in two parts where one is not enough (rest
 * is 0 otherwise), and m2 = scale^2 sum (x - mean)^2, scale being 1, or a power of two that keeps
 * the squares from overflow and underflow. */
typedef struct moments {
    real mean;
    real rest;
    real m2;
    real scale;
} moments;

LN_INLINE void parts_clear(acc parts[UNROLL])
{
    LN_UNROLLED
    for (unsigned u = 0; u < UNROLL; u++)
        parts[u] = acc_set(0);
}

/* parts_sum(), items_sum(): the sum of UNROLL vectors of accumulators, of items, by a fixed tree. */
#define TREE_SUM(name, vector, add)                                                                \
    LN_INLINE vector name(const vector parts[UNROLL])                                              \
    {                                                                                              \
        vector sums[UNROLL];                                                                       \
        LN_UNROLLED                                                                                \
        for (unsigned u = 0; u < UNROLL; u++)                                                      \
            sums[u] = parts[u];                                                                    \
        LN_UNROLLED                                                                                \
        for (unsigned half = UNROLL / 2; half > 0; half /= 2) {                                    \
            LN_UNROLLED                                                                            \
            for (unsigned u = 0; u < half; u++)                                                    \
                sums[u] = add(sums[u], sums[u + half]);                                            \
        }                                                                                          \
        return sums[0];                                                                            \
    }
TREE_SUM(parts_sum, acc, acc_add)
TREE_SUM(items_sum, vec, lane_add)

/* The sums of x - pivot and of its squares, in accumulators, of a row that has been touched. */
LN_INLINE void row_sums_about(const row *view, real pivot, acc *sum, acc *square)
{
    *sum = *square = acc_set(0);
    for (size_t i = 0; i < view->hidden; i += LANES) {
        size_t n = view->hidden - i;
        acc t = acc_subtract(acc_of(row_again(view, i, n)), acc_set(pivot));
        if (n < LANES)
            t = acc_first(t, n);
        *sum = acc_add(*sum, t);
        *square = acc_multiply_add(t, t, *square);
    }
}

/* The sum of the first `count` vectors by a tree. */
LN_INLINE acc parts_sum_first(acc parts[UNROLL], size_t count)
{
    LN_UNROLLED
    for (size_t half = UNROLL / 2; half > 0; half /= 2) {
        LN_UNROLLED
        for (size_t u = 0; u < half; u++)
            if (u + half < count)
                parts[u] = acc_add(parts[u], parts[u + half]);
        count = count < half ? count : half;
    }
    return parts[0];
}

/* The sum of their lanes: log2(BLOCK) levels. */
LN_INLINE real sum_of(const acc parts[UNROLL])
{
    return acc_sum(parts_sum(parts));
}

/* The least deviation that matters beside eps, about: statistics that
 * choose a scale ask. (All else of a convention is in convention.h.) */
LN_INLINE real convention_floor(const ln_convention *rules)
{
    return rules->eps_place == LN_EPS_VAR   ? (real)sqrt(rules->eps)
           : rules->eps_place == LN_EPS_STD ? (real)rules->eps
                                            : 0;
}

/* ---- Bounds: what all proofs share ----
 *
 * ITEM_UNIT and the like are those of the items' type, in which apply and affine are computed,
 * REAL_UNIT those of the accumulator's, in which statistics and rstd are. The model (Higham,
 * "Accuracy and Stability of Numerical Algorithms", 2nd ed., 2.2 and 3.1): with u = REAL_UNIT, each
 * operation gives (a op b)(1 + e) + t, |e| <= u; t is 0, but for products and quotients (fused ones
 * too) that are subnormal, where |t| <= REAL_TINY. k roundings in a row stay within a factor 1 + g,
 * |g| <= gamma(k) = k u / (1 - k u). This holds while nothing overflows: a bound must see to that,
 * and make no claim where an intermediate might.
 *
 * A sum over a row: each of the BLOCK partial sums takes ceil(N / BLOCK) terms (the first is added
 * to zero, exactly), and a tree of log2(BLOCK) levels adds them up. So no term goes through more
 * than bound_depth(N) = ceil(N / BLOCK) + log2(BLOCK) roundings, and that leaves room for the
 * rounding of its product where a term is a product.
 *
 * The bounds are evaluated in double, from facts that were rounded to double: w = DOUBLE_UNIT. An
 * error is a sum of products without a subtraction, of some hundred roundings at most: a factor 1 +
 * 1e-12 (9000 w) makes up for those, and widens it by no more. Where an error is taken from or
 * added to what it is the error of (var, rstd), such a factor would be wider than f64's own errors:
 * there the roundings are counted, and k w of that number added. */

/* What a statistics file proves about its moments. var_hi infinite: no claim. A var_lo >= 0 says
 * that m2 cannot come out negative. */
typedef struct moments_bound {
    double mean;   /* |mean + rest - exact mean| */
    double rest;   /* |rest|; 0 where it is exactly 0 */
    double var_lo; /* var_lo <= m2 / N <= var_hi, N the exact count */
    double var_hi;
    double scale; /* the scale of moments */
} moments_bound;

static const double bound_slack = 1.0 + 1e-12;
#define DOUBLE_UNIT 0x1p-53
static const moments_bound bound_none = {INFINITY, INFINITY, -INFINITY, INFINITY, 1};

/* Accumulators are longer than items. */
#define WIDE (sizeof(real) > sizeof(item))

LN_INLINE double bound_gamma_of(double unit, double roundings)
{
    double ku = roundings * unit;
    return ku < 0.5 ? ku / (1.0 - ku) * bound_slack : INFINITY;
}

LN_INLINE double bound_gamma(double roundings)
{
    return bound_gamma_of(REAL_UNIT, roundings);
}

LN_INLINE double item_gamma(double roundings)
{
    return bound_gamma_of(ITEM_UNIT, roundings);
}

LN_INLINE double bound_levels(void)
{
    return log2((double)BLOCK);
}

LN_INLINE double bound_depth(size_t hidden)
{
    return ceil((double)hidden / BLOCK) + bound_levels();
}

/* What becomes of xhat, deviations being within `deviation` = D of the exact d, where it is
 * fl(d' r' + q) and r' is rstd (relative error rho) rounded to an item:
 *     |xhat - (d r + q)|
 *         <= r (1 + rho) D + max|d| r rho         what comes in
 *          + u r (1 + rho)(max|d| + D) + tiny     one rounding, or the product's; and where eps is
 *          + u eps + tiny                         on the quotient, eps and a sum
 *          + u (r (1 + rho)(max|d| + D)(1 + u) + eps (1 + u)) + tiny. */
LN_INLINE double bound_product(const ln_problem *problem, const ln_row_facts *facts,
                               double deviation, double rho)
{
    double r = facts->rstd, eps = problem->convention.eps;
    if (WIDE)
        rho += ITEM_UNIT * (1 + rho);
    double product = r * (1 + rho) * (facts->max_dev + deviation);
    double error =
        r * (1 + rho) * deviation + facts->max_dev * r * rho + ITEM_UNIT * product + ITEM_TINY;
    if (problem->convention.eps_place == LN_EPS_QUOTIENT)
        error += ITEM_UNIT * (2 + ITEM_UNIT) * eps + ITEM_UNIT * (1 + ITEM_UNIT) * product +
                 2 * ITEM_TINY;
    return 2 * (product + eps) < ITEM_MAX ? error * bound_slack : INFINITY;
}

/* m2 / N lies within `error` of the exact biased variance. var was rounded, and either end is: two
 * roundings, of numbers up to var + error. */
LN_INLINE moments_bound bound_around(double var, double error, double mean, double rest)
{
    error = error * bound_slack + 3 * DOUBLE_UNIT * var;
    return (moments_bound){mean * bound_slack, rest * bound_slack, var - error, var + error, 1};
}

/* m2 / N >= 0 lies in [lo, hi], each a product of var, with what was added to it, and a factor 1 -+
 * an error, and a little: var, the factor and what is done with them round six times at most. */
LN_INLINE moments_bound bound_between(const ln_row_facts *facts, double lo, double hi, double mean,
                                      double rest)
{
    return (moments_bound){mean * bound_slack, rest * bound_slack,
                           fmax(0.0, lo - 8 * DOUBLE_UNIT * facts->var), hi * (1 + 8 * DOUBLE_UNIT),
                           1};
}

/* ---- Sums whose roundings cancel ----
 *
 * gamma(D) is what D roundings come to where all are as large as they can be, and of one sign. A
 * probable bound takes them as random: each addition's error has mean 0, whatever those before it
 * were ("mean independent": Connolly, Higham, Mary, "Stochastic Rounding and Its Probabilistic
 * Backward Error Analysis", SIAM J. Sci. Comput. 43, 2021; Higham and Mary, 2019, ask for
 * independence). Of rounding to nearest that is a model: a row of equal elements may break it.
 *
 * fl(a + b) = a + b + e, |e| <= u |a + b| <= u (1 + gamma(D)) T, T the sum of |terms| in a + b. The
 * error of a sum, by any tree, is the sum of these e: a martingale whose steps have known bounds. So
 * by Azuma's and Hoeffding's inequality (for trees of additions: Hallman, Ipsen, "Precision-aware
 * Deterministic and Probabilistic Error Bounds for Floating Point Summation", 2022)
 *     |error| <= lambda u (1 + gamma(D)) sqrt(Z),     Z = the sum of T^2 over all additions,
 * fails with a probability of 2 exp(-lambda^2 / 2) at most, however long the sum is. Roundings of a
 * term before it is added count in full.
 *
 * Z: additions lie in levels. In a level each term is part of one a + b at most, of m terms at most.
 * R^2 = sum t^2 / N.
 *   Of t:   T^2 <= m sum t^2 over these m (Cauchy and Schwarz): a level is at most m N R^2.
 *   Of t^2: T <= N R^2 and T <= m M^2, M = max|t|: a level is at most N R^2 min(N R^2, m M^2).
 * That is (N R)^2, or (N R^2)^2, times min(1, m q), where q = 1 / N, or M^2 / R^2 / N. */

/* The additions of a sum: each accumulator takes `steps` terms, one by one; `parts` of them are
 * added up by a tree, then such sums of `chunks` one by one, then `lanes` of these by a tree. (Where
 * there are fewer, Z is less.) */
typedef struct row_sums {
    double depth;        /* roundings that a term goes through at most */
    double lambda;       /* 0: what always holds, for which depth is enough */
    double hidden, most; /* N, and max |x - mu| */
    double steps, parts, chunks, lanes;
} row_sums;

LN_INLINE row_sums sums_of_blocks(const ln_problem *problem, const ln_row_facts *facts,
                                  double lambda)
{
    double n = (double)problem->hidden;
    row_sums sums = {.depth = bound_depth(problem->hidden), .lambda = lambda, .hidden = n};
    sums.most = facts->max_dev;
    sums.steps = ceil(n / BLOCK), sums.parts = UNROLL, sums.chunks = 1, sums.lanes = LN_LANES;
    return sums;
}

/* min(1, q) + min(1, 2 q) + ... + min(1, count q), and of a tree min(1, 2 q) + min(1, 4 q) + ... */
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

/* sqrt(Z) as a share of the whole sum; peak: M^2 / R^2, or 1. (A NaN is N.) */
LN_INLINE double sum_spread(const row_sums *sums, double peak)
{
    double q = fmin(peak, sums->hidden) / sums->hidden, chunk = sums->steps * sums->parts;
    double levels = levels_in_turn(sums->steps, q) + levels_of_tree(sums->parts, sums->steps * q) +
                    levels_of_tree(sums->lanes, chunk * sums->chunks * q);
    if (sums->chunks > 1)
        levels += levels_in_turn(sums->chunks, chunk * q);
    return sqrt(levels);
}

LN_RARE double sum_probable_error(const row_sums *sums, double own, double peak)
{
    double terms = bound_gamma(own + 1), roots = sums->lambda * sum_spread(sums, peak);
    double added = REAL_UNIT * (1 + bound_gamma(sums->depth)) * roots;
    return (terms + (1 + terms) * added) * bound_slack;
}

/* |fl(sum) - sum| / N, of terms that go through `own` roundings but for that of a product: within
 * gamma(D + own) total, total >= sum |terms| / N, and perhaps by the above, where scale is R or R^2. */
LN_INLINE double sum_error(const row_sums *sums, double own, double total, double scale,
                           double peak)
{
    double proven = bound_gamma(sums->depth + own) * total;
    if (WIDE || !(sums->lambda > 0))
        return proven;
    return fmin(proven, sum_probable_error(sums, own, peak) * scale);
}

/* A sweep over x - p, for |mu - p| <= a and sums of `depth` roundings at most:
 *     d = sum(t) / N      m2 = sum(t^2) - sum(t) * d, or 0 where that is negative      t = x - p
 * s = x - p is exact, sum s = N a, sum s^2 = N (V + a^2), and sum |s| / N <= R = sqrt(V + a^2).
 * t = s (1 + e).
 *   T = fl(sum t):    |T / N - a| <= e_T = gamma(D + 1) R, or sum_error() of it.
 *   d = fl(T / N), or fl(T fl(1/N)), N too may round: |d - a| <= delta = e_T + gamma(3)(|a| + e_T)
 *                     + tiny.
 *   W = fl(sum t^2):  |W / N - R^2| <= gamma(D + 2) R^2 + 2 tiny, likewise; M <= max_dev + a.
 *   m2 = fl(W - fl(T d)): |m2 / N - V| <= E + u (V + E), where
 *     E = gamma(D + 2) R^2 + |a| (e_T + delta) + e_T delta + u (|a| + e_T)(|a| + delta) + 3 tiny.
 * Setting a negative m2 to 0 only brings it nearer to V >= 0. The mean is p + d, so that `mean` is
 * delta and `rest` |d|. */
LN_INLINE moments_bound bound_of_sums(double var, double a, double e_sum, double e_square)
{
    double delta = e_sum + bound_gamma(3) * (a + e_sum) + REAL_TINY;
    double error = e_square + a * (e_sum + delta) + e_sum * delta +
                   REAL_UNIT * (a + e_sum) * (a + delta) + 3 * REAL_TINY;
    error += REAL_UNIT * (var + error);
    moments_bound bound = bound_around(var, error, delta, a + delta);
    bound.var_lo = fmax(0.0, bound.var_lo);
    return bound;
}

LN_INLINE moments_bound bound_sweep_of(const row_sums *sums, double var, double a)
{
    double square = var + a * a, root = sqrt(square), most = sums->most + a;
    return bound_of_sums(var, a, sum_error(sums, 1, root, root, 1),
                         sum_error(sums, 2, square, square, most * most / square));
}

LN_INLINE moments_bound bound_sweep(double depth, double var, double a)
{
    const row_sums sums = {.depth = depth};
    return bound_sweep_of(&sums, var, a);
}

/* What rstd must lie within, generously; an apply may allow more. */
#define RSTD_MAX ITEM_MAX
#define RSTD_MIN ITEM_MIN

#endif

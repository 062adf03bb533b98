/* doubled: mean and rstd of an f64 row to about a hundred bits, by sums in pairs of numbers.
 *
 *     m = p + sum(x - p) / N, p the row's first element       t = x - m, exactly, in two parts
 *     S = sum(t)     Q = sum(t^2)     mean = m + S / N        m2 = Q - S^2 / N
 *
 * (Chan, Golub, LeVeque, 1983, formula 1.7.) S and Q are sums of two parts: the rounding errors of additions (Knuth's
 * two_sum), products and differences are added separately (Ogita, Rump, Oishi, "Accurate Sum and Dot Product", SIAM J.
 * Sci. Comput. 26, 2005, Sum2 and Dot2). The mean has three parts, rstd two. Reads the row twice for the statistics.
 *
 * A row whose m2 overflows or is not negligible compared with an eps that is `far`, or is so small that parts of
 * squares may have underflowed, is computed again at a scale, a power of two that brings max|x| near 1.
 *
 * Bound: proven in apply/in_pairs.h. */
#ifndef LN_STATISTICS_H
#define LN_STATISTICS_H

#ifndef LN_LANE_FILE
#define LN_ITEM f64
#define LN_LANE_FILE "lane/scalar.h"
#define LN_STORAGE f64
#define LN_PARAM f64
#define LN_LANES 1
#define LN_UNROLL 2
#define LN_CHUNK 2
#define LN_FMA 0
#define LN_APPLY_FILE "apply/in_pairs.h"
#define LN_SCHEDULE_FILE "schedule/alone.h"
#endif
#include "statistics/residuals.h"

#define HIGHEST 0x1p400
#define LOWEST 0x1p-800

/* ---- Pairs ---- */

/* a + b = high + low. */
typedef struct two {
    real high;
    real low;
} two;

LN_INLINE two two_sum(real a, real b)
{
    real sum = a + b, from_b = sum - a;
    return (two){sum, (a - (sum - from_b)) + (b - from_b)};
}

/* The same for |a| >= |b|, or a = 0. */
LN_INLINE two two_sum_ordered(real a, real b)
{
    real sum = a + b;
    return (two){sum, b - (sum - a)};
}

LN_INLINE two two_product(real a, real b)
{
    real product = a * b;
    return (two){product, fma(a, b, 0 - product)};
}

/* Returns a / n. (Here and below 0 - a is used, not -a, which would change the sign of a NaN; the compiler decides
 * which NaN an operation on two of them returns.) */
LN_INLINE two two_over(two a, real n)
{
    real first = a.high / n;
    return two_sum_ordered(first, (fma(first, -n, a.high) + a.low) / n);
}

/* Returns a b + c, rounded once. Plain C has a function for that, which may be slow. */
LN_INLINE vec fused(vec a, vec b, vec c)
{
#if LN_FMA
    return lane_multiply_add(a, b, c);
#else
    _Static_assert(LN_LANES == 1, "vectors have fused operations");
    return fma(a, b, c);
#endif
}

/* Returns the rounding error of a b for numbers below 2^990: a b + opposite, where `opposite` is -a b rounded. Plain C
 * uses Dekker's product of halves ("A Floating-Point Technique for Extending the Available Precision",
 * Numer. Math. 18, 1971). */
LN_INLINE vec product_rest(vec a, vec b, vec opposite)
{
#if LN_FMA
    return lane_multiply_add(a, b, opposite);
#else
    const real split = 0x1p27 + 1;
    vec a_far = split * a, b_far = split * b;
    vec a_high = a_far - (a_far - a), b_high = b_far - (b_far - b);
    vec a_low = a - a_high, b_low = b - b_high;
    return ((a_high * b_high + opposite) + a_high * b_low + a_low * b_high) + a_low * b_low;
#endif
}

LN_INLINE vec lanes_sum(vec a, vec b, vec *rest)
{
    vec sum = lane_add(a, b), from_b = lane_subtract(sum, a);
    *rest = lane_add(lane_subtract(a, lane_subtract(sum, from_b)), lane_subtract(b, from_b));
    return sum;
}

/* ---- The sweep ---- */

typedef struct doubled_sums {
    vec x[UNROLL];
    vec x_rest[UNROLL];
    vec square[UNROLL]; /* of t (-t), so that the rounding error of a product is t t + t (-t) */
    vec square_rest[UNROLL];
} doubled_sums;

LN_INLINE void doubled_add(doubled_sums *sums, unsigned u, vec x, vec mean, vec minus, size_t n)
{
    vec e, error, t = lanes_sum(x, minus, &e), opposite = lane_subtract(mean, x);
    if (n < LANES) {
        t = lane_first(t, n);
        e = lane_first(e, n);
        opposite = lane_first(opposite, n);
    }
    sums->x[u] = lanes_sum(sums->x[u], t, &error);
    sums->x_rest[u] = lane_add(sums->x_rest[u], lane_add(error, e));
    vec square = lane_multiply(t, opposite), rest = product_rest(t, t, square);
    sums->square[u] = lanes_sum(sums->square[u], square, &error);
    rest = lane_subtract(error, multiply_add(t, lane_add(e, e), rest));
    sums->square_rest[u] = lane_add(sums->square_rest[u], rest);
}

LN_INLINE two doubled_total(const vec sums[UNROLL], const vec rests[UNROLL])
{
    real lanes[LANES], lane_rests[LANES];
    two total = {0, 0};
    for (size_t u = 0; u < UNROLL; u++) {
        item_store(lanes, sums[u]);
        item_store(lane_rests, rests[u]);
        for (size_t i = 0; i < LANES; i++) {
            two sum = two_sum(total.high, lanes[i]);
            total = (two){sum.high, total.low + (sum.low + lane_rests[i])};
        }
    }
    return two_sum(total.high, total.low);
}

/* ---- Moments ---- */

/* The moments of x * scale. */
typedef struct doubled_moments {
    real scale;
    real mean[3];
    two m2;
} doubled_moments;

typedef struct statistics {
    real count;
    real divisor;
    real eps_in_variance;
    real eps_on_std;
} statistics;

LN_INLINE statistics statistics_prepare(const ln_problem *problem)
{
    const ln_convention *wanted = &problem->convention;
    return (statistics){
        .count = (real)problem->hidden,
        .divisor = (real)(problem->hidden - (size_t)wanted->ddof),
        .eps_in_variance = wanted->eps_place == LN_EPS_VAR ? wanted->eps : 0,
        .eps_on_std = wanted->eps_place == LN_EPS_STD ? wanted->eps : 0,
    };
}

LN_INLINE doubled_moments doubled_about(const statistics *stats, residual_source source, real mean)
{
    doubled_sums sums;
    size_t hidden = source.row->hidden;
    vec means = lane_set(mean), minus = lane_set(0 - mean), scale = lane_set(source.scale);
    LN_UNROLLED
    for (unsigned u = 0; u < UNROLL; u++)
        sums.x[u] = sums.x_rest[u] = sums.square[u] = sums.square_rest[u] = lane_set(0);
    for (size_t i = 0; i < hidden; i += BLOCK) {
        LN_UNROLLED
        for (unsigned u = 0; u < UNROLL; u++) {
            size_t at = i + u * LANES, n = hidden - at;
            if (at >= hidden)
                continue;
            vec x = row_again(source.row, at, n);
            doubled_add(&sums, u, source.scaled ? lane_multiply(x, scale) : x, means, minus, n);
        }
    }
    two sum = doubled_total(sums.x, sums.x_rest);
    two square = doubled_total(sums.square, sums.square_rest);
    two rest = two_over(sum, stats->count), product = two_product(sum.high, rest.high);
    two m2 = two_sum(0 - square.high, 0 - product.high);
    m2.low -= square.low + (product.low + (sum.high * rest.low + sum.low * rest.high));
    m2 = two_sum(m2.high, m2.low);
    two first = two_sum(mean, rest.high), second = two_sum(first.low, rest.low);
    two top = two_sum_ordered(first.high, second.high);
    return (doubled_moments){source.scale, {top.high, top.low, second.low}, m2};
}

LN_RARE doubled_moments doubled_scaled(statistics stats, row view)
{
    real scale = scale_of(residual_largest(&view), 0, ITEM_MAX, ITEM_SCALES);
    residual_source source = {&view, scale, 1};
    real pivot = acc_sum(row_again(&view, 0, 1)) * scale;
    doubled_moments found =
        doubled_about(&stats, source, residual_mean(source, pivot, stats.count));
    if (found.m2.high == 0) /* the elements are equal: eps needs no scale */
        found = (doubled_moments){1, {found.mean[0] / scale, 0, 0}, found.m2};
    return found;
}

LN_INLINE doubled_moments doubled_of(const statistics *stats, const row *view)
{
    residual_source source = {view, 1, 0};
    real mean = residual_mean(source, residual_pivot(view), stats->count);
    doubled_moments found = doubled_about(stats, source, mean);
    int fine = found.m2.high < (real)HIGHEST && found.m2.high >= LOWEST;
    if (__builtin_expect(!fine, 0))
        found = doubled_scaled(*stats, *view);
    return found;
}

/* Returns the mean, rounded once. If it is subnormal, the high part may be between two numbers, and the rest decides
 * which one is nearer. */
LN_INLINE real doubled_mean(const doubled_moments *found)
{
    real mean = found->mean[0] / found->scale, low = found->mean[1];
    real rest = found->mean[0] - mean * found->scale;
    int is_tie = 2 * fabs(rest) == REAL_TINY * found->scale;
    return is_tie && (rest < 0 ? low < 0 : low > 0) ? mean + copysign(REAL_TINY, rest) : mean;
}

/* rstd of a row at a scale. */
typedef struct doubled_factor {
    two value; /* rstd / scale; if the row is far, rstd times 2^exponent */
    int far;
    int exponent;
} doubled_factor;

/* Computes rstd. A row is far if eps is more than 2^500 times the variance (on the std: 2^250 times), so that only eps
 * matters, or if the variance is 0, so that 1 / eps may be infinite. */
LN_INLINE doubled_factor doubled_rstd(const statistics *stats, const doubled_moments *found)
{
    real eps = (stats->eps_in_variance * found->scale) * found->scale;
    real on_std = stats->eps_on_std * found->scale, lift = 1;
    two var = two_over(found->m2, stats->divisor);
    doubled_factor rstd = {.exponent = 0};
    rstd.far = eps > 0x1p900 || on_std > 0x1p450 || (var.high == 0 && on_std > 0);
    if (rstd.far) {
        lift = stats->eps_in_variance < 0x1p-500 ? 0x1p200 : 1; /* against underflow in the root */
        var = (two){0 * var.high, 0};                           /* a NaN stays one */
        eps = stats->eps_in_variance * (lift * lift);
        on_std = frexp(stats->eps_on_std, &rstd.exponent);
    }
    two sum = two_sum(var.high, eps);
    var = two_sum(sum.high, sum.low + var.low);
    real root = sqrt(var.high), rest = (fma(root, 0 - root, var.high) + var.low) / (2 * root);
    two std = two_sum(root / lift, on_std);
    std.low += root > 0 ? rest / lift : 0;
    real first = 1 / std.high;
    rstd.value = (two){first, (fma(0 - first, std.high, 1) - first * std.low) * first};
    return rstd;
}

/* Returns rstd, rounded. */
LN_INLINE real doubled_rstd_of_row(const doubled_moments *found, const doubled_factor *rstd)
{
    return rstd->far ? ldexp(rstd->value.high, -rstd->exponent) : rstd->value.high * found->scale;
}

#endif

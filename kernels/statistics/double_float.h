/* double_float: two passes in which every sum, the mean and every deviation and square is a pair of
 * numbers, high + low, |low| <= u |high|: twice the digits without a longer type.
 *
 *     sum(x)                 pair + number           mean = sum(x) / N   pair / number
 *     t = x - mean           number - pair           m2 = sum(t^2)    pair squared, pair + pair
 *
 * made of the error-free s + e = a + b (six operations, or three where |a| >= |b|) and p + e = a b
 * (one fused operation beside the product; seventeen without) of Dekker, "A Floating-Point
 * Technique for Extending the Available Precision", Numer. Math. 18, 1971, and Knuth, as put
 * together by Joldes, Muller, Popescu, "Tight and Rigorous Error Bounds for Basic Building Blocks
 * of Double-Word Arithmetic", ACM TOMS 44, 2017 (JMP). Reads the row twice for the statistics.
 * compensated keeps the errors of its sums, and rounds what they give; here nothing is rounded to
 * one number before rstd.
 *
 * Bound. u = REAL_UNIT, h(k) = k u^2 / (1 - k u^2), D = bound_depth(N), A = sum|x| / N, V the exact
 * biased variance, m = high + low of mean.
 *  1. sum(x): JMP's algorithm 4 (pair + number) is off by 2 u^2 of its result at most, algorithm 6
 *     (pair + pair) by 3 u^2 + 13 u^3 < 4 u^2; so the sum by h(4 D) sum|x|. The quotient: algorithm
 *     15, 3 u^2, and its low part may be subnormal: |m - mu| <= delta = h(4 D + 4) A + 2 tiny.
 *  2. t: x - high = s + e exactly, e' = fl(e - low), t = s + e' exactly, as a pair. If high / 2 <=
 *     x <= 2 high then e = 0 (Sterbenz) and e' = -low. If not, |high| <= 2 |x - high|, so that
 *     |low| <= 2 u |s| / (1 - u), |e| <= u |s|, and rounding their difference costs 3.1 u^2 |s|.
 *     Either way t = (x - m)(1 + d), |d| <= 5 u^2.
 *  3. t^2, t = a + b, |b| <= u |a|: a a = p + q but for what is subnormal, r = fl(q + 2 a b) has
 *     |r| <= 3.1 u p and is off by 5.1 u^2 p at most (3.1 where fused); b b <= u^2 p is left out.
 *     So p + r is within 7 u^2 a^2 of t^2, or 8 u^2 t^2: with 2, within 19 u^2 of (x - m)^2, and 10
 *     tiny.
 *  4. Adding p + r to a sum S = (s, l), none negative: s' + e = s + p exactly, v = fl(l + r), w =
 *     fl(e + v), and then (s', w) summed exactly, |w| being less than s'. The two roundings cost u
 *     (u s + 3.1 u p) and u (u s' + that (1 + u)); s + p <= s' (1 + u), so together less than 8 u^2
 *     (S + p + r). Over lanes algorithm 6 again. All in all sum(t^2) is within h(8 D + 20) of sum
 *     (x - m)^2 = N (V + (m - mu)^2), and 12 N tiny.
 *  5. m2 as one number: its unit more.
 * No claim where N is not exact or N A, a deviation or N V come near the largest number (without
 * fused operations also high times 2^12, which Dekker's product needs). */
#ifndef LN_STATISTICS_H
#define LN_STATISTICS_H

#define LN_SQUARES_IN_DOUBLE

#include "statistics/count.h"
#include "statistics/no_pivot.h"

typedef struct acc_pair {
    acc high;
    acc low;
} acc_pair;

typedef struct real_pair {
    real high;
    real low;
} real_pair;

/* a + b, exactly. */
LN_INLINE acc_pair two_sum(acc a, acc b)
{
    acc sum = acc_add(a, b), added = acc_subtract(sum, a);
    acc error = acc_add(acc_subtract(a, acc_subtract(sum, added)), acc_subtract(b, added));
    return (acc_pair){sum, error};
}

/* The same, where |a| >= |b| or a is 0. */
LN_INLINE acc_pair fast_two_sum(acc a, acc b)
{
    acc sum = acc_add(a, b);
    return (acc_pair){sum, acc_subtract(b, acc_subtract(sum, a))};
}

LN_INLINE real_pair real_two_sum(real a, real b)
{
    real sum = a + b, added = sum - a;
    return (real_pair){sum, (a - (sum - added)) + (b - added)};
}

LN_INLINE real_pair real_fast_two_sum(real a, real b)
{
    real sum = a + b;
    return (real_pair){sum, b - (sum - a)};
}

/* 2^ceil(digits / 2) + 1: Dekker's way to cut a number in halves whose products are exact. */
#define SPLITTER (sizeof(real) == sizeof(double) ? (real)0x1.0000002p27 : (real)0x1.001p12)

/* a a, exactly. */
LN_INLINE acc_pair two_square(acc a)
{
    acc product = acc_multiply(a, a);
    if (LN_FMA)
        return (acc_pair){product, acc_multiply_add(a, a, acc_subtract(acc_set(0), product))};
    acc wide = acc_multiply(a, acc_set(SPLITTER));
    acc high = acc_subtract(wide, acc_subtract(wide, a)), low = acc_subtract(a, high);
    acc error = acc_subtract(acc_multiply(high, high), product);
    acc both = acc_multiply(high, low);
    error = acc_add(acc_add(error, acc_add(both, both)), acc_multiply(low, low));
    return (acc_pair){product, error};
}

/* a * b = product + this, exactly. */
LN_INLINE real product_error(real a, real b, real product)
{
    if (LN_FMA)
        return sizeof(real) == sizeof(double) ? (real)fma(a, b, -product)
                                              : (real)fmaf((float)a, (float)b, (float)-product);
    real wide_a = a * SPLITTER, high_a = wide_a - (wide_a - a), low_a = a - high_a;
    real wide_b = b * SPLITTER, high_b = wide_b - (wide_b - b), low_b = b - high_b;
    real error = high_a * high_b - product;
    return ((error + high_a * low_b) + low_a * high_b) + low_a * low_b;
}

/* JMP, algorithm 4. */
LN_INLINE acc_pair pair_plus(acc_pair sum, acc x)
{
    acc_pair high = two_sum(sum.high, x);
    return fast_two_sum(high.high, acc_add(sum.low, high.low));
}

/* JMP, algorithm 6: the same operations for lanes side by side and for one. */
LN_INLINE acc_pair pair_plus_pair(acc_pair a, acc_pair b)
{
    acc_pair high = two_sum(a.high, b.high), low = two_sum(a.low, b.low);
    acc_pair both = fast_two_sum(high.high, acc_add(high.low, low.high));
    return fast_two_sum(both.high, acc_add(low.low, both.low));
}

LN_INLINE real_pair real_pair_plus_pair(real_pair a, real_pair b)
{
    real_pair high = real_two_sum(a.high, b.high), low = real_two_sum(a.low, b.low);
    real_pair both = real_fast_two_sum(high.high, high.low + low.high);
    return real_fast_two_sum(both.high, low.low + both.low);
}

/* JMP, algorithm 15. */
LN_INLINE real_pair real_pair_over(real_pair a, real b)
{
    real high = a.high / b, product = high * b;
    real left = (a.high - product) - product_error(high, b, product);
    return real_fast_two_sum(high, (left + a.low) / b);
}

/* The sum over accumulators and lanes, in the order of sum_of(). */
LN_INLINE real_pair pairs_sum(acc_pair pairs[UNROLL])
{
    real high[LANES], low[LANES];
    LN_UNROLLED
    for (unsigned half = UNROLL / 2; half > 0; half /= 2) {
        LN_UNROLLED
        for (unsigned u = 0; u < half; u++)
            pairs[u] = pair_plus_pair(pairs[u], pairs[u + half]);
    }
    acc_store(high, pairs[0].high);
    acc_store(low, pairs[0].low);
    for (size_t half = LANES / 2; half > 0; half /= 2)
        for (size_t j = 0; j < half; j++) {
            real_pair sum = real_pair_plus_pair((real_pair){high[j], low[j]},
                                                (real_pair){high[j + half], low[j + half]});
            high[j] = sum.high;
            low[j] = sum.low;
        }
    return (real_pair){high[0], low[0]};
}

LN_INLINE void pairs_clear(acc_pair pairs[UNROLL])
{
    LN_UNROLLED
    for (unsigned u = 0; u < UNROLL; u++)
        pairs[u].high = pairs[u].low = acc_set(0);
}

/* Adds the first min(left, BLOCK) elements from i on. */
LN_INLINE void pairs_add(acc_pair sums[UNROLL], const row *row, size_t i, size_t left)
{
    LN_UNROLLED
    for (size_t u = 0; u < UNROLL; u++)
        if (left > u * LANES)
            sums[u] = pair_plus(sums[u], acc_of(row_first(row, i + u * LANES, left - u * LANES)));
}

/* Steps 2 to 4 of the proof, for n elements (LANES of them if n is more). */
LN_INLINE acc_pair pair_plus_square(acc_pair sum, acc x, acc_pair mean, size_t n)
{
    acc_pair t = two_sum(x, acc_subtract(acc_set(0), mean.high));
    t = two_sum(t.high, acc_subtract(t.low, mean.low));
    if (n < LANES)
        t = (acc_pair){acc_first(t.high, n), acc_first(t.low, n)};
    acc_pair square = two_square(t.high);
    acc rest = acc_multiply_add(acc_add(t.high, t.high), t.low, square.low);
    acc_pair high = two_sum(sum.high, square.high);
    return fast_two_sum(high.high, acc_add(high.low, acc_add(sum.low, rest)));
}

LN_INLINE void pairs_add_squares(acc_pair sums[UNROLL], const row *row, acc_pair mean, size_t i,
                                 size_t left)
{
    LN_UNROLLED
    for (size_t u = 0; u < UNROLL; u++) {
        if (left <= u * LANES)
            continue;
        size_t at = i + u * LANES, n = left - u * LANES;
        sums[u] = pair_plus_square(sums[u], acc_of(row_again(row, at, n)), mean, n);
    }
}

LN_INLINE moments statistics_of(const statistics *statistics, const row *row, real pivot)
{
    (void)pivot;
    acc_pair sums[UNROLL];
    pairs_clear(sums);
    size_t i = 0;
    for (; row->hidden - i >= BLOCK; i += BLOCK)
        pairs_add(sums, row, i, BLOCK);
    pairs_add(sums, row, i, row->hidden - i);
    real_pair mean = real_pair_over(pairs_sum(sums), statistics->count);

    acc_pair means = {acc_set(mean.high), acc_set(mean.low)};
    pairs_clear(sums);
    for (i = 0; row->hidden - i >= BLOCK; i += BLOCK)
        pairs_add_squares(sums, row, means, i, BLOCK);
    pairs_add_squares(sums, row, means, i, row->hidden - i);
    real_pair m2 = pairs_sum(sums);
    return (moments){mean.high, mean.low, (squares)m2.high + (squares)m2.low, 1};
}

LN_INLINE double pair_gamma(double roundings)
{
    return bound_gamma_of(REAL_UNIT * REAL_UNIT, roundings);
}

LN_INLINE moments_bound statistics_bound(const ln_problem *problem, const ln_row_facts *facts)
{
    double n = (double)problem->hidden, depth = bound_depth(problem->hidden);
    double delta = pair_gamma(4 * depth + 4) * facts->mean_abs + 2 * REAL_TINY;
    double largest = (fabs(facts->mean) + delta) * (1 + 2 * REAL_UNIT);
    double g = pair_gamma(8 * depth + 20) + 0x1p-53 * (1 + 0x1p-20);
    double lo = facts->var * (1 - g) - 12 * REAL_TINY;
    double hi = (facts->var + delta * delta) * (1 + g) + 12 * REAL_TINY;
    if (n > REAL_EXACT_INTEGERS ||
        !(2 * n * facts->mean_abs < REAL_MAX && 2 * (facts->max_dev + delta) < REAL_MAX &&
          2 * n * hi < REAL_MAX && (LN_FMA || 4 * (real)SPLITTER * largest < REAL_MAX)))
        return bound_none;
    return bound_between(facts, lo, hi, delta, REAL_UNIT * largest + REAL_TINY);
}

#endif

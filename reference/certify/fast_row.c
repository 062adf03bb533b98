/* Double-double evaluation of an element, with a bound of its error.
 *
 * u = 2^-53. Every + - * of doubles rounds to nearest: relative error at most u, and for + and - none at all where the
 * result is subnormal. Sums and products marked = are exact (double_double.h). Starred names are exact values; "<~"
 * hides factors (1 + c u), c < 2^10, which the slack at the end covers.
 *
 * The row: m = m0 + m1 and r = r0 + r1 come from MPFR at 128 bits or more (relative error at most
 * 9 * 2^-128, see enclosure.c) and are each cut twice to nearest:
 *     |m - mean*| <~ u^2 |m0|        |r - rstd*| <~ u^2 r0
 *
 * The deviation. s + e = x - m0; c = RN(e - m1); d = dh + dl = s + c.
 *     |e| <= u |s| and |m1| <= u |m0|, so the error of c is <~ u (u |s| + u |m0|), and with s = dh - c (1 + ..)
 *     |d - d*| <~ u^2 (|dh| + 2 |m0|)
 *
 * A product of a = ah + al and b = bh + bl (multiply()): p + q = ah bh with |q| <= u |p|;
 *     RN(ah bl), RN(al bh) are each off by <~ u^2 |p|, their sum by <~ 2 u^2 |p| more, the sum with
 * q by <~ 3 u^2 |p|, and al bl left out is <~ u^2 |p|: together <~ 8 u^2 |p|. |p| >= |that sum|, so
 *     the last step is exact. |p| <~ |hi of the result|.
 *
 * The factor: t = d r.
 *     |t - t*| <~ 8 u^2 |th| + |d| |r - rstd*| + |d - d*| rstd*
 *             <~ u^2 (10 |th| + 2 |m0| r0)
 *
 * eps on the quotient (0 elsewhere): z + e = th + eps; l = RN(tl + e); h = z + l. l is off by
 *     <~ u (u |th| + u |z|), |z| <~ |hh| + 2 u |th|:
 *     |h - h*| <~ u^2 (11 |th| + 2 |m0| r0 + |hh|)
 *
 * gamma, or 1 + gamma: g = gh + gl exactly. b = h g:
 *     |b - b*| <~ 8 u^2 |bh| + |gh| |h - h*| <~ u^2 (|gh| (11 |th| + 2 |m0| r0) + 9 |bh|)
 *
 * beta: z + e = bh + beta; l = RN(bl + e); y = z + l, as for eps:
 *     |y - y*| <~ u^2 (|gh| (11 |th| + 2 |m0| r0) + 10 |bh| + |yh|)
 *
 * The rounding test compares RN(yh + RN(yl - E)) with RN(yh + RN(yl + E)). The inner rounding moves the end by at most
 * u (|yl| + E) <= u^2 |yh| + u E. Rounding is monotone: if
 *     E (1 - u) >= |y - y*| + u^2 |yh|
 * then y* lies between the two unrounded sums, and if both round alike, so does y*.
 *
 *     E = 16 u^2 (|gh| (|th| + |m0| r0) + |bh| + |yh|) + 2^-700
 *
 * is enough: 16 against 11, 10 and 2 leaves a factor 1.45, where all the (1 + c u) and E's own six roundings need less
 * than 1 + 2^-17.
 *
 * Range. |x| < 2^128, and usable means 2^-300 <= r0 <= 2^300 and |eps| <= 2^300; with |gamma| and |beta| at most 2^300
 * (checked at each element) nothing exceeds 2^735, so neither products nor splits overflow. Where a product's low parts
 * underflow, each of at most 12 operations is off by 2^-1075 or less, which later factors raise by at most 2^301: under
 * 2^-700. r0 > 0, so d r underflowing to 0 is such an error too. An interval around 0 never has ends that round alike,
 * as E >= 2^-700. */
#include "certify/fast_row.h"

#include <math.h>

#define MOST 0x1p300
#define UNDERFLOW 0x1p-700

/* Returns value, rounded to a double and its rest to another one. Overwrites value. */
static double_double cut(mpfr_t value)
{
    double_double pair = {.hi = mpfr_get_d(value, MPFR_RNDN)};
    mpfr_sub_d(value, value, pair.hi, MPFR_RNDN); /* exact */
    pair.lo = mpfr_get_d(value, MPFR_RNDN);
    return pair;
}

void fast_row_take(fast_row *fast, const exact_row *row, ln_affine affine,
                   value_enclosure *enclosure)
{
    mpfr_ptr value = enclosure->value;
    mpfr_div_ui(value, enclosure->sum, row->hidden, MPFR_RNDN);
    fast->mean = cut(value);
    mpfr_mul_ui(value, enclosure->factor, row->hidden, MPFR_RNDN);
    fast->rstd = cut(value);
    fast->eps = row->place == LN_EPS_QUOTIENT ? row->eps : 0.0;
    fast->plus = affine == LN_AFFINE_GAMMA1 ? 1.0 : 0.0;
    fast->margin = FAST_ROW_MARGIN;
    fast->usable = fast->rstd.hi >= 1 / MOST && fast->rstd.hi <= MOST && fabs(fast->eps) <= MOST;
}

static inline fast_interval enclose(const fast_row *fast, double x, double gamma, double beta)
{
    double_double s = two_sum(x, -fast->mean.hi);
    double_double d = two_sum(s.hi, s.lo - fast->mean.lo);
    double_double t = multiply(d, fast->rstd);
    double_double z = two_sum(t.hi, fast->eps);
    double_double h = two_sum(z.hi, t.lo + z.lo);
    double_double g = two_sum(fast->plus, gamma);
    double_double b = multiply(h, g);
    z = two_sum(b.hi, beta);
    double_double y = two_sum(z.hi, b.lo + z.lo);
    double sizes = fabs(g.hi) * (fabs(t.hi) + fabs(fast->mean.hi) * fast->rstd.hi);
    sizes = sizes + fabs(b.hi) + fabs(y.hi);
    return (fast_interval){y.hi, y.lo, fast->margin * sizes + UNDERFLOW};
}

fast_interval fast_row_enclose(const fast_row *fast, double x, double gamma, double beta)
{
    return enclose(fast, x, gamma, beta);
}

void fast_row_decide(const fast_row *fast, size_t count, const double *x, const double *gamma,
                     const double *beta, double *exact)
{
    const fast_row row = *fast; /* a copy that exact cannot alias */
    for (size_t i = 0; i < count; i++) {
        fast_interval y = enclose(&row, x[i], gamma[i], beta[i]);
        double low = y.hi + (y.lo - y.error);
        double high = y.hi + (y.lo + y.error);
        bool sure = (low == high) & (fabs(gamma[i]) <= MOST) & (fabs(beta[i]) <= MOST);
        exact[i] = sure ? high : (double)NAN;
    }
    for (size_t i = 0; !row.usable && i < count; i++) {
        exact[i] = (double)NAN;
    }
}

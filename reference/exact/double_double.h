/* Sums and products of doubles without error: a + b = hi + lo and a b = hi + lo exactly.
 *
 * Moller 1965 and Knuth 1969 (two_sum), Dekker 1971, "A floating-point technique for extending the
 * available precision" (quick_two_sum, two_product). They need binary64, rounding to nearest, no
 * overflow and, for the product, no underflow; no fused operation is used or needed, so every
 * machine gives the same bits.
 */
#ifndef LN_DOUBLE_DOUBLE_H
#define LN_DOUBLE_DOUBLE_H

#include <float.h>

#if defined(__FAST_MATH__) || FLT_EVAL_METHOD != 0
#error "these sums and products need IEEE 754 doubles: no -ffast-math, no x87"
#endif

/* An unevaluated sum with |lo| <= 2^-53 |hi|. */
typedef struct double_double {
    double hi, lo;
} double_double;

static inline double_double two_sum(double a, double b)
{
    double sum = a + b;
    double of_b = sum - a;
    return (double_double){sum, (a - (sum - of_b)) + (b - of_b)};
}

/* For |a| >= |b|, or a = 0. */
static inline double_double quick_two_sum(double a, double b)
{
    double sum = a + b;
    return (double_double){sum, b - (sum - a)};
}

/* Veltkamp's split into 26 and 26 bits; |a| < 2^995. */
static inline double_double split(double a)
{
    double scaled = 0x1.0000002p+27 * a;
    double hi = scaled - (scaled - a);
    return (double_double){hi, a - hi};
}

static inline double_double two_product(double a, double b)
{
    double product = a * b;
    double_double s = split(a), t = split(b);
    double deviation = ((s.hi * t.hi - product) + s.hi * t.lo + s.lo * t.hi) + s.lo * t.lo;
    return (double_double){product, deviation};
}

/* Returns a b as a double_double: the low products are rounded, and lo lo is omitted. */
static inline double_double multiply(double_double a, double_double b)
{
    double_double p = two_product(a.hi, b.hi);
    return quick_two_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

#endif

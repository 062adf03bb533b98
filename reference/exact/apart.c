/* The distances of conventions on the row +-s, by closed forms in interval arithmetic.
 *
 * With v = s^2 M / (N - ddof), M = N (N - 1 where N is odd), a convention's xhat is +-s / d + q:
 *
 *     d = sqrt(v + eps)   eps in the variance        d = sqrt(v) + eps   eps on the std
 *     d = sqrt(v)         otherwise                  q = eps on the quotient, else 0
 *
 * (only q for the 0 of an odd row). The elements of two conventions differ by +-(s / d - s / d') +
 * (q - q'), and since the row has both signs, the largest of these is
 *
 *     |s / d - s / d'| + |q - q'|.
 *
 * Every step is rounded down for the lower end and up for the upper one, so the result lies between
 * them; the precision doubles until they agree to 60 bits. Two conventions that coincide on the row
 * never do: they end at the last precision with a lower end of 0. */
#include "exact/apart.h"
#include "metrics/metrics.h"

#include <math.h>
#include <mpfr.h>

enum { FIRST_PRECISION = 256, LAST_PRECISION = 4096, AGREED_BITS = 60 };

typedef struct interval {
    mpfr_t low, high;
} interval;

static void interval_init(interval *made, mpfr_prec_t precision)
{
    mpfr_inits2(precision, made->low, made->high, (mpfr_ptr)0);
}

static void interval_clear(interval *used)
{
    mpfr_clears(used->low, used->high, (mpfr_ptr)0);
}

static bool has_eps(const ln_convention *convention, ln_eps_place place)
{
    return convention->eps_place == place && convention->eps > 0;
}

static double quotient_eps(const ln_convention *convention)
{
    return has_eps(convention, LN_EPS_QUOTIENT) ? convention->eps : 0;
}

/* Computes one end of d; every step is monotone. s^2 M is exact: 48 + 64 bits. */
static void set_denominator(mpfr_t end, const ln_convention *convention, size_t hidden, float scale,
                            mpfr_rnd_t way)
{
    mpfr_set_flt(end, scale, way);
    mpfr_sqr(end, end, way);
    mpfr_mul_ui(end, end, hidden - hidden % 2, way);
    mpfr_div_ui(end, end, hidden - (unsigned long)convention->ddof, way);
    if (has_eps(convention, LN_EPS_VAR))
        mpfr_add_d(end, end, convention->eps, way);
    mpfr_sqrt(end, end, way);
    if (has_eps(convention, LN_EPS_STD))
        mpfr_add_d(end, end, convention->eps, way);
}

/* s / d. */
static void set_xhat(interval *xhat, const ln_convention *convention, size_t hidden, float scale)
{
    mpfr_t denominator, s;
    mpfr_init2(denominator, mpfr_get_prec(xhat->low));
    mpfr_init2(s, 24);
    mpfr_set_flt(s, scale, MPFR_RNDN);
    set_denominator(denominator, convention, hidden, scale, MPFR_RNDU);
    mpfr_div(xhat->low, s, denominator, MPFR_RNDD);
    set_denominator(denominator, convention, hidden, scale, MPFR_RNDD);
    mpfr_div(xhat->high, s, denominator, MPFR_RNDU);
    mpfr_clears(denominator, s, (mpfr_ptr)0);
}

/* |a - b| + |q|. */
static void set_distance(interval *distance, const interval *a, const interval *b, double q_a,
                         double q_b)
{
    mpfr_t other;
    mpfr_init2(other, mpfr_get_prec(distance->low));
    mpfr_sub(distance->low, a->low, b->high, MPFR_RNDD);
    mpfr_sub(other, b->low, a->high, MPFR_RNDD);
    mpfr_max(distance->low, distance->low, other, MPFR_RNDD);
    if (mpfr_sgn(distance->low) < 0)
        mpfr_set_zero(distance->low, 1);
    mpfr_sub(distance->high, a->high, b->low, MPFR_RNDU);
    mpfr_sub(other, b->high, a->low, MPFR_RNDU);
    mpfr_max(distance->high, distance->high, other, MPFR_RNDU);
    mpfr_set_d(other, fmax(q_a, q_b), MPFR_RNDN);
    mpfr_sub_d(other, other, fmin(q_a, q_b), MPFR_RNDD);
    mpfr_add(distance->low, distance->low, other, MPFR_RNDD);
    mpfr_set_d(other, fmax(q_a, q_b), MPFR_RNDN);
    mpfr_sub_d(other, other, fmin(q_a, q_b), MPFR_RNDU);
    mpfr_add(distance->high, distance->high, other, MPFR_RNDU);
    mpfr_clear(other);
}

static bool agrees(const interval *found)
{
    mpfr_t width, allowed;
    mpfr_inits2(mpfr_get_prec(found->low), width, allowed, (mpfr_ptr)0);
    mpfr_sub(width, found->high, found->low, MPFR_RNDU);
    mpfr_mul_2si(allowed, found->low, -AGREED_BITS, MPFR_RNDD);
    bool agrees = mpfr_cmp(width, allowed) <= 0;
    mpfr_clears(width, allowed, (mpfr_ptr)0);
    return agrees;
}

static void set_figures(ln_apart *apart, const interval *distance, const interval *given, double q)
{
    mpfr_t size, relative;
    mpfr_inits2(mpfr_get_prec(given->low), size, relative, (mpfr_ptr)0);
    mpfr_add_d(size, given->low, q, MPFR_RNDN);
    mpfr_div(relative, distance->low, size, MPFR_RNDN);
    apart->absolute = mpfr_get_d(distance->low, MPFR_RNDN);
    apart->relative = mpfr_get_d(relative, MPFR_RNDN);
    apart->row_ulp = apart->absolute / ln_ulp_f32(mpfr_get_d(size, MPFR_RNDN));
    mpfr_clears(size, relative, (mpfr_ptr)0);
}

static bool try_precision(const ln_convention *given, const ln_convention *other, size_t hidden,
                          float scale, mpfr_prec_t precision, ln_apart *apart)
{
    interval a, b, distance;
    interval_init(&a, precision);
    interval_init(&b, precision);
    interval_init(&distance, precision);
    set_xhat(&a, given, hidden, scale);
    set_xhat(&b, other, hidden, scale);
    set_distance(&distance, &a, &b, quotient_eps(given), quotient_eps(other));
    bool decided = agrees(&distance);
    set_figures(apart, &distance, &a, quotient_eps(given));
    interval_clear(&a);
    interval_clear(&b);
    interval_clear(&distance);
    return decided;
}

bool ln_reference_apart(const ln_convention *conventions, size_t count, size_t hidden, float scale,
                        ln_apart *matrix)
{
    if (hidden < 2 || !isfinite(scale) || !(scale > 0))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!isfinite(conventions[i].eps) || conventions[i].eps < 0)
            return false;
    for (size_t a = 0; a < count; a++)
        for (size_t b = 0; b < count; b++) {
            mpfr_prec_t precision = FIRST_PRECISION;
            while (!try_precision(&conventions[a], &conventions[b], hidden, scale, precision,
                                  &matrix[a * count + b]) &&
                   precision < LAST_PRECISION)
                precision *= 2;
        }
    return true;
}

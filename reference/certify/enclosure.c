/* A row's results in MPFR, with bounds of their errors.
 *
 * Let p be the precision and u = 2^-p. Each MPFR operation rounds its exact result to nearest, so it has a relative
 * error of at most u (Muller et al., "Handbook of Floating-Point Arithmetic", 2nd ed., section 2.3.1; MPFR neither
 * under- nor overflows here, its exponents have 62 bits). Below, [k] stands for a factor 1 + d, |d| <= k u (1 + 2^-50),
 * which for p >= 64 and k <= 20 is closed under [k][l] = [k + l] and 1 / [k] = [k] in the few steps there are. N, eps,
 * x, gamma (stored) and beta are exact for p >= 64; v, w and sum(x) are exact integers (exact_row.h).
 *
 * The factor, once a row:
 *     eps in the variance, on the quotient, none:   R = sqrt((N - ddof) / (N w))
 *         q = RN(RN(N w) / (N - ddof))   [2];   R = RN(1 / sqrt(q))   [1 + 1] = [2]
 *     eps on the std:   R = 1 / (N (sqrt(v / (N (N - ddof))) + eps)), both terms >= 0
 *         q = RN(RN(v) / RN(N (N - ddof)))   [3];   s = RN(sqrt(q))   [2.5]
 *         RN(s + eps)   [3.5];   RN(N (...))   [4.5];   R = RN(1 / ...)   [5.5]
 * so R is within [6].
 *
 * An element:
 *     a = RN(N x - sum(x))   [1], and 0 only where the deviation is 0
 *     t = RN(a R)            [1 + 6 + 1] = [8]:      |t - t*|  <=  9 u |t|
 *     h = RN(t + eps)        (quotient):             |h - h*|  <=  9 u |t| + u |h|
 *     g = RN(1 + gamma)      [1]
 *     b = RN(h g)            |b - b*| <= |g| (9 u |t| + u |h|) + (1 + 1) u |b| + second order
 *                                     <= 10 u |g t| + 4 u |b|
 *     y = RN(b + beta)       |y - y*| <= 10 u |g t| + 4 u |b| + u |y|
 * where * marks the exact values and |g h| <= |b| (1 + 2 u). With E(z) the exponent of z, |z| < 2^E(z), the three terms
 * are below 2^(E(g) + E(t) + 4 - p), 2^(E(b) + 2 - p) and 2^(E(y) - p), so
 *     |y - y*| < 3 * 2^(M - p) < 2^(M + 2 - p),   M = max(E(g) + E(t) + 4, E(b) + 2, E(y)),
 * a zero having no exponent; the power of two is exact and y -+ it is rounded outwards.
 *
 * rstd is the element with N x - sum(x) replaced by N, gamma 1 and beta 0: the same bound holds. */
#include "certify/enclosure.h"

#include <limits.h>

enum {
    SCALED_PRECISION = 64 + 53 /* N x */
};

void enclosure_init(value_enclosure *e)
{
    e->precision = ENCLOSURE_MIN_PRECISION;
    mpfr_init2(e->sum, ENCLOSURE_MIN_PRECISION);
    mpfr_init2(e->scaled, SCALED_PRECISION);
    mpfr_inits2(e->precision, e->factor, e->eps, e->deviation, e->gamma, e->beta, e->value,
                e->error, e->low, e->high, (mpfr_ptr)0);
}

void enclosure_clear(value_enclosure *e)
{
    mpfr_clears(e->sum, e->scaled, e->factor, e->eps, e->deviation, e->gamma, e->beta, e->value,
                e->error, e->low, e->high, (mpfr_ptr)0);
}

static void set_precision(value_enclosure *e, mpfr_prec_t precision)
{
    if (e->precision == precision) {
        return;
    }
    mpfr_ptr all[] = {e->factor, e->eps,   e->deviation, e->gamma, e->beta,
                      e->value,  e->error, e->low,       e->high};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        mpfr_set_prec(all[i], precision);
    }
    e->precision = precision;
}

static void set_factor(value_enclosure *e, const exact_row *row)
{
    mpz_t integer;
    mpz_init(integer);
    if (row->place == LN_EPS_STD) {
        mpz_mul_ui(integer, row->divisor, row->hidden);
        mpfr_set_z_2exp(e->value, row->variance, 2 * row->sums.unit, MPFR_RNDN);
        mpfr_set_z(e->error, integer, MPFR_RNDN);
        mpfr_div(e->value, e->value, e->error, MPFR_RNDN);
        mpfr_sqrt(e->value, e->value, MPFR_RNDN);
        mpfr_add(e->value, e->value, e->eps, MPFR_RNDN);
        mpfr_mul_ui(e->value, e->value, row->hidden, MPFR_RNDN);
        mpfr_ui_div(e->factor, 1, e->value, MPFR_RNDN);
    } else {
        mpz_mul_ui(integer, row->radicand, row->hidden);
        mpfr_set_z_2exp(e->value, integer, row->radicand_unit, MPFR_RNDN);
        mpfr_div_z(e->value, e->value, row->divisor, MPFR_RNDN);
        mpfr_rec_sqrt(e->factor, e->value, MPFR_RNDN);
    }
    mpz_clear(integer);
}

void enclosure_take(value_enclosure *e, const exact_row *row, mpfr_prec_t precision)
{
    set_precision(e, precision);
    mpfr_prec_t exact = (mpfr_prec_t)mpz_sizeinbase(row->sums.sum, 2);
    mpfr_set_prec(e->sum, exact > MPFR_PREC_MIN ? exact : MPFR_PREC_MIN);
    mpfr_set_z_2exp(e->sum, row->sums.sum, row->sums.unit, MPFR_RNDN);
    mpfr_set_d(e->eps, row->eps, MPFR_RNDN);
    set_factor(e, row);
}

static mpfr_exp_t exponent_of(mpfr_srcptr value)
{
    return mpfr_zero_p(value) ? LONG_MIN / 4 : mpfr_get_exp(value);
}

static mpfr_exp_t larger(mpfr_exp_t a, mpfr_exp_t b)
{
    return a > b ? a : b;
}

/* deviation = N x - sum(x), or N for rstd. */
static void set_deviation(value_enclosure *e, const exact_row *row, const row_element *element)
{
    if (element->is_rstd) {
        mpfr_set_ui(e->deviation, row->hidden, MPFR_RNDN);
        return;
    }
    mpfr_set_d(e->scaled, element->x, MPFR_RNDN);
    mpfr_mul_ui(e->scaled, e->scaled, row->hidden, MPFR_RNDN);
    mpfr_sub(e->deviation, e->scaled, e->sum, MPFR_RNDN);
}

void enclosure_of(value_enclosure *e, const exact_row *row, const row_element *element)
{
    set_deviation(e, row, element);
    mpfr_mul(e->value, e->deviation, e->factor, MPFR_RNDN);
    mpfr_exp_t bound = exponent_of(e->value) + 4;
    if (!element->is_rstd) {
        if (row->place == LN_EPS_QUOTIENT) {
            mpfr_add(e->value, e->value, e->eps, MPFR_RNDN);
        }
        mpfr_set_d(e->gamma, element->gamma, MPFR_RNDN);
        if (element->gamma_plus_one) {
            mpfr_add_ui(e->gamma, e->gamma, 1, MPFR_RNDN);
        }
        bound += exponent_of(e->gamma);
        mpfr_mul(e->value, e->value, e->gamma, MPFR_RNDN);
        bound = larger(bound, exponent_of(e->value) + 2);
        mpfr_set_d(e->beta, element->beta, MPFR_RNDN);
        mpfr_add(e->value, e->value, e->beta, MPFR_RNDN);
    }
    bound = larger(bound, exponent_of(e->value));
    mpfr_set_ui_2exp(e->error, 1, bound + 2 - (mpfr_exp_t)e->precision, MPFR_RNDN);
    mpfr_sub(e->low, e->value, e->error, MPFR_RNDD);
    mpfr_add(e->high, e->value, e->error, MPFR_RNDU);
}

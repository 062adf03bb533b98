/* Facts are quotients of exact integers, rounded once: mean = sum(x) / N, mean_abs = sum|x| / N, var = v / N^2 and
 * max_dev = max|N x - sum(x)| / N, where the maximum is at the largest or the smallest x. The last three are rounded
 * away from 0 if they are not 0 but would become 0. kappa = sqrt(N sum(x^2) / v) has two more roundings at 128 bits. */
#include "exact/facts.h"

#include <float.h>
#include <math.h>

enum { KAPPA_PRECISION = 128, MEAN_PRECISION = 192, DOUBLE_BITS = 53 };

row_extremes extremes_of(size_t hidden, const float *x)
{
    float low = x[0], high = x[0];
    for (size_t i = 1; i < hidden; i++) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    return (row_extremes){(double)low, (double)high};
}

row_extremes extremes_of_f64(size_t hidden, const double *x)
{
    row_extremes extremes = {x[0], x[0]};
    for (size_t i = 1; i < hidden; i++) {
        extremes.low = x[i] < extremes.low ? x[i] : extremes.low;
        extremes.high = x[i] > extremes.high ? x[i] : extremes.high;
    }
    return extremes;
}

/* deviation = |N x - sum(x)| in units of 2^sums.unit, of which x is a multiple. */
static void set_deviation(mpz_t deviation, const exact_row *row, double x)
{
    int exponent;
    double fraction = frexp(x, &exponent);
    long shift = (long)exponent - DOUBLE_BITS - row->sums.unit;
    mpz_set_d(deviation, ldexp(fraction, DOUBLE_BITS));
    if (shift >= 0) {
        mpz_mul_2exp(deviation, deviation, (mp_bitcnt_t)shift);
    } else { /* only zeros are cut off */
        mpz_tdiv_q_2exp(deviation, deviation, (mp_bitcnt_t)-shift);
    }
    mpz_mul_ui(deviation, deviation, row->hidden);
    mpz_sub(deviation, deviation, row->sums.sum);
    mpz_abs(deviation, deviation);
}

static double fact_of(mpz_srcptr numerator, mpz_srcptr denominator, long exponent)
{
    double fact = rounding_of_quotient(numerator, denominator, exponent).to_double;
    return fact == 0 && mpz_sgn(numerator) != 0 ? DBL_TRUE_MIN : fact;
}

rounded_pair mean_of(const exact_row *row)
{
    mpz_t count;
    mpz_init_set_ui(count, row->hidden);
    rounded_pair mean = rounding_of_quotient(row->sums.sum, count, row->sums.unit);
    mpz_clear(count);
    return mean;
}

double rest_of_mean(const exact_row *row, double rounded)
{
    mpfr_t mean;
    mpfr_init2(mean, MEAN_PRECISION);
    mpfr_set_z_2exp(mean, row->sums.sum, row->sums.unit, MPFR_RNDN);
    mpfr_div_ui(mean, mean, row->hidden, MPFR_RNDN);
    mpfr_sub_d(mean, mean, rounded, MPFR_RNDN);
    mpfr_mul_2si(mean, mean, -exponent_of_ulp(rounded), MPFR_RNDN);
    double rest = mpfr_get_d(mean, MPFR_RNDN);
    mpfr_clear(mean);
    return rest;
}

void facts_take(ln_row_facts *facts, const exact_row *row, row_extremes extremes)
{
    mpz_t count, square, deviation, other;
    mpz_init_set_ui(count, row->hidden);
    mpz_inits(square, deviation, other, NULL);
    mpz_mul(square, count, count);
    set_deviation(deviation, row, extremes.low);
    set_deviation(other, row, extremes.high);
    if (mpz_cmp(other, deviation) > 0) {
        mpz_swap(other, deviation);
    }
    facts->mean = mean_of(row).to_double;
    facts->mean_abs = fact_of(row->sums.sum_abs, count, row->sums.unit);
    facts->max_abs = fmax(fabs(extremes.low), fabs(extremes.high));
    facts->var = fact_of(row->variance, square, 2 * row->sums.unit);
    facts->max_dev = fact_of(deviation, count, row->sums.unit);
    mpz_clears(count, square, deviation, other, NULL);
}

double kappa_of(const exact_row *row)
{
    if (mpz_sgn(row->variance) == 0) {
        return INFINITY;
    }
    mpz_t numerator;
    mpfr_t kappa;
    mpz_init(numerator);
    mpfr_init2(kappa, KAPPA_PRECISION);
    mpz_mul_ui(numerator, row->sums.squares, row->hidden);
    mpfr_set_z(kappa, numerator, MPFR_RNDN);
    mpfr_div_z(kappa, kappa, row->variance, MPFR_RNDN);
    mpfr_sqrt(kappa, kappa, MPFR_RNDN);
    double rounded = mpfr_get_d(kappa, MPFR_RNDN);
    mpfr_clear(kappa);
    mpz_clear(numerator);
    return rounded;
}

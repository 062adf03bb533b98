/* The rounding test.
 *
 * Rounding is monotone, so if both ends of an interval round to the same number, all of it does.
 * Ends are compared bit for bit: -0 and +0 differ, so that an interval around 0 never decides.
 *
 * The float follows from the double where that is not a midpoint of floats: midpoints m are
 * doubles, so y < m rounds to a double <= m; one that is not m lies on the same side of m as y.
 * Otherwise the ends are rounded to float themselves.
 */
#include "rounding.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { WORK_PRECISION = 64 };

static uint64_t double_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Surely not a midpoint of two floats: those have 25 bits (fewer where subnormal), so that the last
 * 28 of the 53 bits of a double are zeros. */
static bool is_clear_of_midpoints(double value)
{
    return fabs(value) < 0x1p127 && (double_bits(value) & 0x0fffffffu) != 0;
}

/* The largest float's neighbour, for the sake of midpoints, is 2^128. */
static double neighbour(float value)
{
    return isinf(value) ? copysign(0x1p128, (double)value) : (double)value;
}

bool rounding_decides(mpfr_srcptr low, mpfr_srcptr high, rounded_pair *rounded,
                      critical_number *critical)
{
    double low_double = mpfr_get_d(low, MPFR_RNDN);
    double high_double = mpfr_get_d(high, MPFR_RNDN);
    critical->known = false;
    if (double_bits(low_double) != double_bits(high_double)) {
        bool has_zero = mpfr_sgn(low) <= 0 && mpfr_sgn(high) >= 0;
        critical->known = has_zero || high_double == nextafter(low_double, INFINITY);
        critical->low = has_zero ? 0.0 : low_double;
        critical->high = has_zero ? 0.0 : high_double;
        return false;
    }
    rounded->to_double = low_double;
    if (is_clear_of_midpoints(low_double)) {
        rounded->to_float = (float)low_double;
        return true;
    }
    float low_float = mpfr_get_flt(low, MPFR_RNDN);
    float high_float = mpfr_get_flt(high, MPFR_RNDN);
    rounded->to_float = low_float;
    if (low_float == high_float) { /* of one sign, as the doubles are */
        return true;
    }
    *critical = (critical_number){true, neighbour(low_float), neighbour(high_float)};
    return false;
}

static rounded_pair round_both(mpfr_srcptr value)
{
    return (rounded_pair){mpfr_get_flt(value, MPFR_RNDN), mpfr_get_d(value, MPFR_RNDN)};
}

static void set_bound(mpfr_t value, double bound)
{
    if (isinf(bound)) {
        mpfr_set_si_2exp(value, bound > 0 ? 1 : -1, 1024, MPFR_RNDN);
    } else {
        mpfr_set_d(value, bound, MPFR_RNDN);
    }
}

rounded_pair rounding_of_critical(const critical_number *critical)
{
    mpfr_t middle, other;
    mpfr_inits2(WORK_PRECISION, middle, other, (mpfr_ptr)0);
    set_bound(middle, critical->low);
    set_bound(other, critical->high);
    mpfr_add(middle, middle, other, MPFR_RNDN); /* exact: neighbours, 54 bits */
    mpfr_div_2ui(middle, middle, 1, MPFR_RNDN);
    rounded_pair rounded = round_both(middle);
    mpfr_clears(middle, other, (mpfr_ptr)0);
    return rounded;
}

/* The quotient is cut to 64 bits; where something was cut off, a 1 is appended in its place.
 * Floats, doubles and their midpoints have at most 54 bits, so that none lies strictly between two
 * neighbouring 64-bit numbers, and what was appended rounds as the quotient does. */
rounded_pair rounding_of_quotient(mpz_srcptr numerator, mpz_srcptr denominator, long exponent)
{
    if (mpz_sgn(numerator) == 0) {
        return (rounded_pair){0.0f, 0.0};
    }
    mpfr_t quotient, exact;
    mpfr_init2(quotient, WORK_PRECISION);
    mpfr_init2(exact, (mpfr_prec_t)mpz_sizeinbase(numerator, 2) + 1);
    mpfr_set_z_2exp(exact, numerator, exponent, MPFR_RNDN);
    int cut = mpfr_div_z(quotient, exact, denominator, MPFR_RNDZ);
    if (cut != 0) {
        mpfr_prec_round(quotient, WORK_PRECISION + 2, MPFR_RNDN);
        if (mpfr_sgn(quotient) > 0) {
            mpfr_nextabove(quotient);
        } else {
            mpfr_nextbelow(quotient);
        }
    }
    rounded_pair rounded = round_both(quotient);
    mpfr_clears(quotient, exact, (mpfr_ptr)0);
    return rounded;
}

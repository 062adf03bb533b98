/* The rounding test.
 *
 * Rounding is monotone, so if both ends of an interval round to the same number, all of it does. Ends are compared bit
 * for bit: -0 and +0 differ, so that an interval around 0 never decides.
 *
 * The float follows from the double where that is not a midpoint of floats: midpoints m are doubles, so y < m rounds to
 * a double <= m; one that is not m lies on the same side of m as y. Otherwise the ends are rounded to float themselves.
 *
 * With a rest: once both ends round to the same double r, the ends minus r, rounded outwards, enclose y - r; divided by
 * ulp(r) they are tested like the ends. Their critical number is r + ulp(r) (low + high) / 2. */
#include "certify/rounding.h"

#include "exact/scale.h"

#include <float.h>
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

/* Midpoints of floats have 25 bits, the last of them a 1: the last 28 of the 53 bits of a double
 * are zeros, and the one before is not. Where floats are subnormal they have fewer. */
bool rounding_is_clear(double value)
{
    uint64_t bits = double_bits(value);
    double size = fabs(value);
    bool normal_midpoint = (bits & 0x1fffffffu) == 0x10000000u;
    return size < 0x1p127 && ((bits & 0x0fffffffu) != 0 || (size >= 0x1p-126 && !normal_midpoint));
}

/* Returns the next float. That of the largest float is 2^128, so that there is a midpoint between them. */
static double neighbour(float value)
{
    return isinf(value) ? copysign(0x1p128, (double)value) : (double)value;
}

int exponent_of_ulp(double value)
{
    return ilogb(ulp_in(format_of(LN_F64), value));
}

/* Returns whether both ends round to one double, *rounded. If not, sets the critical number at which the
 * rounding changes. */
static bool decides_double(mpfr_srcptr low, mpfr_srcptr high, double *rounded,
                           critical_number *critical)
{
    double low_double = mpfr_get_d(low, MPFR_RNDN);
    double high_double = mpfr_get_d(high, MPFR_RNDN);
    *rounded = low_double;
    *critical = (critical_number){.known = false};
    if (double_bits(low_double) == double_bits(high_double)) {
        return true;
    }
    bool has_zero = mpfr_sgn(low) <= 0 && mpfr_sgn(high) >= 0;
    critical->known = has_zero || high_double == nextafter(low_double, INFINITY);
    critical->number =
        (row_target){0.0, has_zero ? 0.0 : low_double, has_zero ? 0.0 : high_double, 1.0};
    return false;
}

bool rounding_decides(mpfr_srcptr low, mpfr_srcptr high, rounded_pair *rounded,
                      critical_number *critical)
{
    double low_double;
    if (!decides_double(low, high, &low_double, critical)) {
        return false;
    }
    rounded->to_double = low_double;
    if (rounding_is_clear(low_double)) {
        rounded->to_float = (float)low_double;
        return true;
    }
    float low_float = mpfr_get_flt(low, MPFR_RNDN);
    float high_float = mpfr_get_flt(high, MPFR_RNDN);
    rounded->to_float = low_float;
    if (low_float == high_float) { /* of one sign, as the doubles are */
        return true;
    }
    *critical =
        (critical_number){true, false, {0.0, neighbour(low_float), neighbour(high_float), 1.0}};
    return false;
}

bool rounding_decides_rest(mpfr_srcptr low, mpfr_srcptr high, rounded_rest *rounded,
                           critical_number *critical)
{
    *rounded = (rounded_rest){0.0, 0.0};
    if (!decides_double(low, high, &rounded->rounded, critical)) {
        return false;
    }
    if (isinf(rounded->rounded)) {
        return true;
    }
    mpfr_t low_rest, high_rest;
    mpfr_init2(low_rest, mpfr_get_prec(low));
    mpfr_init2(high_rest, mpfr_get_prec(high));
    mpfr_sub_d(low_rest, low, rounded->rounded, MPFR_RNDD);
    mpfr_sub_d(high_rest, high, rounded->rounded, MPFR_RNDU);
    int exponent = exponent_of_ulp(rounded->rounded);
    mpfr_mul_2si(low_rest, low_rest, -exponent, MPFR_RNDN); /* exact */
    mpfr_mul_2si(high_rest, high_rest, -exponent, MPFR_RNDN);
    bool decided = decides_double(low_rest, high_rest, &rounded->rest, critical);
    if (decided && rounded->rounded == 0 && rounded->rest == 0) {
        rounded->rest = copysign(DBL_TRUE_MIN, rounded->rest); /* y is not 0 */
    }
    critical->is_rest = true;
    critical->number.base = rounded->rounded;
    critical->number.unit = ldexp(1, exponent);
    mpfr_clear(low_rest);
    mpfr_clear(high_rest);
    return decided;
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

/* Sets middle to (low + high) / 2, exactly, since they are neighbours. */
static void set_middle(mpfr_t middle, const critical_number *critical)
{
    mpfr_t other;
    mpfr_init2(other, WORK_PRECISION);
    set_bound(middle, critical->number.low);
    set_bound(other, critical->number.high);
    mpfr_add(middle, middle, other, MPFR_RNDN);
    mpfr_div_2ui(middle, middle, 1, MPFR_RNDN);
    mpfr_clear(other);
}

rounded_pair rounding_of_critical(const critical_number *critical)
{
    mpfr_t middle;
    mpfr_init2(middle, WORK_PRECISION);
    set_middle(middle, critical);
    rounded_pair rounded = round_both(middle);
    mpfr_clear(middle);
    return rounded;
}

/* The number is the middle, a tie of doubles or 0. For a rest, base is the rounded number, and the middle is the rest
 * in ulp, which is itself a tie of doubles or 0. */
rounded_rest rounding_rest_of_critical(const critical_number *critical)
{
    mpfr_t middle;
    mpfr_init2(middle, WORK_PRECISION);
    set_middle(middle, critical);
    rounded_rest rounded = {.rounded = critical->number.base};
    if (!critical->is_rest) {
        rounded.rounded = mpfr_get_d(middle, MPFR_RNDN);
        if (isinf(rounded.rounded)) {
            mpfr_set_zero(middle, 1);
        } else {
            mpfr_sub_d(middle, middle, rounded.rounded, MPFR_RNDN); /* exact, both */
            mpfr_mul_2si(middle, middle, -exponent_of_ulp(rounded.rounded), MPFR_RNDN);
        }
    }
    rounded.rest = mpfr_get_d(middle, MPFR_RNDN);
    mpfr_clear(middle);
    return rounded;
}

/* The quotient is truncated to 64 bits, and a 1 is appended if the rest is not 0.
 * Floats, doubles and their midpoints have at most 54 bits, so that none is strictly between two
 * neighbouring 64-bit numbers, and the result rounds as the quotient does. */
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

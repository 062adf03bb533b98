/* Certified roundings of enclosures. */
#ifndef LN_ROUNDING_H
#define LN_ROUNDING_H

#include "exact/exact_row.h"
#include <mpfr.h>

/* A real number, correctly rounded (to nearest, ties to even, subnormals kept) to both types. An
 * exact zero is +0. */
typedef struct rounded_pair {
    float to_float;
    double to_double;
} rounded_pair;

/* A real number rounded to double, and the exact difference in units of ulp(rounded), rounded to
 * double: |rest| <= 1/2. It is 0 for an infinity, and for a rounded 0 only if the number is 0. */
typedef struct rounded_rest {
    double rounded, rest;
} rounded_rest;

/* The number at which a rounding changes: (low + high) / 2, where low and high are neighbours in float or double, or
 * both 0. For a rest, base is the rounded number, and unit its ulp. */
typedef struct critical_number {
    bool known, is_rest;
    row_target number;
} critical_number;

/* Returns k for ulp(value) = 2^k in double; ulp(0) is the smallest number. */
int exponent_of_ulp(double value);

/* Returns whether value, a real number rounded to double, may be rounded again to float, since it is certainly no
 * midpoint of floats. False for a NaN. */
bool rounding_is_clear(double value);

/* Returns whether all numbers of [low, high] have the same rounding, *rounded. If not, *critical is the number of the
 * interval at which the rounding changes, if the interval is narrow enough to have only one. */
bool rounding_decides(mpfr_srcptr low, mpfr_srcptr high, rounded_pair *rounded,
                      critical_number *critical);

bool rounding_decides_rest(mpfr_srcptr low, mpfr_srcptr high, rounded_rest *rounded,
                           critical_number *critical);

/* Return the rounding of a number that is exactly the critical one. */
rounded_pair rounding_of_critical(const critical_number *critical);
rounded_rest rounding_rest_of_critical(const critical_number *critical);

/* Returns the rounding of numerator * 2^exponent / denominator; the denominator is positive. */
rounded_pair rounding_of_quotient(mpz_srcptr numerator, mpz_srcptr denominator, long exponent);

#endif

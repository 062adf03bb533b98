/* From an enclosure to a certified rounding. */
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

/* A real number rounded to double, and the difference, which no rounding touched, in ulp(rounded)
 * so that it keeps its digits: |rest| <= 1/2, rounded to double. 0 beside an infinity; beside a 0
 * only where the number is 0. */
typedef struct rounded_rest {
    double rounded, rest;
} rounded_rest;

/* The number on which a decision hangs, where low and high are neighbours in float or double, or
 * both 0. Of a rest, base is what it is the rest of, and unit its ulp. */
typedef struct critical_number {
    bool known, is_rest;
    row_target number;
} critical_number;

/* k, where ulp(value) = 2^k in double; that of 0 is the smallest number. */
int exponent_of_ulp(double value);

/* Whether value, a real number rounded to double, may be rounded to float again: it is surely no
 * midpoint of floats. Not for a NaN. */
bool rounding_is_clear(double value);

/* Whether every number of [low, high] rounds alike; then *rounded is that. Else *critical is the
 * one number of the interval at which the rounding changes, if the interval is narrow enough to
 * have only one that matters now. */
bool rounding_decides(mpfr_srcptr low, mpfr_srcptr high, rounded_pair *rounded,
                      critical_number *critical);

bool rounding_decides_rest(mpfr_srcptr low, mpfr_srcptr high, rounded_rest *rounded,
                           critical_number *critical);

/* The rounding of a number that is exactly the critical one. */
rounded_pair rounding_of_critical(const critical_number *critical);
rounded_rest rounding_rest_of_critical(const critical_number *critical);

/* The rounding of numerator * 2^exponent / denominator; the denominator is positive. */
rounded_pair rounding_of_quotient(mpz_srcptr numerator, mpz_srcptr denominator, long exponent);

#endif

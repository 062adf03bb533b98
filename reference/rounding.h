/* From an enclosure to a certified rounding. */
#ifndef LN_ROUNDING_H
#define LN_ROUNDING_H

#include <gmp.h>
#include <mpfr.h>
#include <stdbool.h>

/* A real number, correctly rounded (to nearest, ties to even, subnormals kept) to both types. An
 * exact zero is +0. */
typedef struct rounded_pair {
    float to_float;
    double to_double;
} rounded_pair;

/* The number on which a decision hangs: (low + high) / 2, where low and high are neighbours in
 * float or double, or both 0. An infinite high stands for 2^1024. */
typedef struct critical_number {
    bool known;
    double low, high;
} critical_number;

/* Whether every number of [low, high] rounds alike; then *rounded is that. Else *critical is the
 * one number of the interval at which the rounding changes, if the interval is narrow enough to
 * have only one that matters now. */
bool rounding_decides(mpfr_srcptr low, mpfr_srcptr high, rounded_pair *rounded,
                      critical_number *critical);

/* The rounding of a number that is exactly (low + high) / 2. */
rounded_pair rounding_of_critical(const critical_number *critical);

/* The rounding of numerator * 2^exponent / denominator; the denominator is positive. */
rounded_pair rounding_of_quotient(mpz_srcptr numerator, mpz_srcptr denominator, long exponent);

#endif

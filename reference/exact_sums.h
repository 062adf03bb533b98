/* Exact sums of f32 values, as integers.
 *
 *     exact_sums sums;
 *     exact_sums_init(&sums);
 *     if (exact_sums_take(&sums, count, x)) { ... sums.sum ... }
 *     exact_sums_clear(&sums);
 *
 * Every finite f32 is an integer multiple of 2^-149 below 2^277, so its square is a multiple of
 * 2^-298: sums in those units are integers, and nothing is rounded.
 */
#ifndef LN_EXACT_SUMS_H
#define LN_EXACT_SUMS_H

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>

#define EXACT_SUM_EXPONENT (-149)
#define EXACT_SQUARE_EXPONENT (-298)

typedef struct exact_sums {
    mpz_t sum;     /* sum of x, in units of 2^-149 */
    mpz_t sum_abs; /* sum of |x|, likewise */
    mpz_t squares; /* sum of x^2, in units of 2^-298 */
    mpz_t part;    /* scratch */
} exact_sums;

void exact_sums_init(exact_sums *sums);
void exact_sums_clear(exact_sums *sums);

/* The sums of count values, replacing what was there. False, with nothing meant, where one of them
 * is not finite. */
bool exact_sums_take(exact_sums *sums, size_t count, const float *x);

#endif

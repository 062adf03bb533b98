/* Exact sums of the values of a row, as integers.
 *
 *     exact_sums sums;
 *     exact_sums_init(&sums);
 *     if (exact_sums_take(&sums, count, x)) { ... sums.sum ... }
 *     exact_sums_clear(&sums);
 *
 * Every finite f32 is an integer multiple of 2^-149, every finite f64 one of 2^-1074, and their
 * squares are multiples of the square of that: sums in those units are integers, and nothing is
 * rounded. The other types are f32 values.
 */
#ifndef LN_EXACT_SUMS_H
#define LN_EXACT_SUMS_H

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct exact_sums {
    long unit;     /* the sums are integers times 2^unit; squares: times 2^(2 unit) */
    mpz_t sum;     /* sum of x */
    mpz_t sum_abs; /* sum of |x| */
    mpz_t squares; /* sum of x^2 */
    mpz_t part;    /* scratch */
} exact_sums;

void exact_sums_init(exact_sums *sums);
void exact_sums_clear(exact_sums *sums);

/* Computes the sums of count values. Returns false if one of them is not finite; the sums are then undefined. */
bool exact_sums_take(exact_sums *sums, size_t count, const float *x);
bool exact_sums_take_f64(exact_sums *sums, size_t count, const double *x);

#endif

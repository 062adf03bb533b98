/* Integers of fixed width times powers of 2^32, for comparisons that must be exact.
 *
 *     big a = big_of_double(x), b = big_product(&a, &a);
 *     int larger = big_compare(&b, &a);       // -1, 0, 1
 *
 * Nothing is rounded or allocated. LIMBS is enough for every number in exact.c, as is proven there. */
#ifndef LN_BIG_H
#define LN_BIG_H

#include <stddef.h>
#include <stdint.h>

enum { LIMBS = 192, LIMB_BITS = 32 };

/* sign * sum of limb[i] 2^(32 (i + exponent)), i < count. Neither the first nor the last limb is 0;
 * zero has sign 0 and count 0. */
typedef struct big {
    int sign;
    int exponent;
    unsigned count;
    uint32_t limb[LIMBS];
} big;

big big_of_integer(uint64_t a);
big big_of_double(double a); /* finite */

/* The sum of digit[i] 2^(32 (i + exponent)), any signed digits; they are overwritten. */
big big_of_digits(int64_t *digit, unsigned count, int exponent);

big big_sum(const big *a, const big *b);
big big_product(const big *a, const big *b);
big big_negative(const big *a);
int big_compare(const big *a, const big *b); /* the sign of a - b */

#endif

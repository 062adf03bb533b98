/* Numbers m * 2^e with an integer m of any size, for the audit's comparisons without
 * rounding. There are only addition, subtraction and multiplication; no division, no root. */
#ifndef DYADIC_H
#define DYADIC_H

#include <gmp.h>
#include <stdbool.h>

typedef struct dyadic {
    mpz_t m;
    long e;
} dyadic;

void dyadic_init(dyadic *a);
void dyadic_clear(dyadic *a);
void dyadic_set(dyadic *r, const dyadic *a);
void dyadic_set_integer(dyadic *r, long value);
void dyadic_set_double(dyadic *r, double value); /* finite, or +-infinity for +-2^1024 */
void dyadic_add(dyadic *r, const dyadic *a, const dyadic *b);
void dyadic_subtract(dyadic *r, const dyadic *a, const dyadic *b);
void dyadic_multiply(dyadic *r, const dyadic *a, const dyadic *b);
int dyadic_sign(const dyadic *a);
int dyadic_compare(const dyadic *a, const dyadic *b);

#endif

/* Exact arithmetic on numbers m 2^e with a whole m (dyadic.h). */
#include "dyadic.h"

#include <math.h>

void dyadic_init(dyadic *a)
{
    mpz_init(a->m);
    a->e = 0;
}

void dyadic_clear(dyadic *a)
{
    mpz_clear(a->m);
}

void dyadic_set(dyadic *r, const dyadic *a)
{
    mpz_set(r->m, a->m);
    r->e = a->e;
}

void dyadic_set_integer(dyadic *r, long value)
{
    mpz_set_si(r->m, value);
    r->e = 0;
}

/* Keeps numbers short: m odd, or 0 * 2^0. */
static void normalise(dyadic *a)
{
    if (mpz_sgn(a->m) == 0) {
        a->e = 0;
        return;
    }
    mp_bitcnt_t zeros = mpz_scan1(a->m, 0);
    if (zeros > 0) {
        mpz_tdiv_q_2exp(a->m, a->m, zeros);
        a->e += (long)zeros;
    }
}

void dyadic_set_double(dyadic *r, double value)
{
    if (isinf(value)) {
        mpz_set_si(r->m, value > 0 ? 1 : -1);
        r->e = 1024;
        return;
    }
    int exponent;
    double fraction = frexp(value, &exponent);
    mpz_set_d(r->m, ldexp(fraction, 53));
    r->e = exponent - 53;
    normalise(r);
}

static void combine(dyadic *r, const dyadic *a, const dyadic *b, bool subtract)
{
    mpz_t shifted;
    mpz_init(shifted);
    const dyadic *high = a->e >= b->e ? a : b;
    long e = a->e >= b->e ? b->e : a->e;
    mpz_mul_2exp(shifted, high->m, (mp_bitcnt_t)(high->e - e));
    mpz_srcptr left = high == a ? shifted : a->m;
    mpz_srcptr right = high == a ? b->m : shifted;
    if (subtract) {
        mpz_sub(r->m, left, right);
    } else {
        mpz_add(r->m, left, right);
    }
    r->e = e;
    normalise(r);
    mpz_clear(shifted);
}

void dyadic_add(dyadic *r, const dyadic *a, const dyadic *b)
{
    combine(r, a, b, false);
}

void dyadic_subtract(dyadic *r, const dyadic *a, const dyadic *b)
{
    combine(r, a, b, true);
}

void dyadic_multiply(dyadic *r, const dyadic *a, const dyadic *b)
{
    mpz_mul(r->m, a->m, b->m);
    r->e = a->e + b->e;
    normalise(r);
}

int dyadic_sign(const dyadic *a)
{
    return mpz_sgn(a->m);
}

int dyadic_compare(const dyadic *a, const dyadic *b)
{
    dyadic difference;
    dyadic_init(&difference);
    dyadic_subtract(&difference, a, b);
    int sign = dyadic_sign(&difference);
    dyadic_clear(&difference);
    return sign;
}

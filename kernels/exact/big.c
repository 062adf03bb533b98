#include "big.h"

#include <math.h>

/* Shortens a number to its outermost limbs that are not 0. */
static void trim(big *a)
{
    unsigned low = 0;
    while (a->count > 0 && a->limb[a->count - 1] == 0)
        a->count--;
    while (low < a->count && a->limb[low] == 0)
        low++;
    if (a->count == 0) {
        a->sign = a->exponent = 0;
        return;
    }
    for (unsigned i = low; i < a->count; i++)
        a->limb[i - low] = a->limb[i];
    a->count -= low;
    a->exponent += (int)low;
}

big big_of_digits(int64_t *digit, unsigned count, int exponent)
{
    big result;
    int64_t carry = 0;
    for (unsigned i = 0; i < count; i++) {
        digit[i] += carry;
        carry = digit[i] >> LIMB_BITS;
        digit[i] &= UINT32_MAX;
    }
    /* The limbs are in two's complement, with the sign in carry. */
    result.sign = carry < 0 ? -1 : 1;
    result.exponent = exponent;
    result.count = count;
    uint64_t add = carry < 0;
    for (unsigned i = 0; i < count; i++) {
        uint64_t limb = (carry < 0 ? ~(uint64_t)digit[i] & UINT32_MAX : (uint64_t)digit[i]) + add;
        result.limb[i] = (uint32_t)limb;
        add = limb >> LIMB_BITS;
    }
    trim(&result);
    return result;
}

big big_of_integer(uint64_t a)
{
    big result = {.sign = 1, .count = 2};
    result.limb[0] = (uint32_t)a;
    result.limb[1] = (uint32_t)(a >> LIMB_BITS);
    trim(&result);
    return result;
}

big big_of_double(double a)
{
    enum { DOUBLE_BITS = 53, FAR = 4096 };
    int exponent;
    uint64_t bits = (uint64_t)ldexp(frexp(fabs(a), &exponent), DOUBLE_BITS);
    unsigned unit = (unsigned)(exponent - DOUBLE_BITS + FAR), shift = unit % LIMB_BITS;
    uint64_t low = (bits & UINT32_MAX) << shift, high = (bits >> LIMB_BITS) << shift;
    big result = {
        .sign = a < 0 ? -1 : 1, .exponent = (int)(unit / LIMB_BITS) - FAR / LIMB_BITS, .count = 3};
    high += low >> LIMB_BITS;
    result.limb[0] = (uint32_t)low;
    result.limb[1] = (uint32_t)high;
    result.limb[2] = (uint32_t)(high >> LIMB_BITS);
    trim(&result);
    return result;
}

/* Returns the limb of weight 2^(32 at). */
static uint32_t limb_at(const big *a, int at)
{
    return at >= a->exponent && at < a->exponent + (int)a->count ? a->limb[at - a->exponent] : 0;
}

static int compare_sizes(const big *a, const big *b)
{
    int top_a = a->exponent + (int)a->count, top_b = b->exponent + (int)b->count;
    if (a->count == 0 || b->count == 0)
        return (a->count > 0) - (b->count > 0);
    if (top_a != top_b)
        return top_a > top_b ? 1 : -1;
    int low = a->exponent < b->exponent ? a->exponent : b->exponent;
    for (int at = top_a - 1; at >= low; at--)
        if (limb_at(a, at) != limb_at(b, at))
            return limb_at(a, at) > limb_at(b, at) ? 1 : -1;
    return 0;
}

int big_compare(const big *a, const big *b)
{
    if (a->sign != b->sign)
        return a->sign > b->sign ? 1 : -1;
    return a->sign * compare_sizes(a, b);
}

big big_negative(const big *a)
{
    big result = *a;
    result.sign = -a->sign;
    return result;
}

big big_sum(const big *a, const big *b)
{
    if (a->sign == 0 || b->sign == 0)
        return a->sign ? *a : *b;
    int subtracts = a->sign != b->sign;
    if (subtracts && compare_sizes(a, b) < 0) {
        const big *larger = b;
        b = a;
        a = larger;
    }
    int low = a->exponent < b->exponent ? a->exponent : b->exponent;
    int top_a = a->exponent + (int)a->count, top_b = b->exponent + (int)b->count;
    big result = {.sign = a->sign, .exponent = low};
    int64_t carry = 0;
    for (int at = low; at <= (top_a > top_b ? top_a : top_b); at++) {
        int64_t of_b = limb_at(b, at);
        carry += (int64_t)limb_at(a, at) + (subtracts ? -of_b : of_b);
        result.limb[result.count++] = (uint32_t)carry;
        carry >>= LIMB_BITS;
    }
    trim(&result);
    return result;
}

big big_product(const big *a, const big *b)
{
    big result = {.sign = a->sign * b->sign, .exponent = a->exponent + b->exponent};
    if (result.sign == 0)
        return (big){0};
    result.count = a->count + b->count;
    for (unsigned i = 0; i < a->count; i++) {
        uint64_t carry = 0;
        for (unsigned j = 0; j < b->count; j++) {
            carry += (uint64_t)a->limb[i] * b->limb[j] + result.limb[i + j];
            result.limb[i + j] = (uint32_t)carry;
            carry >>= LIMB_BITS;
        }
        result.limb[i + b->count] = (uint32_t)carry;
    }
    trim(&result);
    return result;
}

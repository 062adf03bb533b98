/* In every type here a sign bit is followed by a number whose order as an integer is the order of
 * the sizes, so that the next number in size is the next integer. */
#include "audit_types.h"

#include <math.h>
#include <string.h>

const char *const audit_type_names[AUDIT_TYPES] = {"f32", "f64", "bf16", "f16"};

double audit_value(ln_type type, uint64_t bits)
{
    float as_float;
    double value;
    uint32_t word = (uint32_t)bits;
    switch (type) {
    case LN_F64:
        memcpy(&value, &bits, sizeof value);
        return value;
    case LN_BF16: /* the upper half of a float */
        word <<= 16;
        break;
    case LN_F16: { /* exponent and fraction moved to a float's place, 2^112 too small */
        uint32_t sign = (word & 0x8000u) << 16, size = (word & 0x7fffu) << 13;
        if ((word & 0x7c00u) == 0x7c00u) {
            word = sign | 0x7f800000u | size;
            break;
        }
        word = sign | size;
        memcpy(&as_float, &word, sizeof as_float);
        return (double)as_float * 0x1p112;
    }
    case LN_F32:
        break;
    }
    memcpy(&as_float, &word, sizeof as_float);
    return (double)as_float;
}

uint64_t audit_bits(ln_type type, const void *values, size_t i)
{
    uint64_t bits = 0;
    if (type == LN_F64) {
        memcpy(&bits, (const double *)values + i, sizeof(double));
    } else if (type == LN_F32) {
        uint32_t word;
        memcpy(&word, (const float *)values + i, sizeof word);
        bits = word;
    } else {
        bits = ((const uint16_t *)values)[i];
    }
    return bits;
}

double audit_load(ln_type type, const void *values, size_t i)
{
    return audit_value(type, audit_bits(type, values, i));
}

static uint64_t sign_bit(ln_type type)
{
    return type == LN_F64 ? 1ull << 63 : type == LN_F32 ? 1ull << 31 : 1ull << 15;
}

/* The bits of the largest number of the type whose size is at most value's: by bisection. A NaN
 * gives a NaN. */
static uint64_t bits_towards_zero(ln_type type, double value)
{
    uint64_t least = 0, beyond = sign_bit(type);
    if (isnan(value)) {
        return beyond - 1;
    }
    while (beyond - least > 1) {
        uint64_t middle = least + (beyond - least) / 2;
        if (audit_value(type, middle) <= fabs(value)) { /* not where middle is a NaN's */
            least = middle;
        } else {
            beyond = middle;
        }
    }
    return signbit(value) ? least | sign_bit(type) : least;
}

static void store_bits(ln_type type, void *values, size_t i, uint64_t bits)
{
    if (type == LN_F64) {
        memcpy((double *)values + i, &bits, sizeof bits);
    } else if (type == LN_F32) {
        uint32_t word = (uint32_t)bits;
        memcpy((float *)values + i, &word, sizeof word);
    } else {
        ((uint16_t *)values)[i] = (uint16_t)bits;
    }
}

void audit_store(ln_type type, void *values, size_t i, double value)
{
    store_bits(type, values, i, bits_towards_zero(type, value));
}

/* 2^128 for the infinity of f32 and bf16, and so on; f64 keeps its own (dyadic.h). */
static double finite_stand_in(ln_type type, double value)
{
    if (!isinf(value) || type == LN_F64) {
        return value;
    }
    return copysign(type == LN_F16 ? 0x1p16 : 0x1p128, value);
}

audit_neighbours audit_neighbours_of(ln_type type, double value)
{
    uint64_t size = bits_towards_zero(type, fabs(value));
    double outer = isinf(value) ? (double)INFINITY : audit_value(type, size + 1);
    double inner = size == 0 ? -outer : audit_value(type, size - 1);
    outer = finite_stand_in(type, outer);
    inner = finite_stand_in(type, inner);
    audit_neighbours n = {inner, finite_stand_in(type, value), outer, (size & 1) == 0};
    if (signbit(value)) {
        n.below = -outer;
        n.above = -inner;
    }
    return n;
}

void audit_store_nearest(ln_type type, void *values, size_t i, double value)
{
    uint64_t bits = bits_towards_zero(type, value);
    double inner = fabs(audit_value(type, bits));
    if (isfinite(value) && fabs(value) != inner) {
        double outer = finite_stand_in(type, fabs(audit_value(type, bits + 1)));
        double middle = inner + (outer - inner) / 2; /* exact: no type here is as wide as double */
        bits += fabs(value) > middle || (fabs(value) == middle && (bits & 1) != 0);
    }
    store_bits(type, values, i, bits);
}

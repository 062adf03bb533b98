/* Rounding to a type of p bits and least exponent emin: v = w 2^q with q = max(e, emin) - p + 1 for
 * 2^e <= |v| < 2^(e+1), so that the type's numbers are the whole w. For the types here w 2^0 has at
 * most p + (53 - p) bits: scaling is exact, and so are the whole and the broken part of w.
 *
 * Rounding twice does no harm: midpoints of the type are doubles, so a real number on one side of a
 * midpoint has its nearest double on the same side or at the midpoint, which is what side is for.
 */
#include "storage.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef struct format {
    int bits, least, most; /* p, emin, emax */
} format;

static format format_of(ln_type type)
{
    switch (type) {
    case LN_BF16:
        return (format){8, -126, 127};
    case LN_F16:
        return (format){11, -14, 15};
    case LN_F32:
    case LN_F64:
    default:
        return (format){24, -126, 127};
    }
}

size_t storage_size(ln_type type)
{
    return type == LN_F64 ? sizeof(double) : type == LN_F32 ? sizeof(float) : sizeof(uint16_t);
}

/* A 16-bit number: sign, exponent field, fraction. */
static double decode(const format *format, unsigned bits)
{
    unsigned fraction_bits = (unsigned)format->bits - 1;
    unsigned fields = 0x7fffu >> fraction_bits; /* the field of what is not finite */
    unsigned field = (bits & 0x7fffu) >> fraction_bits;
    unsigned fraction = bits & ((1u << fraction_bits) - 1);
    double size;
    if (field == fields) {
        size = fraction == 0 ? (double)INFINITY : (double)NAN;
    } else {
        unsigned whole = fraction + (field > 0 ? 1u << fraction_bits : 0);
        int exponent = (field > 0 ? (int)field - 1 : 0) + format->least;
        size = ldexp((double)whole, exponent - (int)fraction_bits);
    }
    return bits >> 15 ? -size : size;
}

static uint16_t encode(const format *format, double value)
{
    unsigned fraction_bits = (unsigned)format->bits - 1;
    unsigned bits;
    if (isnan(value)) {
        bits = 0x7fffu;
    } else if (isinf(value)) {
        bits = 0x7fffu >> fraction_bits << fraction_bits;
    } else { /* the field counts from emin; a whole hidden bit adds 1 to it */
        int exponent = value == 0 ? format->least : ilogb(value);
        exponent = exponent < format->least ? format->least : exponent;
        unsigned whole = (unsigned)ldexp(fabs(value), (int)fraction_bits - exponent);
        bits = ((unsigned)(exponent - format->least) << fraction_bits) + whole;
    }
    return (uint16_t)(bits | (signbit(value) ? 0x8000u : 0));
}

double storage_load(ln_type type, const void *values, size_t i)
{
    if (type == LN_F64) {
        return ((const double *)values)[i];
    }
    if (type == LN_F32) {
        return (double)((const float *)values)[i];
    }
    format format = format_of(type);
    return decode(&format, ((const uint16_t *)values)[i]);
}

void storage_store(ln_type type, void *values, size_t i, double value)
{
    if (type == LN_F64) {
        ((double *)values)[i] = value;
    } else if (type == LN_F32) {
        ((float *)values)[i] = (float)value;
    } else {
        format format = format_of(type);
        ((uint16_t *)values)[i] = encode(&format, value);
    }
}

/* w = whole + broken >= 0 of the head comment, for a finite value. */
static int scale(const format *format, double value, double *whole, double *broken)
{
    int exponent = value == 0 ? format->least : ilogb(value);
    int unit = (exponent < format->least ? format->least : exponent) - format->bits + 1;
    double scaled = ldexp(fabs(value), -unit);
    *whole = floor(scaled);
    *broken = scaled - *whole;
    return unit;
}

bool storage_is_midpoint(ln_type type, double value)
{
    format format = format_of(type);
    double whole, broken;
    if (!isfinite(value)) {
        return false;
    }
    scale(&format, value, &whole, &broken);
    return broken == 0.5;
}

double storage_round(ln_type type, double value, int side)
{
    format format = format_of(type);
    double whole, broken;
    if (!isfinite(value)) {
        return value;
    }
    int unit = scale(&format, value, &whole, &broken);
    int outwards = value < 0 ? -side : side;
    bool odd = fmod(whole, 2.0) != 0;
    if (broken > 0.5 || (broken == 0.5 && (outwards > 0 || (outwards == 0 && odd)))) {
        whole += 1;
    }
    double size = ldexp(whole, unit);
    if (size >= ldexp(1.0, format.most + 1)) {
        size = (double)INFINITY;
    }
    return copysign(size, value);
}

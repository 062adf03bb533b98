/* Rounding to a type of p bits and least exponent emin: v = w 2^q with q = max(e, emin) - p + 1 for 2^e <= |v| <
 * 2^(e+1), so that the type's numbers are the whole w. w is the 53-bit significand of the double with a binary point
 * before its last `broken` bits. The bits of a 16-bit number are (max(e, emin) - emin) 2^(p-1) + w for its w, and a w
 * rounded up to 2^p gives those of the next binade, or of infinity, by itself.
 *
 * Rounding twice is harmless: midpoints of the type are doubles, so a real number on one side of a midpoint has its
 * nearest double on the same side or at the midpoint, for which `side` is needed. */
#include "metrics/storage.h"

#include <math.h>
#include <string.h>

enum { DOUBLE_FRACTION = 52, DOUBLE_BIAS = 1023, NOT_FINITE = 2047 };

typedef struct type_format {
    int fraction, least, most; /* p - 1, emin, emax */
    double unit;               /* the smallest number */
} type_format;

static inline type_format format_of(ln_type type)
{
    return type == LN_BF16 ? (type_format){7, -126, 127, 0x1p-133}
                           : (type_format){10, -14, 15, 0x1p-24};
}

static double as_double(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t as_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* A 16-bit number: sign, exponent field, fraction. */
static double decode(const type_format *format, unsigned bits)
{
    unsigned field = (bits & 0x7fffu) >> format->fraction;
    unsigned fraction = bits & ((1u << format->fraction) - 1);
    int exponent = (int)field - 1 + format->least;
    if (field == 0) {
        double size = (double)fraction * format->unit;
        return bits >> 15 ? -size : size;
    }
    uint64_t wide = exponent > format->most ? NOT_FINITE : (uint64_t)(exponent + DOUBLE_BIAS);
    wide = wide << format->fraction | fraction;
    return as_double((uint64_t)(bits >> 15) << 63 | wide << (DOUBLE_FRACTION - format->fraction));
}

double storage_load(ln_type type, const void *values, size_t i)
{
    if (type == LN_F32) {
        return (double)((const float *)values)[i];
    }
    if (type == LN_F64) {
        return ((const double *)values)[i];
    }
    type_format format = format_of(type);
    return decode(&format, ((const uint16_t *)values)[i]);
}

/* w of the comment above. */
typedef struct scaled {
    int exponent;               /* max(e, emin) */
    uint64_t whole, rest, half; /* the integer part, the fraction, and a fraction of 1/2 */
} scaled;

static inline scaled scale(const type_format *format, double value)
{
    uint64_t bits = as_bits(value);
    int field = (int)(bits >> DOUBLE_FRACTION) & NOT_FINITE;
    uint64_t hidden = field > 0 ? 1ull << DOUBLE_FRACTION : 0;
    uint64_t significand = (bits & ((1ull << DOUBLE_FRACTION) - 1)) | hidden;
    int exponent = (field > 0 ? field : 1) - DOUBLE_BIAS;
    int below = exponent < format->least ? format->least - exponent : 0;
    int broken = DOUBLE_FRACTION - format->fraction + below;
    broken = broken < 63 ? broken : 63; /* far below half of the smallest number */
    uint64_t half = 1ull << (broken - 1);
    return (scaled){exponent + below, significand >> broken, significand & (2 * half - 1), half};
}

bool storage_is_midpoint(ln_type type, double value)
{
    type_format format = format_of(type);
    scaled w = scale(&format, value);
    return w.rest == w.half && w.exponent <= format.most;
}

static uint16_t infinity_of(const type_format *format)
{
    return (uint16_t)(0x7fffu >> format->fraction << format->fraction);
}

uint16_t storage_round(ln_type type, double value, int side)
{
    type_format format = format_of(type);
    unsigned sign = signbit(value) ? 0x8000u : 0;
    scaled w = scale(&format, value);
    if (isnan(value)) {
        return 0x7fff;
    }
    if (w.exponent > format.most) {
        return (uint16_t)(sign | infinity_of(&format));
    }
    int outwards = sign != 0 ? -side : side;
    bool up = w.rest > w.half ||
              (w.rest == w.half && (outwards > 0 || (outwards == 0 && (w.whole & 1) != 0)));
    unsigned size = ((unsigned)(w.exponent - format.least) << format.fraction) + (unsigned)w.whole +
                    (up ? 1 : 0);
    return (uint16_t)(sign | size);
}

void storage_store(ln_type type, void *values, size_t i, double value)
{
    if (type == LN_F64) {
        ((double *)values)[i] = value;
    } else if (type == LN_F32) {
        ((float *)values)[i] = (float)value;
    } else {
        ((uint16_t *)values)[i] = storage_round(type, value, 0);
    }
}

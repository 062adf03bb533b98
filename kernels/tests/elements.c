#include "elements.h"

#include <math.h>
#include <string.h>

size_t element_size(ln_type type)
{
    return type == LN_F64 ? sizeof(double) : type == LN_F32 ? sizeof(float) : sizeof(uint16_t);
}

const char *element_name(ln_type type)
{
    static const char *const names[] = {
        [LN_F32] = "f32", [LN_F64] = "f64", [LN_BF16] = "bf16", [LN_F16] = "f16"};
    return names[type];
}

format element_format(ln_type type)
{
    static const format formats[] = {[LN_F32] = {24, -126, 127, 0x1p-149},
                                     [LN_F64] = {53, -1022, 1023, 0x1p-1074},
                                     [LN_BF16] = {8, -126, 127, 0x1p-133},
                                     [LN_F16] = {11, -14, 15, 0x1p-24}};
    return formats[type];
}

/* 2^exponent, a normal number: ldexp() takes most of the time of a test. */
static double power(int exponent)
{
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double element_rounded(ln_type type, double value)
{
    format kind = element_format(type);
    if (type == LN_F64 || !isfinite(value) || value == 0)
        return value;
    int exponent = ilogb(value) > kind.least ? ilogb(value) : kind.least;
    double rounded = rint(value * power(kind.bits - 1 - exponent)) /* ties to even */
                     * power(exponent - kind.bits + 1);
    return fabs(rounded) < power(kind.most + 1) ? rounded : copysign(INFINITY, value);
}

/* The 16 bits: a sign, and whole numbers of the smallest number's 2^k-th multiple by exponent. */
static uint16_t bits_of(format kind, double value)
{
    int fraction = kind.bits - 1;
    unsigned sign = signbit(value) ? 0x8000u : 0;
    unsigned infinity = (unsigned)(kind.most - kind.least + 2) << fraction;
    double size = fabs(value);
    if (isnan(value))
        return (uint16_t)(sign | infinity | 1u << (fraction - 1));
    if (isinf(value))
        return (uint16_t)(sign | infinity);
    if (size < power(kind.least))
        return (uint16_t)(sign | (unsigned)(size * power(fraction - kind.least)));
    unsigned field = (unsigned)(ilogb(size) - kind.least + 1);
    double part = size * power(fraction - ilogb(size)) - power(fraction);
    return (uint16_t)(sign | field << fraction | (unsigned)part);
}

static double value_of(format kind, uint16_t bits)
{
    int fraction = kind.bits - 1;
    unsigned field = (bits & 0x7fffu) >> fraction, part = bits & ((1u << fraction) - 1);
    double size;
    if ((int)field == kind.most - kind.least + 2)
        size = part ? NAN : INFINITY;
    else if (field == 0)
        size = part * kind.smallest;
    else
        size = (part + (1u << fraction)) * power((int)field - 1 + kind.least - fraction);
    return bits & 0x8000u ? -size : size;
}

double element_get(ln_type type, const void *elements, size_t i)
{
    if (type == LN_F64)
        return ((const double *)elements)[i];
    if (type == LN_F32)
        return (double)((const float *)elements)[i];
    return value_of(element_format(type), ((const uint16_t *)elements)[i]);
}

void element_put(ln_type type, void *elements, size_t i, double value)
{
    if (type == LN_F64)
        ((double *)elements)[i] = value;
    else if (type == LN_F32)
        ((float *)elements)[i] = (float)value;
    else
        ((uint16_t *)elements)[i] = bits_of(element_format(type), element_rounded(type, value));
}

void elements_store(ln_type type, void *elements, double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        element_put(type, elements, i, values[i]);
        values[i] = element_get(type, elements, i);
    }
}

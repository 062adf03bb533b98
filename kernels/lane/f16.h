/* f16 (IEEE 754 binary16): 11 significant bits, exponents from -14 to 15. */
#ifndef LN_LANE_F16_H
#define LN_LANE_F16_H

#include "lane/lane.h"

/* Exponent and fraction, put where f32 has them, are a number 2^112 too small, subnormals as well:
 * those of f16 lie among those of f32. The product is exact. */
LN_INLINE float item_of_f16(element_f16 a)
{
    uint32_t sign = (a & 0x8000u) << 16;
    float size = float_of((a & 0x7fffu) << 13) * 0x1p112f;
    uint32_t special = size >= 0x1p16f ? 0x7f800000u : 0u; /* infinity or NaN */
    return float_of(bits_of(size) | special | sign);
}

/* To nearest even. Normal numbers as in bf16_of(). A number below 2^-14 is added to 1/2, whose last
 * place is f16's smallest number: that rounds it, and its bits are the sum's last. */
LN_INLINE element_f16 f16_of(float a)
{
    uint32_t bits = bits_of(a), sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
    if (size > 0x7f800000u)
        return (element_f16)(sign | 0x7e00u | (size >> 13 & 0x1ffu)); /* a NaN, quiet */
    if (size < bits_of(0x1p-14f))
        return (element_f16)(sign | (bits_of(float_of(size) + 0.5f) - bits_of(0.5f)));
    uint32_t kept = (size - (112u << 23) + 0xfffu + (size >> 13 & 1u)) >> 13;
    return (element_f16)(sign | (kept < 0x7c00u ? kept : 0x7c00u));
}

#endif

/* bf16 (bfloat16): the upper half of an f32, with 8 significant bits. */
#ifndef LN_LANE_BF16_H
#define LN_LANE_BF16_H

#include "lane/lane.h"

LN_INLINE float item_of_bf16(element_bf16 a)
{
    return float_of((uint32_t)a << 16);
}

/* To nearest even: adding just under half of the last place that is kept, or half where that place
 * is odd, carries where it should, into the exponent and to infinity too. */
LN_INLINE element_bf16 bf16_of(float a)
{
    uint32_t bits = bits_of(a), kept = bits >> 16;
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return (element_bf16)(kept | 0x40u); /* a NaN, quiet */
    return (element_bf16)((bits + 0x7fffu + (kept & 1u)) >> 16);
}

#endif

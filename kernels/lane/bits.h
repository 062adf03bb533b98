/* The bits of an f32. */
#ifndef LN_LANE_BITS_H
#define LN_LANE_BITS_H

#include "lane/lane.h"
#include <string.h>

LN_INLINE uint32_t bits_of(float a)
{
    uint32_t bits;
    memcpy(&bits, &a, sizeof(bits));
    return bits;
}

LN_INLINE float float_of(uint32_t bits)
{
    float a;
    memcpy(&a, &bits, sizeof(a));
    return a;
}

#endif

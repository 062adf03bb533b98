/* f32, NEON: four elements. There are no masks: tails are read and written as two and one. */
#ifndef LN_LANE_F32_NEON_H
#define LN_LANE_F32_NEON_H

#include "lane/lane.h"
#include <arm_neon.h>

typedef float32x4_t vec;
enum { LANES = 4 };

LN_INLINE vec lane_set(item a)
{
    return vdupq_n_f32(a);
}

LN_INLINE vec lane_load_f32(const element_f32 *p)
{
    return vld1q_f32(p);
}

/* n < LANES */
LN_INLINE vec lane_load_first_f32(const element_f32 *p, size_t n)
{
    float32x2_t low = vdup_n_f32(0), high = vdup_n_f32(0);
    if (n & 2u) {
        low = vld1_f32(p);
        if (n & 1u)
            high = vld1_lane_f32(p + 2, high, 0);
    } else if (n & 1u) {
        low = vld1_lane_f32(p, low, 0);
    }
    return vcombine_f32(low, high);
}

LN_INLINE void lane_store_f32(element_f32 *p, vec a)
{
    vst1q_f32(p, a);
}

/* n < LANES */
LN_INLINE void lane_store_first_f32(element_f32 *p, vec a, size_t n)
{
    float32x2_t left = vget_low_f32(a);
    if (n & 2u) {
        vst1_f32(p, left);
        left = vget_high_f32(a);
        p += 2;
    }
    if (n & 1u)
        vst1_lane_f32(p, left, 0);
}

LN_INLINE vec lane_stored_f32(vec a)
{
    return a;
}

LN_INLINE void item_store(item *p, vec a)
{
    vst1q_f32(p, a);
}

LN_INLINE vec lane_first(vec a, size_t n)
{
    static const uint32_t ones_then_zeros[2 * LANES] = {~0u, ~0u, ~0u, ~0u};
    uint32x4_t mask = vld1q_u32(ones_then_zeros + LANES - n);
    return vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(a), mask));
}

LN_INLINE vec lane_add(vec a, vec b)
{
    return vaddq_f32(a, b);
}

LN_INLINE vec lane_subtract(vec a, vec b)
{
    return vsubq_f32(a, b);
}

LN_INLINE vec lane_multiply(vec a, vec b)
{
    return vmulq_f32(a, b);
}

LN_INLINE vec lane_multiply_add(vec a, vec b, vec c)
{
    return vfmaq_f32(c, a, b);
}

LN_INLINE vec lane_absolute(vec a)
{
    return vabsq_f32(a);
}

LN_INLINE vec lane_maximum(vec a, vec b)
{
    return vmaxq_f32(a, b);
}

LN_INLINE vec lane_minimum(vec a, vec b)
{
    return vminq_f32(a, b);
}

LN_INLINE item lane_sum(vec a)
{
    float32x2_t two = vadd_f32(vget_low_f32(a), vget_high_f32(a));
    return vget_lane_f32(two, 0) + vget_lane_f32(two, 1);
}

#endif

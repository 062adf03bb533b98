/* f16 in memory, f64 items, NEON: one element after the other. What is stored is rounded to f32 first (lane/lane.h). */
#ifndef LN_LANE_F16_OVER_F64_NEON_H
#define LN_LANE_F16_OVER_F64_NEON_H

#include "lane/f64_neon.h"

LN_INLINE vec lane_load_f16(const element_f16 *p)
{
    const double elements[LANES] = {item_of_f16(p[0]), item_of_f16(p[1])};
    return vld1q_f64(elements);
}

LN_INLINE vec lane_load_first_f16(const element_f16 *p, size_t n)
{
    return vsetq_lane_f64(n ? item_of_f16(*p) : 0, vdupq_n_f64(0), 0);
}

LN_INLINE void lane_store_f16(element_f16 *p, vec a)
{
    p[0] = f16_of((float)vgetq_lane_f64(a, 0));
    p[1] = f16_of((float)vgetq_lane_f64(a, 1));
}

LN_INLINE void lane_store_first_f16(element_f16 *p, vec a, size_t n)
{
    if (n)
        p[0] = f16_of((float)vgetq_lane_f64(a, 0));
}

LN_INLINE vec lane_stored_f16(vec a)
{
    element_f16 elements[LANES];
    lane_store_f16(elements, a);
    return lane_load_f16(elements);
}

#endif

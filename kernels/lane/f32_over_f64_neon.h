/* f32 in memory, f64 items, NEON. */
#ifndef LN_LANE_F32_OVER_F64_NEON_H
#define LN_LANE_F32_OVER_F64_NEON_H

#include "lane/f64_neon.h"

LN_INLINE vec lane_load_f32(const element_f32 *p)
{
    return vcvt_f64_f32(vld1_f32(p));
}

/* n < LANES */
LN_INLINE vec lane_load_first_f32(const element_f32 *p, size_t n)
{
    return n ? vcvt_f64_f32(vld1_lane_f32(p, vdup_n_f32(0), 0)) : vdupq_n_f64(0);
}

LN_INLINE void lane_store_f32(element_f32 *p, vec a)
{
    vst1_f32(p, vcvt_f32_f64(a));
}

/* n < LANES */
LN_INLINE void lane_store_first_f32(element_f32 *p, vec a, size_t n)
{
    if (n)
        vst1_lane_f32(p, vcvt_f32_f64(a), 0);
}

LN_INLINE vec lane_stored_f32(vec a)
{
    return vcvt_f64_f32(vcvt_f32_f64(a));
}

#endif

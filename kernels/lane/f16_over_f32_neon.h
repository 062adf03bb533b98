/* f16 storage, NEON, whose conversions keep subnormals, and NaNs quiet. */
#ifndef LN_LANE_F16_OVER_F32_NEON_H
#define LN_LANE_F16_OVER_F32_NEON_H

#include "lane/f32_neon.h"

LN_INLINE vec f16_widened(uint16x4_t a)
{
    return vcvt_f32_f16(vreinterpret_f16_u16(a));
}

LN_INLINE uint16x4_t f16_narrowed(vec a)
{
    return vreinterpret_u16_f16(vcvt_f16_f32(a));
}

LN_INLINE vec lane_load_f16(const element_f16 *p)
{
    return f16_widened(vld1_u16(p));
}

/* n < LANES */
LN_INLINE vec lane_load_first_f16(const element_f16 *p, size_t n)
{
    return f16_widened(halves_load_first(p, n));
}

LN_INLINE void lane_store_f16(element_f16 *p, vec a)
{
    vst1_u16(p, f16_narrowed(a));
}

/* n < LANES */
LN_INLINE void lane_store_first_f16(element_f16 *p, vec a, size_t n)
{
    halves_store_first(p, f16_narrowed(a), n);
}

LN_INLINE vec lane_stored_f16(vec a)
{
    return f16_widened(f16_narrowed(a));
}

#endif

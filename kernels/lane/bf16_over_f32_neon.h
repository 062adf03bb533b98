/* bf16 storage, NEON. */
#ifndef LN_LANE_BF16_OVER_F32_NEON_H
#define LN_LANE_BF16_OVER_F32_NEON_H

#include "lane/f32_neon.h"

LN_INLINE vec bf16_widened(uint16x4_t a)
{
    return vreinterpretq_f32_u32(vshll_n_u16(a, 16));
}

/* bf16_of() in every lane. A NaN that arithmetic made is quiet: cut off, it stays one. */
LN_INLINE uint16x4_t bf16_narrowed(vec a)
{
    uint32x4_t bits = vreinterpretq_u32_f32(a), number = vceqq_f32(a, a);
    uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
    uint32x4_t half = vaddq_u32(odd, vdupq_n_u32(0x7fff));
    return vshrn_n_u32(vaddq_u32(bits, vandq_u32(half, number)), 16);
}

LN_INLINE vec lane_load_bf16(const element_bf16 *p)
{
    return bf16_widened(vld1_u16(p));
}

/* n < LANES */
LN_INLINE vec lane_load_first_bf16(const element_bf16 *p, size_t n)
{
    return bf16_widened(halves_load_first(p, n));
}

LN_INLINE void lane_store_bf16(element_bf16 *p, vec a)
{
    vst1_u16(p, bf16_narrowed(a));
}

/* n < LANES */
LN_INLINE void lane_store_first_bf16(element_bf16 *p, vec a, size_t n)
{
    halves_store_first(p, bf16_narrowed(a), n);
}

LN_INLINE vec lane_stored_bf16(vec a)
{
    return bf16_widened(bf16_narrowed(a));
}

#endif

/* f64, NEON: two elements. */
#ifndef LN_LANE_F64_NEON_H
#define LN_LANE_F64_NEON_H

#ifndef LN_ITEM
#define LN_ITEM f64
#endif
#include "lane/lane.h"
#include <arm_neon.h>

typedef float64x2_t vec;
enum { LANES = 2 };
LN_NEON_LANES(f64)

/* n < LANES */
LN_INLINE vec lane_load_first_f64(const element_f64 *p, size_t n)
{
    return n ? vld1q_lane_f64(p, vdupq_n_f64(0), 0) : vdupq_n_f64(0);
}

/* n < LANES */
LN_INLINE void lane_store_first_f64(element_f64 *p, vec a, size_t n)
{
    if (n)
        vst1q_lane_f64(p, a, 0);
}

LN_INLINE vec lane_first(vec a, size_t n)
{
    static const uint64_t ones_then_zeros[2 * LANES] = {~0ull, ~0ull};
    uint64x2_t mask = vld1q_u64(ones_then_zeros + LANES - n);
    return vreinterpretq_f64_u64(vandq_u64(vreinterpretq_u64_f64(a), mask));
}

LN_INLINE item lane_sum(vec a)
{
    return vgetq_lane_f64(a, 0) + vgetq_lane_f64(a, 1);
}

LN_INLINE vec lane_mirrored(vec y, int digits)
{
    const int64x2_t last = vdupq_n_s64(((int64_t)1 << digits) - 1);
    return vreinterpretq_f64_s64(veorq_s64(vreinterpretq_s64_f64(y), last));
}

LN_INLINE vec lane_nearer(vec a, vec b)
{
    return lane_minimum(a, lane_absolute(b));
}

LN_INLINE unsigned lane_below(vec a, vec least)
{
    uint64x2_t fine = vcgeq_f64(a, least);
    return (unsigned)((~vgetq_lane_u64(fine, 0) & 1) | (~vgetq_lane_u64(fine, 1) & 2));
}

LN_INLINE unsigned lane_unequal(vec a, vec b)
{
    uint64x2_t fine = vbicq_u64(vceqq_f64(a, b), vceqq_f64(a, vdupq_n_f64(0)));
    return (unsigned)((~vgetq_lane_u64(fine, 0) & 1) | (~vgetq_lane_u64(fine, 1) & 2));
}

/* ---- f32 in memory ---- */

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

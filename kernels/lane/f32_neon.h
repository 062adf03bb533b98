/* f32, NEON: four elements. There are no masks: tails are read and written as two and one. */
#ifndef LN_LANE_F32_NEON_H
#define LN_LANE_F32_NEON_H

#include "lane/lane.h"
#include <arm_neon.h>

typedef float32x4_t vec;
enum { LANES = 4 };
LN_NEON_LANES(f32)

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

LN_INLINE vec lane_first(vec a, size_t n)
{
    static const uint32_t ones_then_zeros[2 * LANES] = {~0u, ~0u, ~0u, ~0u};
    uint32x4_t mask = vld1q_u32(ones_then_zeros + LANES - n);
    return vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(a), mask));
}

LN_INLINE item lane_sum(vec a)
{
    float32x2_t two = vadd_f32(vget_low_f32(a), vget_high_f32(a));
    return vget_lane_f32(two, 0) + vget_lane_f32(two, 1);
}

#if SUMS_ARE_LONGER
/* ---- f64 accumulators: a pair of registers holds what one of items does ---- */

typedef struct acc {
    float64x2_t low; /* the first half of the lanes */
    float64x2_t high;
} acc;
LN_ARITHMETIC_OF_TWO(acc, acc, low, high)

LN_INLINE acc acc_of(vec a)
{
    return (acc){vcvt_f64_f32(vget_low_f32(a)), vcvt_high_f64_f32(a)};
}

/* As items, rounded. */
LN_INLINE vec acc_items(acc a)
{
    return vcvt_high_f32_f64(vcvt_f32_f64(a.low), a.high);
}

LN_INLINE acc acc_set(real a)
{
    return (acc){vdupq_n_f64(a), vdupq_n_f64(a)};
}

LN_INLINE void acc_store(real *p, acc a)
{
    vst1q_f64(p, a.low);
    vst1q_f64(p + LANES / 2, a.high);
}

/* All ones in the first n <= LANES / 2 lanes of a register. */
LN_INLINE uint64x2_t acc_mask(size_t n)
{
    static const uint64_t ones_then_zeros[LANES] = {~0ull, ~0ull};
    return vld1q_u64(ones_then_zeros + LANES / 2 - n);
}

LN_INLINE float64x2_t acc_masked(float64x2_t a, uint64x2_t mask)
{
    return vreinterpretq_f64_u64(vandq_u64(vreinterpretq_u64_f64(a), mask));
}

LN_INLINE acc acc_first(acc a, size_t n)
{
    size_t low = n < LANES / 2 ? n : LANES / 2;
    return (acc){acc_masked(a.low, acc_mask(low)), acc_masked(a.high, acc_mask(n - low))};
}

LN_INLINE acc acc_multiply_add(acc a, acc b, acc c)
{
    if (!LN_FMA)
        return acc_add(acc_multiply(a, b), c);
    return (acc){vfmaq_f64(c.low, a.low, b.low), vfmaq_f64(c.high, a.high, b.high)};
}

LN_INLINE real acc_sum(acc a)
{
    float64x2_t two = vaddq_f64(a.low, a.high);
    return vgetq_lane_f64(two, 0) + vgetq_lane_f64(two, 1);
}
#endif

#endif

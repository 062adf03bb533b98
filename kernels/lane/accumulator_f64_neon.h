/* f64 accumulators over f32 items, NEON: a pair of registers holds what one of items does. */
#ifndef LN_LANE_ACCUMULATOR_H
#define LN_LANE_ACCUMULATOR_H

#ifndef LN_ACCUMULATOR
#define LN_ACCUMULATOR f64
#endif
#include "lane/lane.h"
#include "lane/f32_neon.h"

typedef struct acc {
    float64x2_t low; /* the first half of the lanes */
    float64x2_t high;
} acc;

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

LN_INLINE acc acc_add(acc a, acc b)
{
    return (acc){vaddq_f64(a.low, b.low), vaddq_f64(a.high, b.high)};
}

LN_INLINE acc acc_subtract(acc a, acc b)
{
    return (acc){vsubq_f64(a.low, b.low), vsubq_f64(a.high, b.high)};
}

LN_INLINE acc acc_multiply(acc a, acc b)
{
    return (acc){vmulq_f64(a.low, b.low), vmulq_f64(a.high, b.high)};
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

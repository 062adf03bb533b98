/* NEON: the lanes of f32 and of f64, and 16-bit storage over both. */
#ifndef LN_LANE_NEON_H
#define LN_LANE_NEON_H

#include "lane/lane.h"
#include <arm_neon.h>

#if ITEMS_ARE_F32
/* f32, NEON: four elements. There are no masks: tails are read and written as two and one. */

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
/* ---- f64 accumulators: two registers for one register of items ---- */

typedef struct acc {
    float64x2_t low; /* the first half of the lanes */
    float64x2_t high;
} acc;
LN_ARITHMETIC_OF_TWO(acc, acc, low, high)

LN_INLINE acc acc_of(vec a)
{
    return (acc){vcvt_f64_f32(vget_low_f32(a)), vcvt_high_f64_f32(a)};
}

/* Rounds to items. */
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

#else
/* f64, NEON: two elements. */

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

/* bf16 and f16 storage, NEON, whose conversions keep subnormals and make NaNs quiet. Over f32 items there are four
 * elements at a time, of which the first n are read and written as two and one, since there are no masks. Over f64
 * items elements are processed one after the other and rounded to f32 before they are stored (lane/lane.h). */

#if ITEMS_ARE_F32
typedef uint16x4_t halves;

LN_INLINE halves halves_load(const uint16_t *p)
{
    return vld1_u16(p);
}

LN_INLINE void halves_store(uint16_t *p, halves a)
{
    vst1_u16(p, a);
}

/* n < 4 */
LN_APART halves halves_load_first(const uint16_t *p, size_t n)
{
    uint64_t all = 0;
    uint32_t two;
    if (n & 1u)
        all = p[n & 2u];
    if (n & 2u) {
        memcpy(&two, p, sizeof(two));
        all = all << 32 | two;
    }
    return vcreate_u16(all);
}

/* n < 4 */
LN_APART void halves_store_first(uint16_t *p, halves a, size_t n)
{
    uint64_t all = vget_lane_u64(vreinterpret_u64_u16(a), 0);
    if (n & 2u) {
        memcpy(p, &all, sizeof(uint32_t));
        all >>= 32;
        p += 2;
    }
    if (n & 1u)
        *p = (uint16_t)all;
}

LN_INLINE vec bf16_widened(halves a)
{
    return vreinterpretq_f32_u32(vshll_n_u16(a, 16));
}

/* Does bf16_of() in every lane. A computed NaN is quiet and stays one when it is truncated. */
LN_INLINE halves bf16_narrowed(vec a)
{
    uint32x4_t bits = vreinterpretq_u32_f32(a), number = vceqq_f32(a, a);
    uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
    uint32x4_t half = vaddq_u32(odd, vdupq_n_u32(0x7fff));
    return vshrn_n_u32(vaddq_u32(bits, vandq_u32(half, number)), 16);
}

LN_INLINE vec f16_widened(halves a)
{
    return vcvt_f32_f16(vreinterpret_f16_u16(a));
}

LN_INLINE halves f16_narrowed(vec a)
{
    return vreinterpret_u16_f16(vcvt_f16_f32(a));
}

#else
typedef struct halves {
    uint16_t element[LANES];
} halves;

LN_INLINE halves halves_load(const uint16_t *p)
{
    return (halves){{p[0], p[1]}};
}

LN_INLINE halves halves_load_first(const uint16_t *p, size_t n)
{
    return (halves){{n ? p[0] : 0, 0}};
}

LN_INLINE void halves_store(uint16_t *p, halves a)
{
    p[0] = a.element[0];
    p[1] = a.element[1];
}

LN_INLINE void halves_store_first(uint16_t *p, halves a, size_t n)
{
    if (n)
        p[0] = a.element[0];
}

LN_INLINE vec bf16_widened(halves a)
{
    const double elements[LANES] = {item_of_bf16(a.element[0]), item_of_bf16(a.element[1])};
    return vld1q_f64(elements);
}

LN_INLINE halves bf16_narrowed(vec a)
{
    return (halves){{bf16_of((float)vgetq_lane_f64(a, 0)), bf16_of((float)vgetq_lane_f64(a, 1))}};
}

LN_INLINE vec f16_widened(halves a)
{
    const double elements[LANES] = {item_of_f16(a.element[0]), item_of_f16(a.element[1])};
    return vld1q_f64(elements);
}

LN_INLINE halves f16_narrowed(vec a)
{
    return (halves){{f16_of((float)vgetq_lane_f64(a, 0)), f16_of((float)vgetq_lane_f64(a, 1))}};
}

#endif

LN_HALVES_WORDS(bf16, bf16_widened(bf16_narrowed(a)))
LN_HALVES_WORDS(f16, f16_widened(f16_narrowed(a)))

#endif

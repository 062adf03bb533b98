/* bf16 and f16 storage, NEON, whose conversions keep subnormals, and NaNs quiet. Over f32 items four
 * elements at a time, the first n of which are read and written as two and one, since there are no
 * masks. Over f64 items one element after the other; what is stored is rounded to f32 first
 * (lane/lane.h). */
#ifndef LN_LANE_HALVES_NEON_H
#define LN_LANE_HALVES_NEON_H

#include "lane/lane.h"

#if ITEMS_ARE_F32
#include "lane/f32_neon.h"

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

/* bf16_of() in every lane. A NaN that arithmetic made is quiet: cut off, it stays one. */
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
#include "lane/f64_neon.h"

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

/* Plain C: one element at a time. The compiler may vectorise, but each operation has its own rounding, in the order of
 * the source. */
#ifndef LN_LANE_SCALAR_H
#define LN_LANE_SCALAR_H

#include "lane/lane.h"

typedef item vec;
enum { LANES = 1 };
LN_ARITHMETIC(lane, vec)

LN_INLINE vec lane_set(item a)
{
    return a;
}

LN_INLINE vec LN_PASTE(lane_load_, LN_ITEM)(const item *p)
{
    return *p;
}

/* A vector is one element, so that the first n elements are one or none. */
LN_INLINE vec LN_PASTE(lane_load_first_, LN_ITEM)(const item *p, size_t n)
{
    return n ? *p : 0;
}

LN_INLINE void LN_PASTE(lane_store_, LN_ITEM)(item *p, vec a)
{
    *p = a;
}

LN_INLINE vec LN_PASTE(lane_stored_, LN_ITEM)(vec a)
{
    return a;
}

LN_INLINE void item_store(item *p, vec a)
{
    *p = a;
}

LN_INLINE void LN_PASTE(lane_store_first_, LN_ITEM)(item *p, vec a, size_t n)
{
    if (n)
        *p = a;
}

LN_INLINE vec lane_first(vec a, size_t n)
{
    return n ? a : 0;
}

LN_INLINE vec lane_multiply_add(vec a, vec b, vec c)
{
    return a * b + c;
}

LN_INLINE vec lane_absolute(vec a)
{
    return (item)fabs(a);
}

LN_INLINE vec lane_maximum(vec a, vec b)
{
    return a > b ? a : b;
}

LN_INLINE vec lane_minimum(vec a, vec b)
{
    return a < b ? a : b;
}

LN_INLINE item lane_sum(vec a)
{
    return a;
}

LN_INLINE vec lane_mirrored(vec y, int digits)
{
    double wide = y;
    uint64_t bits;
    memcpy(&bits, &wide, sizeof bits);
    bits ^= ((uint64_t)1 << digits) - 1;
    memcpy(&wide, &bits, sizeof bits);
    return (vec)wide;
}

LN_INLINE vec lane_nearer(vec a, vec b)
{
    return lane_minimum(a, lane_absolute(b));
}

LN_INLINE unsigned lane_below(vec a, vec least)
{
    return !(a >= least);
}

LN_INLINE unsigned lane_unequal(vec a, vec b)
{
    return !(a == b) | (a == 0);
}

#if !ITEMS_ARE_F32
/* ---- f32 in memory, f64 items ---- */

LN_INLINE vec lane_load_f32(const element_f32 *p)
{
    return *p;
}

LN_INLINE vec lane_load_first_f32(const element_f32 *p, size_t n)
{
    return n ? *p : 0.0f;
}

LN_INLINE void lane_store_f32(element_f32 *p, vec a)
{
    *p = (float)a;
}

LN_INLINE void lane_store_first_f32(element_f32 *p, vec a, size_t n)
{
    if (n)
        *p = (float)a;
}

LN_INLINE vec lane_stored_f32(vec a)
{
    return (float)a;
}
#elif SUMS_ARE_LONGER
/* ---- f64 accumulators over f32 items ---- */

typedef double acc;
LN_ARITHMETIC(acc, acc)

LN_INLINE acc acc_of(vec a)
{
    return a;
}

LN_INLINE vec acc_items(acc a)
{
    return (vec)a;
}

LN_INLINE acc acc_set(real a)
{
    return a;
}

LN_INLINE void acc_store(real *p, acc a)
{
    *p = a;
}

LN_INLINE acc acc_first(acc a, size_t n)
{
    return n ? a : 0.0;
}

LN_INLINE acc acc_multiply_add(acc a, acc b, acc c)
{
    return a * b + c;
}

LN_INLINE real acc_sum(acc a)
{
    return a;
}
#endif

/* ---- 16-bit storage; f64 items are rounded to f32 before they are stored (lane/lane.h) ---- */

typedef uint16_t halves;

LN_INLINE halves halves_load(const uint16_t *p)
{
    return *p;
}

LN_INLINE halves halves_load_first(const uint16_t *p, size_t n)
{
    return n ? *p : 0;
}

LN_INLINE void halves_store(uint16_t *p, halves a)
{
    *p = a;
}

LN_INLINE void halves_store_first(uint16_t *p, halves a, size_t n)
{
    if (n)
        *p = a;
}

LN_INLINE vec bf16_widened(halves a)
{
    return item_of_bf16(a);
}

LN_INLINE halves bf16_narrowed(vec a)
{
    return bf16_of((float)a);
}

LN_INLINE vec f16_widened(halves a)
{
    return item_of_f16(a);
}

LN_INLINE halves f16_narrowed(vec a)
{
    return f16_of((float)a);
}

LN_HALVES_WORDS(bf16, bf16_widened(bf16_narrowed(a)))
LN_HALVES_WORDS(f16, f16_widened(f16_narrowed(a)))

#endif

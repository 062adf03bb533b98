/* bf16 and f16 storage, plain C; what f64 items store is rounded to f32 first (lane/lane.h). */
#ifndef LN_LANE_HALVES_SCALAR_H
#define LN_LANE_HALVES_SCALAR_H

#include "lane/scalar.h"

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

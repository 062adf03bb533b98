/* f32, plain C: one element at a time. The compiler may put neighbours into one instruction, but
 * each operation rounds by itself and in the order written. */
#ifndef LN_LANE_F32_SCALAR_H
#define LN_LANE_F32_SCALAR_H

#include "lane/f32.h"

typedef float vec;
enum { LANES = 1 };

LN_INLINE vec lane_set(item a)
{
    return a;
}

LN_INLINE vec lane_load_f32(const element_f32 *p)
{
    return *p;
}

/* Fewer than one element is none. */
LN_INLINE vec lane_load_first_f32(const element_f32 *p, size_t n)
{
    return n ? *p : 0.0f;
}

LN_INLINE void lane_store_f32(element_f32 *p, vec a)
{
    *p = a;
}

LN_INLINE vec lane_stored_f32(vec a)
{
    return a;
}

LN_INLINE void item_store(item *p, vec a)
{
    *p = a;
}

LN_INLINE void lane_store_first_f32(element_f32 *p, vec a, size_t n)
{
    if (n)
        *p = a;
}

LN_INLINE vec lane_first(vec a, size_t n)
{
    return n ? a : 0.0f;
}

LN_INLINE vec lane_add(vec a, vec b)
{
    return a + b;
}

LN_INLINE vec lane_subtract(vec a, vec b)
{
    return a - b;
}

LN_INLINE vec lane_multiply(vec a, vec b)
{
    return a * b;
}

LN_INLINE vec lane_multiply_add(vec a, vec b, vec c)
{
    return a * b + c;
}

LN_INLINE vec lane_absolute(vec a)
{
    return fabsf(a);
}

LN_INLINE vec lane_maximum(vec a, vec b)
{
    return a > b ? a : b;
}

LN_INLINE item lane_sum(vec a)
{
    return a;
}

#endif

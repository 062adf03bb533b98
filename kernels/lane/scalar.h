/* Plain C: one element at a time. The compiler may put neighbours into one instruction, but each
 * operation rounds by itself and in the order written.
 *
 * f32_scalar.h and f64_scalar.h say what differs: SCALAR(word), the name of a word that is of one
 * element type, and item_absolute(). */
#ifndef LN_LANE_SCALAR_H
#define LN_LANE_SCALAR_H

#ifndef SCALAR
#include "lane/f32_scalar.h"
#endif

typedef item vec;
enum { LANES = 1 };

LN_INLINE vec lane_set(item a)
{
    return a;
}

LN_INLINE vec SCALAR(lane_load)(const item *p)
{
    return *p;
}

/* Fewer than one element is none. */
LN_INLINE vec SCALAR(lane_load_first)(const item *p, size_t n)
{
    return n ? *p : 0;
}

LN_INLINE void SCALAR(lane_store)(item *p, vec a)
{
    *p = a;
}

LN_INLINE vec SCALAR(lane_stored)(vec a)
{
    return a;
}

LN_INLINE void item_store(item *p, vec a)
{
    *p = a;
}

LN_INLINE void SCALAR(lane_store_first)(item *p, vec a, size_t n)
{
    if (n)
        *p = a;
}

LN_INLINE vec lane_first(vec a, size_t n)
{
    return n ? a : 0;
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
    return item_absolute(a);
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

#endif

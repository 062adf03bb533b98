/* f32 in memory, f64 items, plain C. */
#ifndef LN_LANE_F32_OVER_F64_SCALAR_H
#define LN_LANE_F32_OVER_F64_SCALAR_H

#ifndef LN_ITEM
#define LN_ITEM f64
#endif
#include "lane/scalar.h"

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

#endif

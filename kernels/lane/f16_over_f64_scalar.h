/* f16 in memory, f64 items, plain C. What is stored is rounded to f32 first (lane/lane.h). */
#ifndef LN_LANE_F16_OVER_F64_SCALAR_H
#define LN_LANE_F16_OVER_F64_SCALAR_H

#include "lane/scalar.h"

LN_INLINE vec lane_load_f16(const element_f16 *p)
{
    return item_of_f16(*p);
}

LN_INLINE vec lane_load_first_f16(const element_f16 *p, size_t n)
{
    return n ? item_of_f16(*p) : 0.0f;
}

LN_INLINE void lane_store_f16(element_f16 *p, vec a)
{
    *p = f16_of((float)a);
}

LN_INLINE void lane_store_first_f16(element_f16 *p, vec a, size_t n)
{
    if (n)
        *p = f16_of((float)a);
}

LN_INLINE vec lane_stored_f16(vec a)
{
    return item_of_f16(f16_of((float)a));
}

#endif

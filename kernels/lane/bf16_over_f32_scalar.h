/* bf16 storage, plain C. */
#ifndef LN_LANE_BF16_OVER_F32_SCALAR_H
#define LN_LANE_BF16_OVER_F32_SCALAR_H

#include "lane/scalar.h"

LN_INLINE vec lane_load_bf16(const element_bf16 *p)
{
    return item_of_bf16(*p);
}

LN_INLINE vec lane_load_first_bf16(const element_bf16 *p, size_t n)
{
    return n ? item_of_bf16(*p) : 0.0f;
}

LN_INLINE void lane_store_bf16(element_bf16 *p, vec a)
{
    *p = bf16_of(a);
}

LN_INLINE void lane_store_first_bf16(element_bf16 *p, vec a, size_t n)
{
    if (n)
        *p = bf16_of(a);
}

LN_INLINE vec lane_stored_bf16(vec a)
{
    return item_of_bf16(bf16_of(a));
}

#endif

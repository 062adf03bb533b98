/* f32, plain C: see scalar.h. */
#ifndef LN_LANE_F32_SCALAR_H
#define LN_LANE_F32_SCALAR_H

#include "lane/f32.h"

#define SCALAR(word) word##_f32

LN_INLINE item item_absolute(item a)
{
    return fabsf(a);
}

#include "lane/scalar.h"

#endif

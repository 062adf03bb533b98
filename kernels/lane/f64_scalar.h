/* f64, plain C: see scalar.h. */
#ifndef LN_LANE_F64_SCALAR_H
#define LN_LANE_F64_SCALAR_H

#include "lane/f64.h"

#define SCALAR(word) word##_f64

LN_INLINE item item_absolute(item a)
{
    return fabs(a);
}

#include "lane/scalar.h"

#endif

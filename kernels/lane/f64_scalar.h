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

LN_INLINE unsigned lane_doubtful(vec y, vec least, int dropped, int64_t margin)
{
    int64_t bits, half = (int64_t)1 << (dropped - 1);
    memcpy(&bits, &y, sizeof bits);
    int64_t from_half = (bits & (2 * half - 1)) - half;
    return ((from_half < margin) & (from_half > -margin)) | !(fabs(y) >= least);
}

LN_INLINE unsigned lane_unequal(vec a, vec b)
{
    return !(a == b) | (a == 0);
}

#endif

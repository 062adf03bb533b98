/* The types and constants that all f32 lanes share. */
#ifndef LN_LANE_F32_H
#define LN_LANE_F32_H

#include "lane/lane.h"
#include <float.h>
#include <math.h>

typedef float item;

#define ITEM_UNIT 0x1p-24  /* one operation's relative error at most */
#define ITEM_TINY 0x1p-150 /* and its absolute error, where a product or quotient is subnormal */
#define ITEM_MAX ((double)FLT_MAX)
#define ITEM_MIN ((double)FLT_MIN)
#define ITEM_EXACT_INTEGERS 0x1p24
#define ITEM_SCALES 126 /* 2^-126 ... 2^126 are normal */

LN_INLINE item item_square_root(item a)
{
    return sqrtf(a);
}

LN_INLINE item item_of_f32(element_f32 a)
{
    return a;
}

#endif

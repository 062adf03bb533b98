/* The types and constants that all f64 lanes share.
 *
 * 16-bit storage over these items (<type>_over_f64_<isa>.h) is rounded to f32 first. That changes
 * nothing where items are sums of two elements (Figueroa, row.h), or lie further than 2^-24 of
 * themselves from the midpoints of storage numbers (apply/certified.h). */
#ifndef LN_LANE_F64_H
#define LN_LANE_F64_H

#include "lane/lane.h"
#include <float.h>
#include <math.h>

typedef double item;

#define ITEM_UNIT 0x1p-53   /* one operation's relative error at most */
#define ITEM_TINY 0x1p-1074 /* and its absolute error, doubled, since half of it is 0 in double */
#define ITEM_MAX DBL_MAX
#define ITEM_MIN DBL_MIN
#define ITEM_EXACT_INTEGERS 0x1p53
#define ITEM_SCALES 1022 /* 2^-1022 ... 2^1022 are normal */

LN_INLINE item item_square_root(item a)
{
    return sqrt(a);
}

LN_INLINE item item_of_f64(element_f64 a)
{
    return a;
}

#endif

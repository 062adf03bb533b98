/* The constants that all f64 accumulators share. */
#ifndef LN_LANE_ACCUMULATOR_F64_H
#define LN_LANE_ACCUMULATOR_F64_H

#include "lane/lane.h"
#include <float.h>
#include <math.h>

typedef double real;

#define REAL_UNIT 0x1p-53
#define REAL_TINY 0x1p-1074 /* half of it rounds to 0 in double, in which bounds are computed */
#define REAL_MAX DBL_MAX
#define REAL_MIN DBL_MIN
#define REAL_EXACT_INTEGERS 0x1p53

LN_INLINE real real_square_root(real a)
{
    return sqrt(a);
}

#endif

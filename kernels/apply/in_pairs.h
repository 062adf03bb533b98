/* in_pairs: xhat in two numbers, so that y rounds once, and where beta is added twice.
 *
 *     x - mean = d + e           p + l = (d + e)(rstd + its rest), p = d rstd rounded
 *     y = p gamma + (l gamma + beta)
 *
 * For the statistics `doubled` and the schedule `alone`, which computes this.
 *
 * Bound: bounds/bounds.c. */
#ifndef LN_APPLY_H
#define LN_APPLY_H

#ifndef LN_LANE_FILE
#include "statistics/doubled.h"
#endif
#include "moments.h"

typedef double factor;

#define APPLY_IN_PAIRS

#endif

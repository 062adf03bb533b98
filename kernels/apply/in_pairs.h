/* in_pairs: xhat in two numbers, so that y is rounded once, or twice with a beta.
 *
 *     x - mean = d + e           p + l = (d + e)(rstd + its rest), p = d rstd rounded
 *     y = p gamma + (l gamma + beta)
 *
 * Only for the statistics `doubled` and the schedule `alone`, which contains the code.
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

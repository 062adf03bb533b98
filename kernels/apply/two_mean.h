/* two_mean: ((x - mean) - rest) * rstd, with the mean in two parts, so that it has no rounding error of an item.
 *
 * Bound: bounds/bounds.c. */
#ifndef LN_APPLY_H
#define LN_APPLY_H

#include "moments.h"

/* The type in which rstd is computed. */
typedef real factor;

typedef struct centre {
    vec mean;
    vec rest;
    vec rstd;
    vec quotient;
} centre;

LN_INLINE centre centre_of(moments found, factor rstd, item quotient)
{
    item mean = (item)found.mean;
    real rest = WIDE ? (found.mean - mean) + found.rest : found.rest;
    return (centre){lane_set(mean), lane_set((item)rest), lane_set((item)rstd), lane_set(quotient)};
}

LN_INLINE vec centre_deviation(centre by, vec x)
{
    return lane_subtract(lane_subtract(x, by.mean), by.rest);
}

/* (x - mean) * rstd + quotient */
LN_INLINE vec centre_normalise(centre by, vec x)
{
    return multiply_add(centre_deviation(by, x), by.rstd, by.quotient);
}

/* The same if no eps is on the quotient. */
LN_INLINE vec centre_multiply(centre by, vec x)
{
    return lane_multiply(centre_deviation(by, x), by.rstd);
}

#endif

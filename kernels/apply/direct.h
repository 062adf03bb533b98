/* direct: (x - mean) * rstd, with the mean rounded to one number.
 *
 * Bound: bounds/bounds.c. */
#ifndef LN_APPLY_H
#define LN_APPLY_H

#include "moments.h"

/* The type in which rstd is computed. */
typedef real factor;

typedef struct centre {
    vec mean;
    vec rstd;
    vec quotient;
} centre;

LN_INLINE centre centre_of(moments found, factor rstd, item quotient)
{
    return (centre){lane_set((item)(found.mean + found.rest)), lane_set((item)rstd),
                    lane_set(quotient)};
}

/* (x - mean) * rstd + quotient */
LN_INLINE vec centre_normalise(centre by, vec x)
{
    vec deviation = lane_subtract(x, by.mean);
    return multiply_add(deviation, by.rstd, by.quotient);
}

#endif

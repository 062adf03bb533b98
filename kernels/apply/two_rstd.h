/* two_rstd: mean and rstd in two parts each, so that neither has a rounding error of an item, for rows whose values
 * fit into items.
 *
 *     rstd = r + l      a = quotient - rest * rstd      s = x - mean      xhat = s r + (s l + a)
 *
 * rstd is computed in double from the accumulators' m2, and l is the rest after its rounding to an item. There are as
 * many operations for each element as in two_mean, but only two roundings that matter: that of s, and the last.
 *
 * Bound: bounds/bounds.c. */
#ifndef LN_APPLY_H
#define LN_APPLY_H

#include "moments.h"

/* The type in which rstd is computed. */
typedef double factor;

typedef struct centre {
    vec mean;
    vec rstd;
    vec rstd_rest;
    vec addend;
} centre;

/* (x - mean) * rstd + quotient */
LN_INLINE vec centre_normalise(centre by, vec x)
{
    vec deviation = lane_subtract(x, by.mean);
    vec rest = multiply_add(deviation, by.rstd_rest, by.addend);
    return multiply_add(deviation, by.rstd, rest);
}

LN_INLINE centre centre_of(moments found, factor rstd, item quotient)
{
    item mean = (item)found.mean, first = (item)rstd;
    real rest = WIDE ? (found.mean - mean) + found.rest : found.rest;
    return (centre){lane_set(mean), lane_set(first), lane_set((item)(rstd - first)),
                    lane_set((item)(quotient - rest * rstd))};
}

#endif

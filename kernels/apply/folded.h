/* folded: (x - mean) * rstd + a, a = quotient - rest * rstd: the mean in two parts, the second of
 * which is in the addend. So the mean has no rounding error of an item, at no cost for each element.
 *
 * It needs one operation less for each element than two_mean.
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
    vec addend;
} centre;

/* The numbers that are the same for all elements of a row, as schedules with several rows at a time keep them. */
enum { CENTRE_PARTS = 3 };

LN_INLINE void centre_parts(moments found, factor rstd, item quotient, item parts[CENTRE_PARTS])
{
    item mean = (item)found.mean;
    real rest = WIDE ? (found.mean - mean) + found.rest : found.rest;
    parts[0] = mean;
    parts[1] = (item)rstd;
    parts[2] = (item)(quotient - rest * rstd);
}

LN_INLINE centre centre_of_parts(const item parts[CENTRE_PARTS])
{
    return (centre){lane_set(parts[0]), lane_set(parts[1]), lane_set(parts[2])};
}

LN_INLINE centre centre_of(moments found, factor rstd, item quotient)
{
    item parts[CENTRE_PARTS];
    centre_parts(found, rstd, quotient, parts);
    return centre_of_parts(parts);
}

/* (x - mean) * rstd + quotient */
LN_INLINE vec centre_normalise(centre by, vec x)
{
    return multiply_add(lane_subtract(x, by.mean), by.rstd, by.addend);
}

/* Returns whether the mean's first part is 0, as statistics without a pivot give it, and the
 * addend is far from subnormal (convention_is_regular()). */
LN_INLINE int centre_is_regular(const item parts[CENTRE_PARTS])
{
    return (parts[0] == 0) & (fabs((double)parts[2]) >= 0x1p-60);
}

/* Computes the same bits as centre_normalise() for a regular centre. */
LN_INLINE vec centre_normalise_unshifted(centre by, vec x)
{
    return multiply_add(x, by.rstd, by.addend);
}

#endif

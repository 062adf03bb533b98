/* split: x * rstd + a, a = quotient - mean * rstd, with rstd and a in two items each. The second parts
 * are added together with gamma and beta, so that they cost no rounding of xhat's size.
 *
 *     rstd = r + l      a = b + c      s = x r + b      w = x l + c      y = s gamma + (w gamma + beta)
 *
 * This takes four fused operations and no conversion. x r is not rounded, so that a mean far from zero costs no
 * accuracy: s, the sum in parentheses and y are rounded once each.
 *
 * For 16-bit storage l and c, 2^-24 of r and a, are negligible (0.004 row ULP in f16): there y = s gamma
 * + beta, with a = quotient - mean * r.
 *
 * A row is strange if this is not accurate enough: statistics used a pivot (retry.h: its mean is more
 * than 32 standard deviations from zero, or fewer in long rows), rstd is outside 2^-90 ... 2^90, an eps on
 * the quotient is above 2^-6, xhat is near subnormal numbers, or there is a NaN. Such rows are computed in the
 * accumulators' type (schedule/call.h).
 *
 * Bound: bounds/bounds.c. */
#ifndef LN_APPLY_H
#define LN_APPLY_H

#include "moments.h"

/* The type in which rstd is computed. */
typedef double factor;

#define CENTRE_CHECKED
#define CENTRE_SPLIT
#if STORES_F32
#define CENTRE_IN_TWO
#endif
#define SPLIT_RSTD_LEAST 0x1p-90
#define SPLIT_RSTD_MOST 0x1p90

/* The numbers that are the same for all elements of a row, as schedules with several rows at a time keep them. */
#ifdef CENTRE_IN_TWO
enum { CENTRE_PARTS = 4 };
#else
enum { CENTRE_PARTS = 2 };
#endif

typedef struct centre {
    vec rstd;
    vec addend;
#ifdef CENTRE_IN_TWO
    vec rstd_rest;
    vec addend_rest;
#endif
    int strange; /* the row must not be computed in items: apply_in_double(), schedule/call.h */
    double mean;
    double rest;
    double rstd_of_row;
} centre;

#ifdef CENTRE_IN_TWO
/* xhat in two parts. */
typedef struct normalised {
    vec first;
    vec rest;
} normalised;
#else
typedef vec normalised;
#endif

LN_INLINE void centre_parts(moments found, factor rstd, double quotient, item parts[CENTRE_PARTS])
{
    item first = (item)rstd;
    parts[0] = first;
    /* The mean's first part is 0, or the row is strange. */
#ifdef CENTRE_IN_TWO
    double addend = quotient - found.rest * rstd;
    item first_addend = (item)addend;
    parts[1] = first_addend;
    parts[2] = (item)(rstd - first);
    parts[3] = (item)(addend - first_addend);
#else
    parts[1] = (item)(quotient - found.rest * first);
#endif
}

/* Returns whether a row is strange. quotient: the eps on the quotient, or -0 (convention.h). */
LN_INLINE int centre_is_strange(moments found, factor rstd, double quotient)
{
    double squares = found.m2 * rstd * rstd;
    int fine = (rstd >= SPLIT_RSTD_LEAST) & (rstd <= SPLIT_RSTD_MOST) & (found.mean == 0) &
               (quotient <= SPLIT_QUOTIENT_MOST) & (squares >= SPLIT_SQUARES_LEAST);
    return !fine;
}

LN_INLINE centre centre_of_parts(const item parts[CENTRE_PARTS])
{
    centre by = {.rstd = lane_set(parts[0]), .addend = lane_set(parts[1])};
#ifdef CENTRE_IN_TWO
    by.rstd_rest = lane_set(parts[2]);
    by.addend_rest = lane_set(parts[3]);
#endif
    return by;
}

LN_INLINE centre centre_of(moments found, factor rstd, double quotient)
{
    item parts[CENTRE_PARTS];
    centre_parts(found, rstd, quotient, parts);
    centre by = centre_of_parts(parts);
    by.strange = centre_is_strange(found, rstd, quotient);
    by.mean = found.mean;
    by.rest = found.rest;
    by.rstd_of_row = rstd;
    return by;
}

LN_INLINE normalised centre_normalise(centre by, vec x)
{
#ifdef CENTRE_IN_TWO
    return (normalised){multiply_add(x, by.rstd, by.addend),
                        multiply_add(x, by.rstd_rest, by.addend_rest)};
#else
    return multiply_add(x, by.rstd, by.addend);
#endif
}

/* There is no shorter computation for any kind of row. */
LN_INLINE normalised centre_normalise_unshifted(centre by, vec x)
{
    return centre_normalise(by, x);
}

/* Returns whether the addend is far from subnormal (convention_is_regular()). */
LN_INLINE int centre_is_regular(const item parts[CENTRE_PARTS])
{
#ifdef LANE_STORE_REGULAR
    return fabs((double)parts[1]) >= 0x1p-60;
#else
    (void)parts;
    return 1;
#endif
}

#endif

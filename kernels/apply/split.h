/* split: x * rstd + a, a = quotient - mean * rstd, rstd and a in two items each: what the first parts
 * leave is added with gamma and beta, where it costs no rounding of xhat's size.
 *
 *     rstd = r + l      a = b + c      s = x r + b      w = x l + c      y = s gamma + (w gamma + beta)
 *
 * Four fused operations, no conversion. x r is not rounded, so that a mean far from zero costs nothing:
 * s, the sum within the brackets and y round once each.
 *
 * Beside 16-bit storage l and c, 2^-24 of r and a, are little (of f16 .004 row ULP): there y = s gamma
 * + beta, with a = quotient - mean * r.
 *
 * A row is strange where that is not enough: where statistics took a pivot (retry.h: its mean is more
 * than 32 standard deviations from zero, or less in long rows), rstd outside 2^-90 ... 2^90, an eps on
 * the quotient above 2^-6, xhat near subnormal numbers, or a NaN. Such rows are made in the
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

/* The numbers that are the same for all elements of a row: schedules that compute those of several
 * rows at once keep them so. */
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
    int strange; /* the row is not for items: apply_in_double(), schedule/call.h */
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

/* The quotient is that of convention.h: an eps, or -0. */
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

/* For schedules that have shorter ways for rows of some kind: there are none. */
LN_INLINE normalised centre_normalise_unshifted(centre by, vec x)
{
    return centre_normalise(by, x);
}

/* Whether the addend is far from subnormal: see convention_is_regular(). */
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

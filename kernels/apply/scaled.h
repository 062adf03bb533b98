/* scaled: x * rstd, for RMSNorm (statistics/rms.h).
 *
 * With f64 sums over f32, rstd is two items, r + l. y is s weight + w weight, with s = x r and
 * w = x l: three roundings of the size of y, since those of w weight are negligible.
 *
 * Bound: bounds/bounds.c. */
#ifndef LN_APPLY_H
#define LN_APPLY_H

#include "moments.h"

/* The type in which rstd is computed. */
typedef real factor;

/* Sums in double give a root for every row of short elements, but an item cannot hold the reciprocal of a root below
 * 2^-128: a row whose rstd is outside 2^-100 ... 2^100 is strange, and computed in double (schedule/call.h). */
#if SUMS_ARE_LONGER
#define CENTRE_CHECKED
#if STORES_F32
#define CENTRE_IN_TWO
_Static_assert(LN_FMA, "s weight + w weight is fused");
#define SCALED_RSTD_LEAST 0x1p-90
#define SCALED_RSTD_MOST 0x1p90
#else
#define SCALED_RSTD_LEAST 0x1p-100
#define SCALED_RSTD_MOST 0x1p100
#endif
#endif

/* The numbers that are the same for all elements of a row. */
#ifdef CENTRE_IN_TWO
enum { CENTRE_PARTS = 2 };
#else
enum { CENTRE_PARTS = 1 };
#endif

typedef struct centre {
    vec rstd;
#ifdef CENTRE_IN_TWO
    vec rstd_rest;
#endif
#ifdef CENTRE_CHECKED
    int strange; /* the row must not be computed in items: apply_in_double(), schedule/call.h */
    double rstd_of_row;
#endif
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

LN_INLINE void centre_parts(moments found, factor rstd, item quotient, item parts[CENTRE_PARTS])
{
    (void)found, (void)quotient;
    parts[0] = (item)rstd;
#ifdef CENTRE_IN_TWO
    parts[1] = (item)(rstd - parts[0]);
#endif
}

LN_INLINE centre centre_of_parts(const item parts[CENTRE_PARTS])
{
    centre by = {.rstd = lane_set(parts[0])};
#ifdef CENTRE_IN_TWO
    by.rstd_rest = lane_set(parts[1]);
#endif
    return by;
}

#ifdef CENTRE_CHECKED
LN_INLINE int centre_is_strange(moments found, factor rstd, item quotient)
{
    (void)found, (void)quotient;
    return !((rstd >= SCALED_RSTD_LEAST) & (rstd <= SCALED_RSTD_MOST));
}
#endif

LN_INLINE centre centre_of(moments found, factor rstd, item quotient)
{
    item parts[CENTRE_PARTS];
    centre_parts(found, rstd, quotient, parts);
    centre by = centre_of_parts(parts);
#ifdef CENTRE_CHECKED
    by.strange = centre_is_strange(found, rstd, quotient);
    by.rstd_of_row = rstd;
#endif
    return by;
}

LN_INLINE normalised centre_normalise(centre by, vec x)
{
#ifdef CENTRE_IN_TWO
    return (normalised){lane_multiply(x, by.rstd), lane_multiply(x, by.rstd_rest)};
#else
    return lane_multiply(x, by.rstd);
#endif
}

/* There is no shorter computation for any kind of row. */
LN_INLINE normalised centre_normalise_unshifted(centre by, vec x)
{
    return centre_normalise(by, x);
}

/* RMSNorm has no eps on the quotient. */
LN_INLINE normalised centre_multiply(centre by, vec x)
{
    return centre_normalise(by, x);
}

/* Returns whether y cannot be subnormal, which is never known. */
LN_INLINE int centre_is_regular(const item parts[CENTRE_PARTS])
{
    (void)parts;
#ifdef LANE_STORE_REGULAR
    return 0;
#else
    return 1;
#endif
}

#endif

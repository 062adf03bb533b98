/* certified: y in double, rounded to storage where its error leaves no doubt.
 *
 *     t = (x - p) rstd + c      y = t gamma + beta
 *
 * With an estimate's errors (statistics/exact.h: |t - xhat| <= r |t| + a, r covering what follows)
 *     |y - exact| <= r (|y| + |beta|) + |gamma| a + underflow <= E for all of a row
 * Storage numbers cut the real numbers into cells. With its last DROPPED bits inverted, y becomes y',
 * its mirror image about z, the middle of its cell, but for one of double's last places. So y - y' is
 * exact, and |y - z| is half of |y - y'| or 2^-53 |y| less. y is certain where
 *     |y - y'| >= least = 4 E (1 + 2^-5)      (so that |y - z| >= 2 E, since E >= 24 2^-53 |y|)
 * Proof. What is nearer to y than the nearest middle of a cell rounds as y does. z is more than 2 E
 * away. The next middle away from zero is further than z, as no cell is smaller than those nearer to
 * zero. The next one towards zero is half of its cell from the end of y's; its cell is half of y's or
 * more, and |y - z| half of y's or less: it is |y - z| / 2 > E away or more. Where |y| is not normal
 * in the storage type, cells are larger than y's digits say; there |y - y'| is less than a unit of
 * the smallest normal number, which `least` is at least.
 * 16-bit results are rounded to f32 first, which moves them by 2^-24 |y| at most: 2^-22 |y| is taken
 * from |y - y'| there.
 *
 * E. No |t| exceeds h = max |x - p| rstd + |c|, where the sweep knows max (x - p)^2 from sums of some
 * squares, so that |y| <= h max |gamma| + max |beta| and
 *     E = r (h max |gamma| + 2 max |beta|) + max |gamma| a + underflow
 * The factor 1 + 2^-5 makes up for the roundings of h, y and E.
 *
 * Vectors in doubt, of normal rows less than one in 1000, are looked at again with the errors of
 * their own elements: where both ends of the interval are the same storage number, y is. What remains,
 * some elements in 10^6, goes to exact/exact.c one by one. Where gamma or beta has a NaN or an
 * infinity all do. */
#ifndef LN_APPLY_H
#define LN_APPLY_H

#ifndef LN_LANE_FILE
#include "statistics/exact.h"
#endif
#include "moments.h"

#define APPLY_CERTIFIED
#define APPLY_BOUND(problem, facts) bound_of_one_rounding()

typedef double factor;
#define FACTOR f64

#define DROPPED_f32 29
#define DROPPED_bf16 45
#define DROPPED_f16 42
#define NORMAL_f32 0x1p-126
#define NORMAL_bf16 0x1p-126
#define NORMAL_f16 0x1p-14
#define PARAM_IS_STORAGE (LN_PASTE(UNIT_, LN_PARAM) == LN_PASTE(UNIT_, LN_STORAGE))
#define DROPPED LN_PASTE(DROPPED_, LN_STORAGE)
#define NORMAL LN_PASTE(NORMAL_, LN_STORAGE)

/* 16-bit results are rounded to f32 first; four such roundings of y. */
#define IS_ROUNDED_TWICE (sizeof(storage) < sizeof(float))
#define F32_ROUNDINGS 0x1p-22

/* The largest r with which vectors are tested. */
#define MOST_RELATIVE 0x1p-37

/* How far y is from its mirror image in its cell, less what 16-bit results are moved by. */
LN_INLINE vec distance_of(vec y)
{
    vec distance = lane_absolute(lane_subtract(y, lane_mirrored(y, DROPPED)));
    return IS_ROUNDED_TWICE
               ? multiply_add(lane_absolute(y), lane_set(-(real)F32_ROUNDINGS), distance)
               : distance;
}

/* What is nearer: `nearest`, or y to its mirror image. */
LN_INLINE vec nearest_of(vec nearest, vec y)
{
    return IS_ROUNDED_TWICE ? lane_minimum(nearest, distance_of(y))
                            : lane_nearer(nearest, lane_subtract(y, lane_mirrored(y, DROPPED)));
}

/* One rounding of y is all: half a unit of its last place. */
LN_INLINE ln_bound bound_of_one_rounding(void)
{
    return (ln_bound){0, STORAGE_UNIT};
}

#endif

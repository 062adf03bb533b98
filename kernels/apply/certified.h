/* certified: y in double, rounded to storage where its error leaves no doubt.
 *
 *     t = (x - p) rstd + c      y = t gamma + beta
 *
 * With an estimate's errors (statistics/exact.h: |t - xhat| <= r |t| + a, r covering what follows)
 *     |y - exact| <= r (|y| + |beta|) + |gamma| a + underflow
 * A vector's y is certain where |y| >= least and its bits lie further than MARGIN of double's last
 * places from a midpoint of storage numbers, that is 2^-53 MARGIN |y| at least: for
 *     r <= 2^-54 MARGIN         least = 2^54 / MARGIN (r max |beta| + max |gamma| a + underflow)
 * what is within the error of y rounds as y does. `least` is a normal number of the storage type at
 * least, whose midpoints have the last bit kept and DROPPED - 1 zeros behind it. Just above a power of
 * two the nearest midpoint below is 2^(DROPPED - 2) > MARGIN places away. 16-bit results may be
 * rounded to f32 first: MARGIN there is 2^-23 of y, and such a rounding 2^-24.
 *
 * A vector in doubt, of normal rows one in 100, is looked at again with the errors of its own elements:
 * where both ends of the interval are the same storage number, y is. What remains, some elements in
 * 10^6, goes to exact/exact.c one by one. Where gamma or beta has a NaN or an infinity all do. */
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
#define MARGIN_f32 0x20000
#define MARGIN_bf16 0x40000000
#define MARGIN_f16 0x40000000
#define NORMAL_f32 0x1p-126
#define NORMAL_bf16 0x1p-126
#define NORMAL_f16 0x1p-14
#define PARAM_IS_STORAGE (LN_PASTE(UNIT_, LN_PARAM) == LN_PASTE(UNIT_, LN_STORAGE))
#define DROPPED LN_PASTE(DROPPED_, LN_STORAGE)
#define MARGIN LN_PASTE(MARGIN_, LN_STORAGE)
#define NORMAL LN_PASTE(NORMAL_, LN_STORAGE)

/* One rounding of y is all: half a unit of its last place. */
LN_INLINE ln_bound bound_of_one_rounding(void)
{
    return (ln_bound){0, STORAGE_UNIT};
}

#endif

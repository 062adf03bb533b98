/* two_mean: (x - mean) - rest, the mean in two parts, so that its rounding to one is never felt.
 *
 * Bound. With s = x - mean in exact arithmetic, |s| <= |x - mu| + |rest| + delta, where delta is
 * the error of mean + rest: fl(s) = s (1 + e), and fl(fl(s) - rest) is within
 *     (1 + u)(u |s| + delta) + u |x - mu|   of   x - mu.
 * Where items are shorter than accumulators, the mean is split anew: h = fl(mean) is within
 * u |mean| of it, and mean - h + rest, at most that and |rest|, is rounded in the accumulator's
 * type and then to an item. */
#ifndef LN_APPLY_H
#define LN_APPLY_H

#include "moments.h"

/* The type in which rstd is computed. */
typedef real factor;
#define FACTOR LN_ACCUMULATOR

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

/* The same where no eps is on the quotient. */
LN_INLINE vec centre_multiply(centre by, vec x)
{
    return lane_multiply(centre_deviation(by, x), by.rstd);
}

/* The largest absolute error of a difference. */
LN_INLINE double deviation_bound(const ln_row_facts *facts, const moments_bound *found)
{
    double delta = found->mean, rest = found->rest;
    if (WIDE) {
        rest += ITEM_UNIT * (fabs(facts->mean) + delta + rest) + ITEM_TINY;
        delta += (REAL_UNIT + ITEM_UNIT) * rest * (1 + REAL_UNIT) + ITEM_TINY;
        rest *= 1 + 2 * ITEM_UNIT;
    }
    double s = facts->max_dev + rest + delta;
    if (!(2 * (fabs(facts->mean) + s) < ITEM_MAX))
        return INFINITY;
    double error = (1 + ITEM_UNIT) * (ITEM_UNIT * s + delta) + ITEM_UNIT * facts->max_dev;
    return error * bound_slack;
}

LN_INLINE double centre_bound(const ln_problem *problem, const ln_row_facts *facts,
                              const moments_bound *found, double rho)
{
    return bound_product(problem, facts, deviation_bound(facts, found), rho);
}

#endif

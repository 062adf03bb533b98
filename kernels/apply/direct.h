/* direct: x - mean, the mean rounded to one number.
 *
 * Bound. Statistics whose mean is in two parts are rounded to one here: m = fl(mean + rest), an
 * error of u |mean + rest| more (also where items are shorter than accumulators). Then fl(x - m) is
 * within (1 + u) |m - mu| + u |x - mu| of x - mu.
 */
#ifndef LN_APPLY_H
#define LN_APPLY_H

#include "moments.h"

/* The type in which rstd is computed. */
typedef real factor;
#define FACTOR LN_ACCUMULATOR

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

/* The largest absolute error of a difference. */
LN_INLINE double deviation_bound(const ln_row_facts *facts, const moments_bound *found)
{
    double delta = found->mean;
    if (found->rest > 0)
        delta += REAL_UNIT * (fabs(facts->mean) + delta);
    if (WIDE)
        delta += ITEM_UNIT * (fabs(facts->mean) + delta) + ITEM_TINY;
    if (!(2 * (fabs(facts->mean) + facts->max_dev + delta) < ITEM_MAX))
        return INFINITY;
    return ((1 + ITEM_UNIT) * delta + ITEM_UNIT * facts->max_dev) * bound_slack;
}

LN_INLINE double centre_bound(const ln_problem *problem, const ln_row_facts *facts,
                              const moments_bound *found, double rho)
{
    return bound_product(problem, facts, deviation_bound(facts, found), rho);
}

#endif

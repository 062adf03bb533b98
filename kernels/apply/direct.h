/* direct: x - mean, the mean rounded to one number.
 *
 * Bound. Statistics whose mean is in two parts are rounded to one here: m = fl(mean + rest), an
 * error of u |mean + rest| more (also where items are shorter than accumulators). Then fl(x - m) is
 * within (1 + u) |m - mu| + u |x - mu| of x - mu.
 */
#ifndef LN_APPLY_H
#define LN_APPLY_H

typedef struct centre {
    vec mean;
} centre;

LN_INLINE centre centre_of(moments moments)
{
    return (centre){lane_set((item)(moments.mean + moments.rest))};
}

LN_INLINE vec centre_subtract(centre centre, vec x)
{
    return lane_subtract(x, centre.mean);
}

/* The largest absolute error of a difference. */
LN_INLINE double centre_bound(const ln_row_facts *facts, const moments_bound *moments)
{
    double delta = moments->mean;
    if (moments->rest > 0)
        delta += REAL_UNIT * (fabs(facts->mean) + delta);
    if (WIDE)
        delta += ITEM_UNIT * (fabs(facts->mean) + delta) + ITEM_TINY;
    if (!(2 * (fabs(facts->mean) + facts->max_dev + delta) < ITEM_MAX))
        return INFINITY;
    return ((1 + ITEM_UNIT) * delta + ITEM_UNIT * facts->max_dev) * bound_slack;
}

#endif

/* direct: x - mean, the mean rounded to one number.
 *
 * Bound. Statistics whose mean is in two parts are rounded to one here: m = fl(mean + rest), an
 * error of u |mean + rest| more. Then fl(x - m) is within (1 + u) |m - mu| + u |x - mu| of x - mu.
 */
#ifndef LN_APPLY_H
#define LN_APPLY_H

typedef struct centre {
    vec mean;
} centre;

LN_INLINE centre centre_of(moments moments)
{
    return (centre){lane_set(moments.mean + moments.rest)};
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
    return ((1 + REAL_UNIT) * delta + REAL_UNIT * facts->max_dev) * bound_slack;
}

#endif

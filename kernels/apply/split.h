/* split: (x - mean) - rest, the mean in two parts, so that its rounding to one is never felt.
 *
 * Bound. With s = x - mean in exact arithmetic, |s| <= |x - mu| + |rest| + delta, where delta is
 * the error of mean + rest: fl(s) = s (1 + e), and fl(fl(s) - rest) is within
 *     (1 + u)(u |s| + delta) + u |x - mu|   of   x - mu. */
#ifndef LN_APPLY_H
#define LN_APPLY_H

typedef struct centre {
    vec mean;
    vec rest;
} centre;

LN_INLINE centre centre_of(moments moments)
{
    return (centre){lane_set(moments.mean), lane_set(moments.rest)};
}

LN_INLINE vec centre_subtract(centre centre, vec x)
{
    return lane_subtract(lane_subtract(x, centre.mean), centre.rest);
}

LN_INLINE double centre_bound(const ln_row_facts *facts, const moments_bound *moments)
{
    double s = facts->max_dev + moments->rest + moments->mean;
    double error = (1 + REAL_UNIT) * (REAL_UNIT * s + moments->mean) + REAL_UNIT * facts->max_dev;
    return error * bound_slack;
}

#endif

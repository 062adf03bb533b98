/* scaled: x * rstd, of rows about zero (statistics/rms.h).
 *
 * Bound: bound_product() of moments.h, with deviations that are exact. */
#ifndef LN_APPLY_H
#define LN_APPLY_H

#include "moments.h"

/* The type in which rstd is computed. */
typedef real factor;
#define FACTOR LN_ACCUMULATOR

typedef struct centre {
    vec rstd;
} centre;

enum { CENTRE_PARTS = 1 };

LN_INLINE void centre_parts(moments found, factor rstd, item quotient, item parts[CENTRE_PARTS])
{
    (void)found, (void)quotient;
    parts[0] = (item)rstd;
}

LN_INLINE centre centre_of_parts(const item parts[CENTRE_PARTS])
{
    return (centre){lane_set(parts[0])};
}

LN_INLINE centre centre_of(moments found, factor rstd, item quotient)
{
    (void)found, (void)quotient;
    return (centre){lane_set((item)rstd)};
}

LN_INLINE vec centre_normalise(centre by, vec x)
{
    return lane_multiply(x, by.rstd);
}

/* No eps is on the quotient. */
LN_INLINE vec centre_multiply(centre by, vec x)
{
    return centre_normalise(by, x);
}

LN_INLINE double centre_bound(const ln_problem *problem, const ln_row_facts *facts,
                              const moments_bound *found, double rho)
{
    (void)found;
    return bound_product(problem, facts, 0, rho);
}

#endif

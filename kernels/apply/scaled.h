/* scaled: x * rstd, of rows about zero (statistics/rms.h).
 *
 * Bound: bound_product() of moments.h, with deviations that are exact. In double all is nearer, and there is one
 * rounding to an item less. */
#ifndef LN_APPLY_H
#define LN_APPLY_H

#include "moments.h"

/* The type in which rstd is computed. */
typedef real factor;
#define FACTOR LN_ACCUMULATOR

/* Sums in double give a root of any row of short elements, but an item holds no reciprocal of one below 2^-128:
 * a row whose rstd is outside 2^-100 ... 2^100 is strange, and computed in double (schedule/call.h). */
#ifdef LN_ACCUMULATOR_FILE
#define CENTRE_CHECKED
#undef RSTD_MAX
#undef RSTD_MIN
#define RSTD_MAX FACTOR_MAX
#define RSTD_MIN FACTOR_MIN
#endif

typedef struct centre {
    vec rstd;
#ifdef CENTRE_CHECKED
    int strange;
    double rstd_of_row;
#endif
} centre;

enum { CENTRE_PARTS = 1 };

LN_INLINE void centre_parts(moments found, factor rstd, item quotient, item parts[CENTRE_PARTS])
{
    (void)found, (void)quotient;
    parts[0] = (item)rstd;
}

LN_INLINE centre centre_of_parts(const item parts[CENTRE_PARTS])
{
    return (centre){.rstd = lane_set(parts[0])};
}

LN_INLINE centre centre_of(moments found, factor rstd, item quotient)
{
    (void)found, (void)quotient;
    return (centre){.rstd = lane_set((item)rstd),
#ifdef CENTRE_CHECKED
                    .strange = !(rstd >= 0x1p-100 && rstd <= 0x1p100),
                    .rstd_of_row = rstd
#endif
    };
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

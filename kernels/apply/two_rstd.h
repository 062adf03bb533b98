/* two_rstd: mean and rstd in two parts each, so that the rounding of neither is felt
 * (two_rstd_parts.h, whose bound it has). */
#ifndef LN_APPLY_H
#define LN_APPLY_H

#include "apply/two_rstd_parts.h"

typedef two_rstd centre;

LN_INLINE centre centre_of(moments found, factor rstd, item quotient)
{
    item parts[CENTRE_PARTS];
    centre_parts(found, rstd, quotient, parts);
    return two_rstd_of(parts);
}

/* (x - mean) * rstd + quotient */
LN_INLINE vec centre_normalise(centre by, vec x)
{
    return two_rstd_normalise(by, x);
}

LN_INLINE double centre_bound(const ln_problem *problem, const ln_row_facts *facts,
                              const moments_bound *found, double rho)
{
    return two_rstd_bound(problem, facts, found, rho);
}

#endif

/* folded: (x - mean) * (gamma * rstd) + beta: rstd goes into gamma, not into x - mean.
 *
 * As many operations an element as direct where gamma is a vector, one less where it is a scalar,
 * and the product does not wait for x. Where eps is on the quotient, which stands between the two
 * products, and where there is no gamma, rows are made as by direct.
 *
 * Bound: direct.h's. fl(gamma r') = gamma r' (1 + e), |e| <= u, is what fl(d' r') = d' r' (1 + e)
 * is there, and convention.h counts the rest of the affine form. That takes gamma r' for a normal
 * number or 0; gamma xhat may be one where gamma r' is not. So the bound holds where no |gamma_i|
 * rstd lies beyond the normal numbers, and none is claimed where even gamma = 1 would not be. */
#define CENTRE_FOLDED
#include "apply/direct.h"

/* x - mean */
LN_INLINE vec centre_deviation(centre centre, vec x)
{
    return lane_subtract(x, centre.mean);
}

/* What the metrics and the bounds share: classes, and the size of what was added up. */
#ifndef LN_SCALE_H
#define LN_SCALE_H

#include "affine.h"

#include <math.h>

/* Both NaN, both finite, or the same infinity. */
static inline bool same_class(float a, float b)
{
    if (isfinite(a) || isfinite(b)) {
        return isfinite(a) && isfinite(b);
    }
    return isnan(a) || isnan(b) ? isnan(a) && isnan(b) : signbit(a) == signbit(b);
}

/* |gamma_i| with 1 + g under gamma1, rounded once to double. */
static inline double gamma_size(ln_affine affine, const float *gamma, size_t i)
{
    double stored = (double)affine_gamma(affine, gamma, i);
    return fabs(affine == LN_AFFINE_GAMMA1 ? 1.0 + stored : stored);
}

/* |gamma_i| max_j |xhat_j| + |beta_i|, within a few parts in 2^53. */
static inline double element_scale(ln_affine affine, const float *gamma, const float *beta,
                                   size_t i, double max_xhat)
{
    return gamma_size(affine, gamma, i) * max_xhat + fabs((double)affine_beta(affine, beta, i));
}

#endif

/* The affine forms, for the reference and the metrics. */
#ifndef LN_AFFINE_H
#define LN_AFFINE_H

#include "layernorm.h"
#include <stdbool.h>

static inline bool affine_has_gamma(ln_affine affine)
{
    return affine != LN_AFFINE_NONE;
}

static inline bool affine_has_beta(ln_affine affine)
{
    return affine == LN_AFFINE_SCALAR || affine == LN_AFFINE_VECTOR || affine == LN_AFFINE_GAMMA1;
}

/* What is stored for element i; 1 and 0 where the form has none. */
static inline float affine_gamma(ln_affine affine, const float *gamma, size_t i)
{
    return affine_has_gamma(affine) ? gamma[affine == LN_AFFINE_SCALAR ? 0 : i] : 1.0f;
}

static inline float affine_beta(ln_affine affine, const float *beta, size_t i)
{
    return affine_has_beta(affine) ? beta[affine == LN_AFFINE_SCALAR ? 0 : i] : 0.0f;
}

#endif

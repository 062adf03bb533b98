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

#endif

/* RMSNorm, the second operation of liblayernorm: what is computed.
 *
 * For a row x of N = hidden elements (Zhang, Sennrich, "Root Mean Square Layer Normalization", 2019,
 * with the places of eps, the weights and the roundings that published models have), T being the
 * storage type:
 *
 *     square = sum(x^2) / N
 *     root   = sqrt(square + eps)      eps in the mean square  (LN_EPS_VAR)
 *              sqrt(square) + eps      eps on the root         (LN_EPS_STD)
 *              sqrt(square)            otherwise
 *              rounded to T            where `root` says so
 *     xhat   = x / root                rounded to T where `cast` says so
 *     y      = weight * xhat           as the weight's form says, rounded to T
 *
 * All else is exact. A library that takes the root of (variance + mean^2 + eps) computes the same
 * function as one that adds eps to the mean square.
 * A NaN anywhere in a row makes the whole row NaN; an infinity is NaN itself, and makes every other
 * xhat of its row 0. */
#ifndef RMSNORM_H
#define RMSNORM_H

#include "layernorm.h"

/* The weight's form. */
typedef enum ln_rms_weight {
    LN_RMS_WEIGHT_NONE = 0,           /* y = xhat */
    LN_RMS_WEIGHT = 1,                /* y = w[i] * xhat */
    LN_RMS_WEIGHT_OFFSET = 2,         /* y = (1 + w[i]) * xhat */
    LN_RMS_WEIGHT_OFFSET_ROUNDED = 3, /* the same, 1 + w[i] rounded to the weight's type first */
} ln_rms_weight;

/* How x and the residual are added; `sum`, what is written out, is x + residual rounded to T always.
 * "Unrounded" is rounded to f32 where T has 16 bits, and to T otherwise. */
typedef enum ln_rms_sum {
    LN_RMS_SUM_ROUNDED = 0,   /* the sum rounded to T is normalised */
    LN_RMS_SUM_UNROUNDED = 1, /* the unrounded sum is */
    LN_RMS_SUM_SQUARES = 2,   /* the root is that of the unrounded sum, x that of the rounded one */
} ln_rms_sum;

/* eps is a double and taken exactly; LN_EPS_NONE goes with eps 0, LN_EPS_QUOTIENT is none of
 * RMSNorm's. */
typedef struct ln_rms_convention {
    ln_eps_place eps_place;
    ln_rms_weight weight;
    double eps;
    int root; /* 1: the root is rounded to the storage type */
    int cast; /* 1: xhat is rounded to the storage type before the weight */
    ln_rms_sum sum;
} ln_rms_convention;

#endif

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
 *
 *     ln_rms_problem problem = {.rows = 512, .hidden = 4096, .storage = LN_F32, .param = LN_F32,
 *                               .convention = {.eps_place = LN_EPS_VAR, .eps = 1e-5,
 *                                              .weight = LN_RMS_WEIGHT}};
 *     ln_rms_tensors tensors = {.x = x, .weight = weight, .y = y};
 *     if (ln_rmsnorm(&problem, &tensors) != LN_OK) { ... }
 *
 * A NaN anywhere in a row makes the whole row NaN; an infinity is NaN itself, and makes every other
 * xhat of its row 0. */
#ifndef RMSNORM_H
#define RMSNORM_H

#include "layernorm.h"

#ifdef __cplusplus
extern "C" {
#endif

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
    unsigned char root;     /* 1: the root is rounded to the storage type */
    unsigned char cast;     /* 1: xhat is rounded to the storage type before the weight */
    unsigned char sum;      /* an ln_rms_sum */
    unsigned char reserved; /* 0 */
    ln_eps_place eps_place;
    double eps;
    ln_rms_weight weight;
} ln_rms_convention;

/* The size and kind of a call, as ln_problem: strides are elements from one row to the next; 0 stands
 * for hidden. */
typedef struct ln_rms_problem {
    size_t rows;
    size_t hidden;
    size_t x_stride;
    size_t y_stride;
    size_t residual_stride;
    size_t sum_stride;
    ln_type storage; /* of x, residual, y and sum */
    ln_type param;   /* of the weight */
    ln_rms_convention convention;
    ln_accuracy accuracy; /* for ln_rmsnorm() and ln_rmsnorm_parallel(); kernels don't look */
} ln_rms_problem;

/* The buffers of a call, all owned by the caller. y may be x (in place); sum may be x or residual;
 * nothing else may overlap. Alignment beyond the element's is never needed. */
typedef struct ln_rms_tensors {
    const void *x;        /* rows x hidden */
    const void *residual; /* rows x hidden, or NULL */
    const void *weight;   /* hidden; NULL where the convention has none */
    const void *no_beta;  /* NULL */
    void *y;              /* rows x hidden */
    void *sum;            /* x + residual, rows x hidden; NULL where it is not wanted or there is no
                           * residual */
    void *no_mean;        /* NULL */
    void *rrms; /* rows, of the accumulator's type (ln_rmsnorm_accumulator()), or NULL: 1 / root */
} ln_rms_tensors;

/* As ln_layernorm() and its companions of layernorm.h. LN_ACCURACY_FAST has sums of f32 (of f64 for f64
 * storage, and where that is as fast); LN_ACCURACY_ACCURATE is proven to be within 2 row ULP for f32 and within
 * .51 for 16 bits (of the rows that layernorm.h says), but where root or xhat are rounded;
 * LN_ACCURACY_REPRODUCIBLE gives the same bits on every ISA and number of threads.
 * LN_ACCURACY_EXACT is each y of f32 correctly rounded, where the weight is none or w and neither root nor xhat are rounded.
 * Else it, and accurate of f64, have no kernel: LN_ERROR_UNSUPPORTED, as where a residual of 16-bit storage is not rounded before it is normalised. */
LN_API ln_status ln_rmsnorm(const ln_rms_problem *problem, const ln_rms_tensors *tensors);
LN_API ln_status ln_rmsnorm_parallel(const ln_rms_problem *problem, const ln_rms_tensors *tensors);
LN_API const char *ln_rmsnorm_kernel(const ln_rms_problem *problem);
LN_API ln_type ln_rmsnorm_accumulator(const ln_rms_problem *problem);
LN_API ln_status ln_rmsnorm_with(const char *kernel, const ln_rms_problem *problem,
                                 const ln_rms_tensors *tensors);

#ifdef __cplusplus
}
#endif

#endif

/* RMSNorm, the second operation of liblayernorm.
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
 *     ln_convention plain = {.operation = LN_OPERATION_RMSNORM, .eps_place = LN_EPS_VAR, .eps = 1e-5,
 *                            .weight = LN_RMS_WEIGHT};
 *     ln_problem problem = {.rows = 512, .hidden = 4096, .storage = LN_F32, .param = LN_F32,
 *                           .convention = plain};
 *     ln_tensors tensors = {.x = x, .gamma = weight, .y = y};
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

/* As ln_layernorm() and its companions of layernorm.h, of problems whose convention's operation is
 * LN_OPERATION_RMSNORM. tensors->gamma is the weight and tensors->rstd is rrms, 1 / root, of the accumulator's
 * type (ln_rmsnorm_accumulator()); beta and mean are not looked at. LN_ACCURACY_FAST has sums of f32 (of f64 for f64
 * storage, and where that is as fast); LN_ACCURACY_ACCURATE is proven to be within 2 row ULP for f32 and within
 * 0.51 for 16 bits (of the rows that layernorm.h says), but where root or xhat are rounded;
 * LN_ACCURACY_REPRODUCIBLE gives the same bits on every ISA and number of threads.
 * LN_ACCURACY_EXACT is each y of f32 correctly rounded, where the weight is none or w and neither root nor xhat are rounded.
 * Else it, and accurate of f64, have no kernel: LN_ERROR_UNSUPPORTED, as where a residual of 16-bit storage is not rounded before it is normalised. */
LN_API ln_status ln_rmsnorm(const ln_problem *problem, const ln_tensors *tensors);
LN_API ln_status ln_rmsnorm_parallel(const ln_problem *problem, const ln_tensors *tensors);
LN_API const char *ln_rmsnorm_kernel_name(const ln_problem *problem);
LN_API ln_type ln_rmsnorm_accumulator(const ln_problem *problem);
LN_API const ln_kernel *ln_rmsnorm_kernel(const char *name);
LN_API ln_status ln_rmsnorm_with(const ln_kernel *kernel, const ln_problem *problem,
                                 const ln_tensors *tensors);

#ifdef __cplusplus
}
#endif

#endif

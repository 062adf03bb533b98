/* RMSNorm, the second operation of liblayernorm.
 *
 * For a row x of N = hidden elements, with the storage type T (Zhang, Sennrich, "Root Mean Square Layer Normalization",
 * 2019, with the places of eps, the weights and the roundings of published models):
 *
 *     square = sum(x^2) / N
 *     root   = sqrt(square + eps)      eps in the mean square  (LN_EPS_VAR)
 *              sqrt(square) + eps      eps on the root         (LN_EPS_STD)
 *              sqrt(square)            otherwise
 *              rounded to T            if `root` is 1
 *     xhat   = x / root                rounded to T if `cast` is 1
 *     y      = weight * xhat           in the form of the weight, rounded to T
 *
 * Everything else is exact. A library that takes the root of (variance + mean^2 + eps) computes the same
 * function as one that adds eps to the mean square.
 *
 *     ln_convention plain = {.operation = LN_OPERATION_RMSNORM, .eps_place = LN_EPS_VAR, .eps = 1e-5,
 *                            .weight = LN_RMS_WEIGHT};
 *     ln_problem problem = {.rows = 512, .hidden = 4096, .storage = LN_F32, .param = LN_F32,
 *                           .convention = plain};
 *     ln_tensors tensors = {.x = x, .gamma = weight, .y = y};
 *     if (ln_rmsnorm(&problem, &tensors) != LN_OK) { ... }
 *
 * A NaN anywhere in a row makes the whole row NaN. An infinity gives NaN for its own element and xhat = 0 for the
 * finite elements of its row. */
#ifndef RMSNORM_H
#define RMSNORM_H

#include "layernorm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Like ln_layernorm() and its companions in layernorm.h, for problems whose convention has the operation
 * LN_OPERATION_RMSNORM. tensors->gamma is the weight; tensors->rstd is rrms = 1 / root, of the accumulator's type
 * (ln_rmsnorm_accumulator()); beta and mean are ignored. LN_ACCURACY_FAST has sums in f32 (in f64 for f64 storage, and
 * if f64 is as fast). LN_ACCURACY_ACCURATE is proven to be within 2 row ULP for f32 and 0.51 for 16-bit storage, with
 * the exceptions that layernorm.h names, unless root or xhat is rounded. LN_ACCURACY_REPRODUCIBLE gives the same bits
 * on every ISA and number of threads. LN_ACCURACY_EXACT rounds each y of f32 correctly, if the weight is none or w and
 * neither root nor xhat is rounded. LN_ERROR_UNSUPPORTED: other problems of EXACT, ACCURATE for f64, and a residual of
 * 16-bit storage whose sum is not rounded before it is normalised. */
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

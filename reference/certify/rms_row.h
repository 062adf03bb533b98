/* The certified RMSNorm reference: reference.h with another operation.
 *
 *     ln_convention llama = {.operation = LN_OPERATION_RMSNORM, .eps_place = LN_EPS_VAR, .eps = 1e-5,
 *                            .weight = LN_RMS_WEIGHT, .cast = 1};
 *     ln_rms_reference_row(reference, &llama, LN_BF16, LN_BF16, hidden, x, NULL, weight, &result);
 */
#ifndef LN_RMS_REFERENCE_H
#define LN_RMS_REFERENCE_H

#include "certify/reference.h"
#include "layernorm.h"

/* Computes the answers of one row under rmsnorm.h, with each of its roundings correctly rounded to nearest even. The
 * result is that of reference.h, with mean 0, var the mean square, rstd 1 / root and kappa 1; exact and rest are
 * those of y before its last rounding. weight may be NULL if the convention has none. Returns false
 * if memory runs out, hidden is 0, or x or a weight that the convention has is NULL; result is then undefined. */
bool ln_rms_reference_row(ln_reference *reference, const ln_convention *convention, ln_type storage,
                          ln_type param, size_t hidden, const void *x, const void *residual,
                          const void *weight, ln_reference_result *result);

#endif

/* The exact gradients of LayerNorm, as a reference for backward kernels.
 *
 *     double dx[rows * hidden], dgamma[hidden], dbeta[hidden];
 *     ln_gradients gradients = {.dx.exact = dx, .dgamma.exact = dgamma, .dbeta.exact = dbeta};
 *     ln_backward(&convention, LN_F32, LN_F32, rows, hidden, x, dy, gamma, &gradients);
 *
 * These are the gradients of L with dy = dL/dy, for x of rows x hidden elements without a residual; backward.c has the
 * formulas and their sources. Only the results are rounded, once. */
#ifndef LN_BACKWARD_H
#define LN_BACKWARD_H

#include "layernorm.h"
#include <stdbool.h>

/* One gradient, correctly rounded to nearest even, to its type and to double; an exact zero is +0.
 * The caller owns both arrays; NULL: not wanted. */
typedef struct ln_gradient {
    void *rounded; /* dx in the storage type, dgamma and dbeta in the parameter type */
    double *exact;
} ln_gradient;

/* dx has rows * hidden elements; dgamma and dbeta have hidden, or 1 under LN_AFFINE_SCALAR, and are
 * unchanged if the affine form has none. */
typedef struct ln_gradients {
    ln_gradient dx, dgamma, dbeta;
} ln_gradients;

/* Computes gradients from x and dy in the storage type and gamma in the parameter type (one element under
 * LN_AFFINE_SCALAR; NULL if the affine form has none or dx is not wanted). They are NaN if there is no derivative:
 *     - dx of a row with an x or dy that is not finite or an xhat that is not defined, of any row
 *       where gamma is not finite, and of a row of variance 0 with eps on the std (a root has none
 *       at 0);
 *     - dgamma if a row has an x that is not finite or an xhat that is not defined;
 *     - dgamma and dbeta of an element that has a dy that is not finite.
 * Returns false if memory runs out, rows or hidden is 0, or a required tensor is NULL. */
bool ln_backward(const ln_convention *convention, ln_type storage, ln_type param, size_t rows,
                 size_t hidden, const void *x, const void *dy, const void *gamma,
                 ln_gradients *gradients);

#endif

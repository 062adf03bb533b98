/* The types of kernels/include/layernorm.h as they were at commit 224f8dd. */
#ifndef LAYERNORM_H
#define LAYERNORM_H

#include <stddef.h>
#include <stdint.h>

#define LN_API __attribute__((visibility("default")))

typedef enum ln_eps_place {
    LN_EPS_NONE = 0,
    LN_EPS_VAR = 1,
    LN_EPS_STD = 2,
    LN_EPS_QUOTIENT = 3,
} ln_eps_place;

typedef enum ln_affine {
    LN_AFFINE_NONE = 0,
    LN_AFFINE_SCALAR = 1,
    LN_AFFINE_GAMMA = 2,
    LN_AFFINE_VECTOR = 3,
    LN_AFFINE_GAMMA1 = 4,
} ln_affine;

typedef enum ln_type {
    LN_F32 = 0,
    LN_F64 = 1,
    LN_BF16 = 2,
    LN_F16 = 3,
} ln_type;

typedef struct ln_convention {
    int ddof;
    ln_eps_place eps_place;
    double eps;
    ln_affine affine;
} ln_convention;

typedef enum ln_accuracy {
    LN_ACCURACY_FAST = 0,
    LN_ACCURACY_ACCURATE = 1,
    LN_ACCURACY_REPRODUCIBLE = 2,
    LN_ACCURACY_EXACT = 3,
} ln_accuracy;

typedef struct ln_problem {
    size_t rows;
    size_t hidden;
    size_t x_stride;
    size_t y_stride;
    size_t residual_stride;
    size_t sum_stride;
    ln_type storage;
    ln_type param;
    ln_convention convention;
    ln_accuracy accuracy;
} ln_problem;

typedef struct ln_tensors {
    const void *x;
    const void *residual;
    const void *gamma;
    const void *beta;
    void *y;
    void *sum;
    void *mean;
    void *rstd;
} ln_tensors;

#endif

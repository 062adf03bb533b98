/* The exact differences between conventions on one row.
 *
 *     ln_convention conventions[2] = {torch, zscore};
 *     ln_apart apart[4];
 *     ln_reference_apart(conventions, 2, 768, 1.0f, apart);
 *     // apart[1].row_ulp: the error of an output for torch that was computed as zscore
 *
 * The row alternates between +scale and -scale (with 0 at the end if hidden is odd): its mean is 0, its biased
 * variance scale^2, or scale^2 (N - 1) / N if N is odd, all exactly. */
#ifndef LN_APART_H
#define LN_APART_H

#include "layernorm.h"
#include <stdbool.h>

typedef struct ln_apart {
    double absolute; /* max_i |given_i - other_i| */
    double relative; /* the same over max_i |given_i| */
    double row_ulp;  /* the same over ulp(max_i |given_i|) of f32 (metrics.h) */
} ln_apart;

/* Fills matrix[a * count + b] with the distance of conventions[b] from conventions[a], both without affine (gamma 1,
 * beta 0). Every figure is within one ulp of double of the exact one; a distance below 2^-4000 times the row counts as
 * 0. Returns false if hidden is below 2, scale is not finite and positive, or an eps is not finite and at least 0. */
bool ln_reference_apart(const ln_convention *conventions, size_t count, size_t hidden, float scale,
                        ln_apart *matrix);

#endif

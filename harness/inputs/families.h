/* The families of input rows. Inside of harness/inputs/ only. */
#ifndef LNBENCH_INPUTS_FAMILIES_H
#define LNBENCH_INPUTS_FAMILIES_H

#include "inputs/inputs.h"

/* What one row is made from. */
typedef struct input_place {
    uint64_t seed;
    size_t row, hidden;
} input_place;

/* families.c */
input_maker make_normal, make_uniform, make_ramp, make_constant, make_spike, make_outlier_channels,
    make_alternating, make_huge, make_subnormal, make_nan, make_inf;
/* shapes.c: how elements lie */
input_maker make_near_constant, make_two_valued, make_sorted, make_positive, make_geometric,
    make_blocks, make_quantised, make_sparse, make_signed_zeros, make_bad_pivot;
/* scales.c: how large elements are */
input_maker make_alternating_scales, make_heavy_tails, make_massive_activations, make_overflow,
    make_underflow, make_subnormal_out, make_var_near_eps;
/* layernorm/parameters.c: rows that go with parameters of their own */
input_maker make_affine_cancellation, make_ties;
parameter_maker parameters_cancelling, parameters_wide, parameters_subnormal, parameters_of_ties;
/* layernorm/parameters.c. What every input has: never all equal; one element each under LN_AFFINE_SCALAR. What
 * a form does not have is not written. */
parameter_maker input_affine;
/* documents.c */
input_maker make_document_000, make_document_001, make_document_002, make_document_003;

/* In f32, from which the other types are made (typed.c); rows of offset.c are not made here. */
bool input_rows_f32(const char *input, uint64_t seed, size_t first, size_t count, size_t hidden,
                    float *x, error *err);
void input_parameters_f32(const char *input, const ln_convention *convention, uint64_t seed,
                          size_t hidden, float *const made[ROLES_MOST]);

#endif

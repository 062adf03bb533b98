/* The families of input rows. Inside of harness/inputs/ only. */
#ifndef LNBENCH_INPUTS_FAMILIES_H
#define LNBENCH_INPUTS_FAMILIES_H

#include "inputs/inputs.h"

/* What one row is made from. */
typedef struct input_place {
    uint64_t seed;
    size_t row, hidden;
} input_place;

/* Parameters that every input has: never all equal; one element each under LN_AFFINE_SCALAR. What a form does not
 * have is not written. */
parameter_maker input_affine;
/* In f32, from which the other types are made. */
void input_parameters_f32(const char *input, const ln_convention *convention, uint64_t seed,
                          size_t hidden, float *const made[ROLES_MOST]);

#endif

/* The tensors of lnbench fingerprint, and of an output that eval finds wrong. */
#ifndef LNBENCH_WHICH_READ_H
#define LNBENCH_WHICH_READ_H

#include "inputs/tensor/tensor.h"
#include "judge/fingerprint/fingerprint.h"

/* x_digits: as many as y, where x needs just as many, else exact. */
enum { WHICH_GUESS = -2 };

typedef struct which_tensors {
    double *values[ROLES_MOST]; /* by role */
    which_input input;          /* points into them; digits and x_digits are the caller's */
} which_tensors;

/* From tensors that were read, whose parameters are flat. */
bool which_take(const tensor_array arrays[ROLES_MOST], const char *const paths[ROLES_MOST],
                which_tensors *tensors, error *err);
bool which_read(const char *const paths[ROLES_MOST], bool u2_is_bf16, which_tensors *tensors,
                error *err);
/* The decimals that y seems to have been rounded to; else WHICH_EXACT. */
int which_printed_digits(const which_input *input);
void which_tensors_free(which_tensors *tensors);

#endif

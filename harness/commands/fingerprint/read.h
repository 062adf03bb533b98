/* The tensors of lnbench fingerprint, and of an output that eval finds wrong. */
#ifndef LNBENCH_FINGERPRINT_READ_H
#define LNBENCH_FINGERPRINT_READ_H

#include "inputs/tensor.h"
#include "judge/fingerprint/fingerprint.h"

/* x_digits: as many as y, where x needs just as many, else exact. */
enum { FINGERPRINT_GUESS = -2 };

typedef struct fingerprint_tensors {
    double *values[ROLES_MOST]; /* by role */
    fingerprint_input input;    /* points into them; digits and x_digits are the caller's */
} fingerprint_tensors;

/* From tensors that were read, whose parameters are flat. */
void fingerprint_take(const tensor_array arrays[ROLES_MOST], const char *const paths[ROLES_MOST],
                      fingerprint_tensors *tensors);
void fingerprint_read(const char *const paths[ROLES_MOST], bool u2_is_bf16,
                      fingerprint_tensors *tensors);
/* The decimals that y seems to have been rounded to; else FINGERPRINT_EXACT. */
int fingerprint_printed_digits(const fingerprint_input *input);
void fingerprint_tensors_free(fingerprint_tensors *tensors);

#endif

/* The tensors of lnbench fingerprint. */
#ifndef LNBENCH_WHICH_READ_H
#define LNBENCH_WHICH_READ_H

#include "inputs/tensor/tensor.h"
#include "judge/which/which.h"

/* x_digits: as many as y, where x needs just as many, else exact. */
enum { WHICH_GUESS = -2 };

typedef struct which_tensors {
    double *values[ROLES_MOST]; /* by role */
    which_input input;          /* points into them; digits and x_digits are the caller's */
} which_tensors;

bool which_read(const char *const paths[ROLES_MOST], which_tensors *tensors, error *err);
void which_tensors_free(which_tensors *tensors);

#endif

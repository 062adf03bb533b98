/* What inputs.c and typed.c share. */
#ifndef LNBENCH_INPUTS_TYPED_H
#define LNBENCH_INPUTS_TYPED_H

#include "domain/case.h"

/* Whether offset.c makes the rows: "offset", "kappa" and, with a kappa that is not 0,
 * "offset:KAPPA". */
bool input_offset(const char *input, double *kappa, error *err);
/* Whether an input is a .npy file; and its rows in a type. */
bool input_is_file(const char *input);
bool input_rows_of_file(const char *path, ln_type type, size_t first, size_t count, size_t hidden,
                        void *x, error *err);

#endif

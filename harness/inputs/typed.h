/* What inputs_typed*.c share. */
#ifndef LNBENCH_INPUTS_TYPED_H
#define LNBENCH_INPUTS_TYPED_H

#include "domain/case.h"

/* What one offset row is made from; kappa 0: the sweep. */
typedef struct typed_place {
    ln_type type;
    uint64_t seed;
    size_t row, hidden;
    double kappa;
    bool to_the_end; /* the sweep of the family kappa: as far as type and hidden go */
} typed_place;

/* Fills x, of the place's type; scratch has room for hidden doubles. */
void typed_offset_row(const typed_place *place, double *scratch, void *x);
/* The last kappa of the type's sweep. */
double typed_kappa_most(ln_type type);

/* inputs.c: the kappa of "offset:KAPPA"; whether an input is a .npy file; and its rows in a type.
 */
bool input_offset_kappa(const char *input, double *kappa);
bool input_is_file(const char *input);
bool input_rows_of_file(const char *path, ln_type type, size_t first, size_t count, size_t hidden,
                        void *x, error *err);

#endif

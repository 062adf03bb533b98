/* Rows of a given condition number, in every type. Inside of inputs/ only. */
#ifndef LNBENCH_INPUTS_OFFSET_H
#define LNBENCH_INPUTS_OFFSET_H

#include "domain/case.h"

/* The rows of the family kappa: from 1 to the most that type and hidden can have, in equal ratios. */
enum { KAPPA_ROWS = 18 };
/* Those of the sweep, in turn. */
enum { OFFSET_SWEEP_ROWS = 9 };

/* What one offset row is made from; kappa 0: the sweep. */
typedef struct offset_place {
    ln_type type;
    uint64_t seed;
    size_t row, hidden;
    double kappa;
    bool to_the_end; /* the sweep of the family kappa: as far as type and hidden go */
} offset_place;

/* Fills x, of the place's type; scratch has room for hidden doubles. */
void offset_row(const offset_place *place, double *scratch, void *x);
/* The type's sweep: in f32 1, 10, ... 1e8 in turn; and its last. */
double offset_sweep_kappa(ln_type type, size_t row);
double offset_kappa_most(ln_type type);

#endif

/* The families of input rows. Inside of inputs*.c only. */
#ifndef LNBENCH_INPUTS_FAMILIES_H
#define LNBENCH_INPUTS_FAMILIES_H

#include <stddef.h>
#include <stdint.h>

/* What one row is made from. */
typedef struct input_place {
    uint64_t seed;
    size_t row, hidden;
    double kappa; /* offset only; 0: the sweep */
} input_place;

/* Fills x[0..hidden). */
typedef void input_maker(const input_place *place, float *x);

input_maker make_normal, make_uniform, make_offset, make_ramp, make_constant, make_spike,
    make_outlier_channels, make_alternating, make_huge, make_subnormal, make_nan, make_inf;
input_maker make_document_000, make_document_001, make_document_002, make_document_003;

/* kappa 1, 10, ... 1e8 in turn. */
enum { KAPPA_SWEEP_LENGTH = 9 };
double kappa_of_sweep(size_t row);

#endif

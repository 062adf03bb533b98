/* The families of input rows, and the random numbers that they draw from. Inside of harness/inputs/ only. */
#ifndef LNBENCH_INPUTS_FAMILIES_H
#define LNBENCH_INPUTS_FAMILIES_H

#include "inputs/inputs.h"
#include <string.h>

static inline uint32_t bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* ---- random numbers by place ---- */

/* Families that must not share their numbers draw from streams of their own. */
typedef enum random_stream {
    STREAM_NORMAL,
    STREAM_UNIFORM,
    STREAM_OFFSET,
    STREAM_SPIKE,
    STREAM_OUTLIER,
    STREAM_OUTLIER_CHANNEL,
    STREAM_ALTERNATING,
    STREAM_HUGE,
    STREAM_SUBNORMAL,
    STREAM_SPECIAL,
    STREAM_GAMMA,
    STREAM_BETA,
    STREAM_SHAPE,
    STREAM_CHOICE,
    STREAM_SCALE,
    STREAM_CANCEL,
    STREAM_WIDE,
} random_stream;

/* One row of a stream: 2^50 columns of 32 random bits. Four columns come from one Philox call, so
 * reading on from left to right is cheapest. */
typedef struct random_row {
    uint64_t seed, row;
    random_stream stream;
    uint64_t block; /* whose words these are */
    uint32_t words[4];
} random_row;

random_row random_row_begin(uint64_t seed, random_stream stream, uint64_t row);
uint32_t random_bits(random_row *random, size_t column);
/* Uniform in [0, 1): a multiple of 2^-32. */
double random_uniform(random_row *random, size_t column);
/* Standard normal, see normal_from_bits. */
double random_normal(random_row *random, size_t column);

/* The standard normal quantile of (bits + 1/2) / 2^32, to about 7 digits. Symmetric: the complement of the bits gives
 * the negative. |value| < 6.34. */
double normal_from_bits(uint32_t bits);

/* ---- families ---- */

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
/* The parameters of the family ties, in the type's own precision. */
void parameters_of_typed_ties(const operation_call *call, uint64_t seed);
/* Makes the first two differ where rounding made them equal. */
void parameters_tell_apart(ln_type type, size_t count, void *to);

/* ---- rows of a given condition number, in every type ---- */

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

/* Random numbers by place: what the input families draw from. Inside of harness/inputs/ only. */
#ifndef LNBENCH_INPUTS_DRAWS_H
#define LNBENCH_INPUTS_DRAWS_H

#include <stddef.h>
#include <stdint.h>

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

/* The standard normal quantile of (bits + 1/2) / 2^32, to about 7 digits. The method is in
 * draws.c. Symmetric: the complement of the bits gives the negative. |value| < 6.34. */
double normal_from_bits(uint32_t bits);

#endif

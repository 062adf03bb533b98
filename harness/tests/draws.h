/* Random numbers for tests of statistics. */
#ifndef LNBENCH_DRAWS_H
#define LNBENCH_DRAWS_H

#include "store/bootstrap.h"
#include <math.h>

static inline double uniform(random_stream *stream)
{
    return ((double)(random_stream_bits(stream) >> 11) + 0.5) * 0x1p-53;
}

/* Returns a normally distributed number (Box and Muller, 1958). */
static inline double normal(random_stream *stream)
{
    double u = uniform(stream), v = uniform(stream);
    return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979323846 * v);
}

#endif

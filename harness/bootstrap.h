/* Medians of grouped samples with bootstrap intervals.
 *
 *     double values[] = {...};
 *     size_t start[] = {0, 10, 20};                  // two processes of ten repetitions
 *     grouped samples = {values, start, 2};
 *     estimate ratio;
 *     if (!bootstrap_median(&samples, 0.99, seed, &ratio, &error)) ...
 *
 * The figure is the median over groups (worker processes) of each group's median. Its interval is
 * the percentile interval of a hierarchical bootstrap (Efron and Tibshirani, "An Introduction to
 * the Bootstrap", 1993, ch. 13; two-stage resampling as in Davison and Hinkley, "Bootstrap Methods
 * and their Application", 1997, sec. 3.8): groups are drawn with replacement, then samples within
 * each one drawn, because memory layout makes repetitions of one process alike.
 */
#ifndef LNBENCH_BOOTSTRAP_H
#define LNBENCH_BOOTSTRAP_H

#include "error.h"
#include <stddef.h>
#include <stdint.h>

/* xoshiro256** (Blackman and Vigna, 2018), seeded by splitmix64 as its authors advise. */
typedef struct random_stream {
    uint64_t state[4];
} random_stream;

random_stream random_stream_seeded(uint64_t seed);
uint64_t random_stream_bits(random_stream *stream);
/* Uniform below `limit` (> 0), without modulo bias. */
size_t random_stream_below(random_stream *stream, size_t limit);

/* Group g has values[start[g]] to values[start[g + 1] - 1], at least one. */
typedef struct grouped {
    const double *values;
    const size_t *start;
    size_t groups;
} grouped;

typedef struct estimate {
    double middle, lo, hi;
} estimate;

/* The median of values (reordered); NaN for none. Even counts: mean of the two in the middle. */
double median(double *values, size_t count);

/* All NaN for no groups. 2000 draws, more where (1 - confidence) / 2 of them would be fewer than
 * ten. The same seed gives the same interval. Errors: memory. */
bool bootstrap_median(const grouped *samples, double confidence, uint64_t seed, estimate *estimate,
                      error *error);

#endif

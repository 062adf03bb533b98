/* Medians of grouped samples with bootstrap intervals.
 *
 *     double values[] = {...};
 *     size_t start[] = {0, 10, 20};                  // two processes of ten repetitions
 *     grouped_values samples = {values, start, 2};
 *     interval_estimate ratio = bootstrap_median(&samples, RESAMPLE_GROUPS, 0.99, seed);
 *
 * The figure is the median over groups (worker processes) of each group's median. Its interval is
 * the percentile interval of a bootstrap (Efron and Tibshirani, "An Introduction to the Bootstrap",
 * 1993, ch. 13) that draws groups with replacement, because memory layout makes repetitions of one
 * process alike. Within a group drawn, its samples are taken as they are, or (RESAMPLE_BOTH) drawn
 * again. Drawing again counts the noise within groups twice, since it is in the groups' medians
 * already (Davison and Hinkley, "Bootstrap Methods and their Application", 1997, sec. 3.8, where
 * the two are strategies 1 and 2): wider than need be, but it has a width where there are only a
 * few groups.
 */
#ifndef LNBENCH_BOOTSTRAP_H
#define LNBENCH_BOOTSTRAP_H

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
typedef struct grouped_values {
    const double *values;
    const size_t *start;
    size_t groups;
} grouped_values;

typedef struct interval_estimate {
    double middle, lo, hi;
} interval_estimate;

/* The median of values (reordered); NaN for none. Even counts: average of the two in the middle. */
double median(double *values, size_t count);

typedef enum resample_kind { RESAMPLE_GROUPS, RESAMPLE_BOTH } resample_kind;

/* All NaN for no groups. 2000 draws, more where (1 - confidence) / 2 of them would be fewer than
 * ten. The same seed gives the same interval. */
interval_estimate bootstrap_median(const grouped_values *samples, resample_kind resampling,
                                   double confidence, uint64_t seed);

/* Median of `new` - median of `base`, for samples that have nothing to do with each other (two
 * runs): each is drawn by itself, as above. All NaN where either has no groups. */
interval_estimate bootstrap_difference(const grouped_values *base, const grouped_values *new,
                                       resample_kind resampling, double confidence, uint64_t seed);

#endif

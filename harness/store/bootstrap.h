/* Medians of grouped samples with bootstrap intervals.
 *
 *     double values[] = {...};
 *     size_t start[] = {0, 10, 20};                  // two processes of ten repetitions
 *     grouped_values samples = {values, start, 2};
 *     interval_estimate ratio = bootstrap_median(&samples, RESAMPLE_GROUPS, 0.99, seed);
 *
 * The figure is the median over groups (worker processes) of each group's median. Its interval is
 * the percentile interval of a bootstrap (Efron and Tibshirani, "An Introduction to the Bootstrap",
 * 1993, ch. 13) that draws groups with replacement, because the memory layout of a process makes its
 * repetitions similar. The samples within a drawn group are taken as they are, or (RESAMPLE_BOTH) drawn
 * again. Drawing them again counts the noise within groups twice, since the groups' medians contain it
 * already (Davison and Hinkley, "Bootstrap Methods and their Application", 1997, sec. 3.8, strategies 1
 * and 2). The interval is then too wide, but it is no single point if there are only a few
 * groups.
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
/* Returns a uniform number below `limit` (> 0), without modulo bias. */
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

/* Sorts the values and returns their median; NaN if there are none. For an even count, the mean of the middle two. */
double median(double *values, size_t count);

typedef enum resample_kind { RESAMPLE_GROUPS, RESAMPLE_BOTH } resample_kind;

/* Returns the median and its interval, all NaN if there are no groups. 2000 draws, or more if (1 - confidence) / 2 of
 * them would be fewer than ten. The same seed gives the same interval. */
interval_estimate bootstrap_median(const grouped_values *samples, resample_kind resampling,
                                   double confidence, uint64_t seed);

/* Returns the median of `new` minus that of `base`, for independent samples (two runs): each is drawn separately, as
 * above. All NaN if either has no groups. */
interval_estimate bootstrap_difference(const grouped_values *base, const grouped_values *new,
                                       resample_kind resampling, double confidence, uint64_t seed);

#endif

#include "base/hash.h"
#include "base/arena.h"
#include "store/bootstrap.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_DRAWS = 2000, LEAST_TAIL = 10, MOST_DRAWS = 1000000 };

static uint64_t rotate(uint64_t x, int k)
{
    return x << k | x >> (64 - k);
}

uint64_t random_stream_bits(random_stream *stream)
{
    uint64_t *s = stream->state;
    uint64_t result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

random_stream random_stream_seeded(uint64_t seed)
{
    random_stream made;
    for (int i = 0; i < 4; i++)
        made.state[i] = splitmix64(&seed);
    return made;
}

/* Returns a uniform number below limit. The 2^64 mod limit numbers at the top of the range are redrawn. */
size_t random_stream_below(random_stream *stream, size_t limit)
{
    uint64_t bits;
    do
        bits = random_stream_bits(stream);
    while (bits < limit && bits < (0 - (uint64_t)limit) % limit);
    return (size_t)(bits % limit);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts few values by insertion: a bootstrap sorts thousands of times, and qsort() would take half of the time. */
static void sort_doubles(double *values, size_t count)
{
    enum { FEW = 32 };
    if (count > FEW) {
        qsort(values, count, sizeof *values, compare_doubles);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        double value = values[i];
        size_t at = i;
        for (; at > 0 && values[at - 1] > value; at--)
            values[at] = values[at - 1];
        values[at] = value;
    }
}

double median(double *values, size_t count)
{
    if (count == 0)
        return NAN;
    sort_doubles(values, count);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static size_t group_size(const grouped_values *samples, size_t group)
{
    return samples->start[group + 1] - samples->start[group];
}

static double group_median(const grouped_values *samples, size_t group, double *scratch)
{
    size_t count = group_size(samples, group);
    memcpy(scratch, samples->values + samples->start[group], count * sizeof *scratch);
    return median(scratch, count);
}

/* Returns the median of one group's samples, drawn with replacement. */
static double resampled_median(const grouped_values *samples, size_t group, random_stream *stream,
                               double *scratch)
{
    size_t count = group_size(samples, group);
    for (size_t i = 0; i < count; i++)
        scratch[i] = samples->values[samples->start[group] + random_stream_below(stream, count)];
    return median(scratch, count);
}

/* Returns the number of draws outside the interval at either end, and sets *draws to the number of all. */
static size_t tail_of(double confidence, size_t *draws)
{
    double share = (1 - confidence) / 2;
    *draws = LEAST_DRAWS;
    if (share * LEAST_DRAWS < LEAST_TAIL)
        *draws = share * MOST_DRAWS < LEAST_TAIL ? MOST_DRAWS : (size_t)ceil(LEAST_TAIL / share);
    return (size_t)lround(share * (double)*draws);
}

typedef struct workspace {
    double *results; /* one median for each draw */
    double *own;     /* each group's median */
    double *medians, *scratch;
} workspace;

static workspace workspace_create(const grouped_values *samples, size_t draws)
{
    size_t most = samples->groups;
    for (size_t g = 0; g < samples->groups; g++)
        most = group_size(samples, g) > most ? group_size(samples, g) : most;
    return (workspace){.results = allocate(draws * sizeof(double)),
                       .own = allocate(samples->groups * sizeof(double)),
                       .medians = allocate(samples->groups * sizeof(double)),
                       .scratch = allocate(most * sizeof(double))};
}

static void workspace_free(workspace *space)
{
    free(space->results);
    free(space->own);
    free(space->medians);
    free(space->scratch);
}

static void draw_resample(const grouped_values *samples, resample_kind resampling, uint64_t seed,
                          size_t draws, workspace *space)
{
    random_stream stream = random_stream_seeded(seed);
    for (size_t b = 0; b < draws; b++) {
        for (size_t i = 0; i < samples->groups; i++) {
            size_t g = random_stream_below(&stream, samples->groups);
            space->medians[i] = resampling == RESAMPLE_GROUPS
                                    ? space->own[g]
                                    : resampled_median(samples, g, &stream, space->scratch);
        }
        space->results[b] = median(space->medians, samples->groups);
    }
}

/* Computes the median of the samples themselves and of each draw. */
static workspace resample(const grouped_values *samples, resample_kind resampling, uint64_t seed,
                          size_t draws, double *middle)
{
    workspace space = workspace_create(samples, draws);
    for (size_t g = 0; g < samples->groups; g++)
        space.own[g] = group_median(samples, g, space.scratch);
    memcpy(space.medians, space.own, samples->groups * sizeof *space.own);
    *middle = median(space.medians, samples->groups);
    draw_resample(samples, resampling, seed, draws, &space);
    return space;
}

static void percentiles(double *results, size_t draws, size_t tail, interval_estimate *estimate)
{
    sort_doubles(results, draws);
    estimate->lo = results[tail];
    estimate->hi = results[draws - 1 - tail];
}

interval_estimate bootstrap_median(const grouped_values *samples, resample_kind resampling,
                                   double confidence, uint64_t seed)
{
    size_t draws, tail = tail_of(confidence, &draws);
    interval_estimate estimate = {NAN, NAN, NAN};
    if (samples->groups == 0)
        return estimate;
    workspace space = resample(samples, resampling, seed, draws, &estimate.middle);
    percentiles(space.results, draws, tail, &estimate);
    workspace_free(&space);
    return estimate;
}

interval_estimate bootstrap_difference(const grouped_values *base, const grouped_values *new,
                                       resample_kind resampling, double confidence, uint64_t seed)
{
    size_t draws, tail = tail_of(confidence, &draws);
    double old, now;
    if (base->groups == 0 || new->groups == 0)
        return (interval_estimate){NAN, NAN, NAN};
    workspace before = resample(base, resampling, seed, draws, &old);
    workspace after = resample(new, resampling, ~seed, draws, &now);
    for (size_t b = 0; b < draws; b++)
        after.results[b] -= before.results[b];
    interval_estimate estimate = {.middle = now - old};
    percentiles(after.results, draws, tail, &estimate);
    workspace_free(&before);
    workspace_free(&after);
    return estimate;
}

/* Speeds from repetitions.
 *
 * The figure of a case is the median over worker processes of the median over each process's
 * repetitions. Its interval is the 95 % percentile interval of a hierarchical bootstrap (Efron and
 * Tibshirani, "An Introduction to the Bootstrap", 1993, ch. 13; two-stage resampling as in Davison
 * and Hinkley, "Bootstrap Methods and their Application", 1997, sec. 3.8): processes are drawn with
 * replacement, then repetitions within each one drawn, because memory layout makes repetitions of
 * one process alike.
 *
 * A ratio to the roof is taken round by round: in each round of a process every kernel and both
 * roofs run once, in an order drawn anew, so that a burst of noise of a round's length falls on
 * both sides of the ratio. The ratios are then summed up like times.
 */
#include "speed.h"
#include "hash.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    RESAMPLES = 2000,
    TAIL = RESAMPLES / 40, /* 2.5 % at either end */
};

/* xoshiro256** (Blackman and Vigna, 2018), seeded by splitmix64 as its authors advise. */
typedef struct generator {
    uint64_t state[4];
} generator;

static uint64_t rotate(uint64_t x, int k)
{
    return x << k | x >> (64 - k);
}

static uint64_t next_bits(generator *generator)
{
    uint64_t *s = generator->state;
    uint64_t result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

static generator seeded(uint64_t seed)
{
    generator made;
    for (int i = 0; i < 4; i++) {
        uint64_t z = seed += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        made.state[i] = z ^ z >> 31;
    }
    return made;
}

/* Uniform below `limit`, without modulo bias: the top of the range that does not fit is redrawn. */
static size_t draw_below(generator *generator, size_t limit)
{
    uint64_t excess = (0 - (uint64_t)limit) % limit; /* 2^64 mod limit */
    uint64_t bits;
    do
        bits = next_bits(generator);
    while (bits < excess);
    return (size_t)(bits % limit);
}

/* Over the key's values, so that a case's interval does not depend on what else was run. */
static uint64_t hash_number(uint64_t hash, uint64_t number)
{
    for (int i = 0; i < 64; i += 8) {
        unsigned char byte = (unsigned char)(number >> i);
        hash = hash_bytes(hash, &byte, 1);
    }
    return hash;
}

static uint64_t hash_key(const case_key *key)
{
    uint64_t hash = HASH_START;
    hash = hash_bytes(hash, key->kernel, strlen(key->kernel) + 1);
    hash = hash_bytes(hash, key->convention, strlen(key->convention) + 1);
    hash = hash_bytes(hash, key->input, strlen(key->input) + 1);
    hash = hash_number(hash, key->rows);
    hash = hash_number(hash, key->hidden);
    hash = hash_number(hash, key->dtype);
    hash = hash_number(hash, key->cache);
    return hash_number(hash, key->threads);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double median(double *values, size_t count)
{
    if (count == 0)
        return NAN;
    qsort(values, count, sizeof *values, compare_doubles);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Times of a case, or ratios of two, by process: process p has values[start[p]] to values[start[p +
 * 1] - 1]. */
typedef struct samples {
    double *values;
    unsigned *round; /* the repetition each value is of, ascending within a process */
    size_t *start;
    unsigned *process; /* their numbers, ascending */
    size_t processes, count;
} samples;

static void samples_free(samples *samples)
{
    free(samples->values);
    free(samples->round);
    free(samples->start);
    free(samples->process);
}

static int compare_repetitions(const void *a, const void *b)
{
    const repetition *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return (x->repetition > y->repetition) - (x->repetition < y->repetition);
}

/* A time that is no time (NaN, infinite, none) is left out. */
static void fill_samples(samples *samples, const repetition *sorted, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!(sorted[i].real_ns > 0) || isinf(sorted[i].real_ns))
            continue;
        size_t last = samples->processes;
        if (last == 0 || samples->process[last - 1] != sorted[i].process) {
            samples->process[last] = sorted[i].process;
            samples->start[last] = samples->count;
            samples->processes++;
        }
        samples->round[samples->count] = sorted[i].repetition;
        samples->values[samples->count++] = sorted[i].real_ns;
    }
    samples->start[samples->processes] = samples->count;
}

static bool samples_allocate(samples *samples, size_t count, error *error)
{
    *samples = (struct samples){
        .values = malloc((count + 1) * sizeof(double)),
        .round = malloc((count + 1) * sizeof(unsigned)),
        .start = malloc((count + 1) * sizeof(size_t)),
        .process = malloc((count + 1) * sizeof(unsigned)),
    };
    if (samples->values && samples->round && samples->start && samples->process)
        return true;
    samples_free(samples);
    return fail_memory(error, "a case's repetitions");
}

static bool samples_of(const stored_case *stored, samples *samples, error *error)
{
    size_t count = stored->repetition_count;
    repetition *sorted = malloc((count + 1) * sizeof *sorted);
    if (!sorted)
        return fail_memory(error, "a case's repetitions");
    bool fine = samples_allocate(samples, count, error);
    if (fine) {
        if (count) {
            memcpy(sorted, stored->repetitions, count * sizeof *sorted);
            qsort(sorted, count, sizeof *sorted, compare_repetitions);
        }
        fill_samples(samples, sorted, count);
    }
    free(sorted);
    return fine;
}

/* Ratios roof / kernel of the rounds in which both were measured. */
static void fill_ratios(samples *ratios, const samples *kernel, const samples *roof)
{
    size_t r = 0, roof_process = 0;
    for (size_t p = 0; p < kernel->processes; p++) {
        while (roof_process < roof->processes && roof->process[roof_process] < kernel->process[p])
            roof_process++;
        if (roof_process == roof->processes || roof->process[roof_process] != kernel->process[p])
            continue;
        size_t begin = ratios->count;
        r = roof->start[roof_process];
        for (size_t k = kernel->start[p]; k < kernel->start[p + 1]; k++) {
            while (r < roof->start[roof_process + 1] && roof->round[r] < kernel->round[k])
                r++;
            if (r < roof->start[roof_process + 1] && roof->round[r] == kernel->round[k])
                ratios->values[ratios->count++] = roof->values[r] / kernel->values[k];
        }
        if (ratios->count == begin)
            continue;
        ratios->process[ratios->processes] = kernel->process[p];
        ratios->start[ratios->processes++] = begin;
    }
    ratios->start[ratios->processes] = ratios->count;
}

static size_t samples_in(const samples *samples, size_t process)
{
    return samples->start[process + 1] - samples->start[process];
}

static double process_median(const samples *samples, size_t process, double *scratch)
{
    size_t count = samples_in(samples, process);
    memcpy(scratch, samples->values + samples->start[process], count * sizeof *scratch);
    return median(scratch, count);
}

/* The median of one process's repetitions, drawn with replacement. */
static double resampled_median(const samples *samples, size_t process, generator *generator,
                               double *scratch)
{
    size_t count = samples_in(samples, process);
    for (size_t i = 0; i < count; i++)
        scratch[i] = samples->values[samples->start[process] + draw_below(generator, count)];
    return median(scratch, count);
}

static double median_of_processes(const samples *samples, double *medians, double *scratch)
{
    for (size_t p = 0; p < samples->processes; p++)
        medians[p] = process_median(samples, p, scratch);
    return median(medians, samples->processes);
}

/* Room for the bootstrap: its results, and scratch for the medians below. */
typedef struct workspace {
    double results[RESAMPLES];
    double *medians, *scratch;
} workspace;

static void workspace_free(workspace *space)
{
    if (space) {
        free(space->medians);
        free(space->scratch);
    }
    free(space);
}

static workspace *workspace_create(size_t most, error *error)
{
    workspace *space = calloc(1, sizeof *space);
    if (space) {
        space->medians = malloc((most + 1) * sizeof(double));
        space->scratch = malloc((most + 1) * sizeof(double));
    }
    if (!space || !space->medians || !space->scratch) {
        workspace_free(space);
        fail_memory(error, "a bootstrap");
        return NULL;
    }
    return space;
}

static void percentiles(double *results, double *lo, double *hi)
{
    qsort(results, RESAMPLES, sizeof *results, compare_doubles);
    *lo = results[TAIL];
    *hi = results[RESAMPLES - 1 - TAIL];
}

static void interval(const samples *samples, uint64_t seed, workspace *space, double *lo,
                     double *hi)
{
    generator generator = seeded(seed);
    for (int b = 0; b < RESAMPLES; b++) {
        for (size_t i = 0; i < samples->processes; i++) {
            size_t p = draw_below(&generator, samples->processes);
            space->medians[i] = resampled_median(samples, p, &generator, space->scratch);
        }
        space->results[b] = median(space->medians, samples->processes);
    }
    percentiles(space->results, lo, hi);
}

static bool same_group(const case_key *a, const case_key *b)
{
    return a->rows == b->rows && a->hidden == b->hidden && a->dtype == b->dtype &&
           a->cache == b->cache && a->threads == b->threads &&
           strcmp(a->convention, b->convention) == 0 && strcmp(a->input, b->input) == 0;
}

/* The faster roof of the case's group; roof->processes is 0 where there is none. */
static bool find_roof(const stored_cases *cases, const case_key *key, samples *roof, error *error)
{
    double best = INFINITY;
    *roof = (samples){0};
    for (size_t i = 0; i < cases->count; i++) {
        const stored_case *stored = &cases->cases[i];
        if (!stored->repetition_count || !is_roof(stored->key.kernel) ||
            !same_group(&stored->key, key))
            continue;
        samples candidate;
        if (!samples_of(stored, &candidate, error))
            return false;
        workspace *space = workspace_create(candidate.count, error);
        double time = space ? median_of_processes(&candidate, space->medians, space->scratch) : NAN;
        bool better = time < best;
        samples_free(better ? roof : &candidate);
        if (better) {
            *roof = candidate;
            best = time;
        }
        workspace_free(space);
        if (!space) {
            samples_free(roof);
            return false;
        }
    }
    return true;
}

static bool summarise(const case_key *key, const samples *own, const samples *roof, speed *speed,
                      error *error)
{
    samples ratios;
    uint64_t seed = hash_key(key);
    double bytes = 2.0 * (double)key->rows * (double)key->hidden * (double)dtype_size(key->dtype);
    workspace *space = workspace_create(own->count, error);
    if (!space || !samples_allocate(&ratios, own->count, error)) {
        workspace_free(space);
        return false;
    }
    speed->repetitions = (unsigned)own->count;
    speed->processes = (unsigned)own->processes;
    speed->time_ns = median_of_processes(own, space->medians, space->scratch);
    speed->gbps = bytes / speed->time_ns;
    interval(own, seed, space, &speed->time_lo_ns, &speed->time_hi_ns);
    fill_ratios(&ratios, own, roof);
    if (ratios.count > 0) {
        speed->roof_ratio = median_of_processes(&ratios, space->medians, space->scratch);
        /* Other draws than the time's. */
        interval(&ratios, seed ^ 0x726f6f66, space, &speed->roof_lo, &speed->roof_hi);
    }
    samples_free(&ratios);
    workspace_free(space);
    return true;
}

bool speed_of_case(const stored_cases *cases, size_t index, speed *speed, error *error)
{
    *speed = (struct speed){NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0, 0};
    samples own, roof;
    if (!samples_of(&cases->cases[index], &own, error))
        return false;
    bool fine = true;
    if (own.count > 0 && (fine = find_roof(cases, &cases->cases[index].key, &roof, error))) {
        fine = summarise(&cases->cases[index].key, &own, &roof, speed, error);
        samples_free(&roof);
    }
    samples_free(&own);
    return fine;
}

static bool summarise_pair(const samples *own, const samples *base, uint64_t seed, speed_pair *pair,
                           error *error)
{
    samples ratios;
    size_t most = own->count > base->count ? own->count : base->count;
    workspace *space = workspace_create(most, error);
    if (!space || !samples_allocate(&ratios, most, error)) {
        workspace_free(space);
        return false;
    }
    /* fill_ratios divides its third by its second. */
    fill_ratios(&ratios, base, own);
    if (ratios.count > 0) {
        pair->ratio = median_of_processes(&ratios, space->medians, space->scratch);
        interval(&ratios, seed, space, &pair->lo, &pair->hi);
    }
    samples_free(&ratios);
    workspace_free(space);
    return true;
}

bool speed_of_pair(const stored_cases *cases, size_t index, size_t base, speed_pair *pair,
                   error *error)
{
    samples own, other;
    uint64_t seed =
        hash_key(&cases->cases[index].key) ^ rotate(hash_key(&cases->cases[base].key), 1);
    *pair = (speed_pair){NAN, NAN, NAN};
    if (!samples_of(&cases->cases[index], &own, error))
        return false;
    bool fine = samples_of(&cases->cases[base], &other, error);
    if (fine) {
        fine = summarise_pair(&own, &other, seed, pair, error);
        samples_free(&other);
    }
    samples_free(&own);
    return fine;
}

const char *speed_regime(size_t rows, size_t hidden, ln_type dtype, size_t l1d, size_t l2,
                         size_t l3)
{
    double bytes = 2.0 * (double)rows * (double)hidden * (double)dtype_size(dtype);
    if (!l1d && !l2 && !l3) { /* a machine that told nothing: sizes that are common */
        l1d = 32u << 10;
        l2 = 1u << 20;
        l3 = 32u << 20;
    }
    if (bytes <= (double)l1d)
        return "L1";
    if (bytes <= (double)l2)
        return "L2";
    return bytes <= (double)l3 ? "L3" : "DRAM";
}

/* Speeds from repetitions.
 *
 * The figure of a case is the median over worker processes of the median over each process's
 * repetitions, its interval the 95 % one of bootstrap.h.
 *
 * A ratio to the roof is taken round by round: in each round of a process every kernel and both
 * roofs run once, in an order drawn anew, so that a burst of noise of a round's length falls on
 * both sides of the ratio. The ratios are then summed up like times.
 */
#include "store/speed.h"
#include "base/allocate.h"
#include "domain/operation.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Times of a case, or ratios of two, by process: process p has values[start[p]] to values[start[p +
 * 1] - 1]. */
typedef struct sample_list {
    double *values;
    unsigned *round; /* the repetition each value is of, ascending within a process */
    size_t *start;
    unsigned *process; /* their numbers, ascending */
    size_t processes, count;
} sample_list;

static void samples_free(sample_list *samples)
{
    free(samples->values);
    free(samples->round);
    free(samples->start);
    free(samples->process);
}

static int compare_repetitions(const void *a, const void *b)
{
    const timed_repetition *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return (x->repetition > y->repetition) - (x->repetition < y->repetition);
}

/* A time that is no time (NaN, infinite, none) is left out. */
static void fill_samples(sample_list *samples, const timed_repetition *sorted, size_t count)
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

static sample_list samples_allocate(size_t count)
{
    return (sample_list){
        .values = allocate((count + 1) * sizeof(double)),
        .round = allocate((count + 1) * sizeof(unsigned)),
        .start = allocate((count + 1) * sizeof(size_t)),
        .process = allocate((count + 1) * sizeof(unsigned)),
    };
}

static sample_list samples_of(const stored_case *stored)
{
    size_t count = stored->repetition_count;
    timed_repetition *sorted = allocate((count + 1) * sizeof *sorted);
    sample_list samples = samples_allocate(count);
    if (count) {
        memcpy(sorted, stored->repetitions, count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, compare_repetitions);
    }
    fill_samples(&samples, sorted, count);
    free(sorted);
    return samples;
}

/* Ratios roof / kernel of the rounds in which both were measured. */
static void fill_ratios(sample_list *ratios, const sample_list *kernel, const sample_list *roof)
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

static interval_estimate estimate_of(const sample_list *samples, uint64_t seed)
{
    grouped_values by_process = {samples->values, samples->start, samples->processes};
    return bootstrap_median(&by_process, RESAMPLE_BOTH, 0.95, seed);
}

/* The median over processes of their medians. */
static double time_of(const sample_list *samples)
{
    double *medians = allocate((samples->processes + 1) * sizeof *medians);
    double *scratch = allocate((samples->count + 1) * sizeof *scratch);
    for (size_t p = 0; p < samples->processes; p++) {
        size_t count = samples->start[p + 1] - samples->start[p];
        memcpy(scratch, samples->values + samples->start[p], count * sizeof *scratch);
        medians[p] = median(scratch, count);
    }
    double time = median(medians, samples->processes);
    free(medians);
    free(scratch);
    return time;
}

/* The fastest roof of the case's group; its `processes` is 0 where there is none. */
static sample_list find_roof(const stored_cases *cases, const case_key *key)
{
    double best = INFINITY;
    sample_list roof = {0};
    case_key wanted = *key;
    for (int i = 0; i < ROOFS; i++) {
        snprintf(wanted.kernel, sizeof wanted.kernel, "%s", roof_names[i]);
        size_t at = stored_cases_find(cases, &wanted);
        if (at == cases->count || !cases->cases[at].repetition_count)
            continue;
        sample_list candidate = samples_of(&cases->cases[at]);
        double time = time_of(&candidate);
        samples_free(time < best ? &roof : &candidate);
        if (time < best) {
            roof = candidate;
            best = time;
        }
    }
    return roof;
}

static speed_figures summarise(const case_key *key, const sample_list *own, const sample_list *roof)
{
    sample_list ratios = samples_allocate(own->count);
    uint64_t seed = case_key_hash(key);
    double bytes = call_bytes(operations[key->operation], key->rows, key->hidden, key->dtype);
    interval_estimate time = estimate_of(own, seed);
    fill_ratios(&ratios, own, roof);
    /* Other draws than the time's. */
    interval_estimate ratio = estimate_of(&ratios, seed ^ 0x726f6f66);
    samples_free(&ratios);
    return (struct speed_figures){
        .time_ns = time.middle,
        .time_lo_ns = time.lo,
        .time_hi_ns = time.hi,
        .gbps = bytes / time.middle,
        .copy_ratio = ratio.middle,
        .copy_ratio_lo = ratio.lo,
        .copy_ratio_hi = ratio.hi,
        .cycles = NAN,
        .instructions = NAN,
        .repetitions = (unsigned)own->count,
        .processes = (unsigned)own->processes,
    };
}

speed_figures speed_of_case(const stored_cases *cases, size_t index)
{
    const stored_case *stored = &cases->cases[index];
    speed_figures speed = SPEED_UNKNOWN;
    sample_list own = samples_of(stored);
    if (own.count > 0) {
        sample_list roof = find_roof(cases, &stored->key);
        speed = summarise(&stored->key, &own, &roof);
        samples_free(&roof);
    }
    samples_free(&own);
    for (size_t i = 0; i < stored->repetition_count; i++) {
        speed.cycles = fmin(speed.cycles, stored->repetitions[i].cycles);
        speed.instructions = fmin(speed.instructions, stored->repetitions[i].instructions);
    }
    return speed;
}

speed_pair speed_of_pair(const stored_cases *cases, size_t index, size_t base)
{
    uint64_t other_hash = case_key_hash(&cases->cases[base].key);
    uint64_t seed = case_key_hash(&cases->cases[index].key) ^ (other_hash << 1 | other_hash >> 63);
    sample_list own = samples_of(&cases->cases[index]), other = samples_of(&cases->cases[base]);
    sample_list ratios = samples_allocate(own.count > other.count ? own.count : other.count);
    /* fill_ratios divides its third by its second. */
    fill_ratios(&ratios, &other, &own);
    interval_estimate ratio = estimate_of(&ratios, seed);
    samples_free(&ratios);
    samples_free(&other);
    samples_free(&own);
    return (speed_pair){ratio.middle, ratio.lo, ratio.hi};
}

speed_sample speed_sample_of(const stored_cases *cases, size_t index)
{
    sample_list own = samples_of(&cases->cases[index]);
    sample_list roof = find_roof(cases, &cases->cases[index].key);
    sample_list ratios = samples_allocate(own.count);
    fill_ratios(&ratios, &own, &roof);
    bool over_roof = ratios.count > 0;
    sample_list *taken = over_roof ? &ratios : &own;
    for (size_t i = 0; i < taken->count; i++)
        taken->values[i] = over_roof ? -log(taken->values[i]) : log(taken->values[i]);
    speed_sample sample = {taken->values, taken->start, taken->processes, over_roof};
    taken->values = NULL;
    taken->start = NULL;
    samples_free(&ratios);
    samples_free(&roof);
    samples_free(&own);
    return sample;
}

void speed_sample_free(speed_sample *sample)
{
    free(sample->logs);
    free(sample->start);
    *sample = (speed_sample){0};
}

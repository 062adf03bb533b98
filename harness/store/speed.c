/* Speeds from repetitions.
 *
 * The figure of a case is the median over worker processes of the median over each process's repetitions, with the 95 %
 * interval of bootstrap.h.
 *
 * A copy ratio is computed for each round: in a round of a process every kernel and both copies run once, in random
 * order, so that a burst of noise as long as a round affects both sides of the ratio. The ratios are then summarized
 * like times. */
#include "store/speed.h"
#include "base/arena.h"
#include "domain/operation.h"
#include <math.h>
#include <stdio.h>

void speed_sample_add(speed_sample *sample, unsigned process, double value)
{
    if (sample->groups == 0 || sample->process != process) {
        sample->groups++;
        sample->start = allocate_room(sample->start, sample->groups, sizeof *sample->start);
        sample->start[sample->groups - 1] = sample->count;
    }
    sample->process = process;
    sample->values = allocate_room(sample->values, sample->count, sizeof *sample->values);
    sample->values[sample->count++] = value;
    sample->start[sample->groups] = sample->count;
}

static bool is_time(const timed_repetition *repetition)
{
    return repetition->real_ns > 0 && isfinite(repetition->real_ns);
}

static speed_sample times_of(const stored_case *stored)
{
    speed_sample times = {0};
    for (size_t i = 0; i < stored->repetition_count; i++)
        if (is_time(&stored->repetitions[i]))
            speed_sample_add(&times, stored->repetitions[i].process,
                             stored->repetitions[i].real_ns);
    return times;
}

/* Returns the ratios other / own of the rounds that timed both. Repetitions are in order of process and round. */
static speed_sample ratios_of(const stored_case *own, const stored_case *other)
{
    speed_sample ratios = {0};
    for (size_t i = 0, j = 0; i < own->repetition_count && j < other->repetition_count;) {
        const timed_repetition *a = &own->repetitions[i], *b = &other->repetitions[j];
        if (a->process == b->process && a->repetition == b->repetition && is_time(a) && is_time(b))
            speed_sample_add(&ratios, a->process, b->real_ns / a->real_ns);
        bool is_earlier =
            a->process != b->process ? a->process < b->process : a->repetition <= b->repetition;
        i += is_earlier;
        j += !is_earlier;
    }
    return ratios;
}

static interval_estimate estimate_of(const speed_sample *samples, uint64_t seed)
{
    grouped_values by_process = {samples->values, samples->start, samples->groups};
    return bootstrap_median(&by_process, RESAMPLE_BOTH, 0.95, seed);
}

double *speed_medians(const speed_sample *sample)
{
    double *medians = allocate((sample->groups + 1) * sizeof *medians);
    double *scratch = allocate((sample->count + 1) * sizeof *scratch);
    for (size_t g = 0; g < sample->groups; g++) {
        size_t count = sample->start[g + 1] - sample->start[g];
        memcpy(scratch, sample->values + sample->start[g], count * sizeof *scratch);
        medians[g] = median(scratch, count);
    }
    free(scratch);
    return medians;
}

/* Returns the ratio of times other / own, or NaN if no round timed both. */
static double ratio_of(const stored_case *own, const stored_case *other)
{
    speed_sample ratios = ratios_of(own, other);
    double *medians = speed_medians(&ratios), ratio = median(medians, ratios.groups);
    free(medians);
    speed_sample_free(&ratios);
    return ratio;
}

/* Returns the copy of this routine in the case's group, or a case without repetitions. */
static const stored_case *copy_in(const stored_cases *cases, const case_key *key, int routine)
{
    static const stored_case none;
    case_key wanted = *key;
    snprintf(wanted.kernel, sizeof wanted.kernel, "%s", copy_names[routine]);
    const size_t at = stored_cases_find(cases, &wanted);
    return at < cases->count ? &cases->cases[at] : &none;
}

/* Returns the fastest copy of the case's group in run `which`. All `count` runs take the same routine: each is compared
 * with the best one so far, round by round. If none was timed in each run, there are no repetitions. */
static const stored_case *find_copy(const stored_cases *runs, size_t count, size_t which,
                                    const case_key *key)
{
    int best = -1;
    for (int i = 0; i < COPY_KINDS; i++) {
        double ratio = 1;
        for (size_t run = 0; run < count; run++)
            ratio *= ratio_of(copy_in(&runs[run], key, best < 0 ? i : best),
                              copy_in(&runs[run], key, i));
        if (best < 0 ? ratio == 1 : ratio < 1) /* NaN: not timed in each run */
            best = i;
    }
    return copy_in(&runs[which], key, best < 0 ? 0 : best);
}

speed_figures speed_of_case(const stored_cases *cases, size_t index)
{
    const stored_case *stored = &cases->cases[index];
    const case_key *key = &stored->key;
    speed_figures speed = SPEED_UNKNOWN;
    speed_sample times = times_of(stored);
    if (times.groups > 0) {
        uint64_t seed = case_key_hash(key);
        double bytes = call_bytes(operations[key->operation], key->rows, key->hidden, key->dtype);
        speed_sample ratios = ratios_of(stored, find_copy(cases, 1, 0, key));
        interval_estimate time = estimate_of(&times, seed);
        /* The seed differs from that of the time, so that the draws do. */
        interval_estimate ratio = estimate_of(&ratios, seed ^ 0x726f6f66);
        speed_sample_free(&ratios);
        speed = (speed_figures){
            .time_ns = time.middle,
            .time_lo_ns = time.lo,
            .time_hi_ns = time.hi,
            .gbps = bytes / time.middle,
            .copy_ratio = ratio.middle,
            .copy_ratio_lo = ratio.lo,
            .copy_ratio_hi = ratio.hi,
            .cycles = NAN,
            .instructions = NAN,
            .repetitions = (unsigned)times.count,
            .processes = (unsigned)times.groups,
        };
    }
    speed_sample_free(&times);
    for (size_t i = 0; i < stored->repetition_count; i++) {
        speed.cycles = fmin(speed.cycles, stored->repetitions[i].cycles);
        speed.instructions = fmin(speed.instructions, stored->repetitions[i].instructions);
    }
    return speed;
}

speed_sample speed_sample_of(const stored_cases *runs, size_t count, size_t which, size_t index)
{
    const stored_case *stored = &runs[which].cases[index];
    speed_sample taken = ratios_of(stored, find_copy(runs, count, which, &stored->key));
    for (size_t i = 0; i < taken.count; i++)
        taken.values[i] = -log(taken.values[i]);
    return taken;
}

void speed_sample_free(speed_sample *sample)
{
    free(sample->values);
    free(sample->start);
    *sample = (speed_sample){0};
}

/* Computes speeds from repetitions: medians, hierarchical bootstrap intervals, ratios to the copy of the same run.
 * Repetitions of a case must be in the order of their processes and rounds, as the store returns them.
 *
 *     stored_cases cases = store_timed_cases(store, run, -1, true);
 *     speed_figures speed = speed_of_case(&cases, 0);   // speed.time_ns, speed.copy_ratio
 */
#ifndef LNBENCH_SPEED_H
#define LNBENCH_SPEED_H

#include "store/bootstrap.h"
#include "domain/case.h"

/* Returns the speed of cases[index]: the median over the processes' median times; its 95 % percentile interval by a
 * bootstrap that resamples processes, then repetitions within each (B = 2000, seeded by the case, so that a store
 * always gives the same figures); and the ratio to the copy: the fastest of the copies with the same shape, type, cache
 * state, threads and bytes, resampled together with the case. All NaN if there are no repetitions. */
speed_figures speed_of_case(const stored_cases *cases, size_t index);

/* Times or ratios, process by process: group g has values[start[g]] to values[start[g + 1] - 1]. All zero: none. */
typedef struct speed_sample {
    double *values;
    size_t *start; /* NULL: no groups */
    size_t groups, count;
    unsigned process; /* of the last group */
} speed_sample;
/* Adds a value of this process. The values of a process must be added one after the other. */
void speed_sample_add(speed_sample *sample, unsigned process, double value);
/* Returns the logarithms of the times of runs[which].cases[index], each divided by the copy's in its round. To compare
 * `count` runs, all of them take the same copy routine; without one that each run has timed, there are no values. */
speed_sample speed_sample_of(const stored_cases *runs, size_t count, size_t which, size_t index);
/* Returns the median of each process; the caller frees it. */
double *speed_medians(const speed_sample *sample);
void speed_sample_free(speed_sample *sample);

#endif

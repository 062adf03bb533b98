/* From repetitions to speeds: medians, hierarchical bootstrap intervals, ratios to the roof of the
 * same run. Repetitions of a case are in the order of their processes and rounds, as the store gives them.
 *
 *     stored_cases cases = store_timed_cases(store, run, -1, true);
 *     speed_figures speed = speed_of_case(&cases, 0);   // speed.time_ns, speed.copy_ratio
 *     interval_estimate ratio = speed_of_pair(&cases, 1, 0);
 */
#ifndef LNBENCH_SPEED_H
#define LNBENCH_SPEED_H

#include "store/bootstrap.h"
#include "domain/case.h"

/* Speed of cases[index]: median time over the processes' medians, 95 % percentile interval by a
 * bootstrap that resamples processes first, then repetitions within each (B = 2000, seeded from the
 * case: the same store gives the same figures), and the ratio to the roof: the fastest of the
 * roofs with the same shape, dtype, cache, threads and convention-independent bytes,
 * resampled together with it. Everything NaN where there are no repetitions. */
speed_figures speed_of_case(const stored_cases *cases, size_t index);

/* How many times as long as `base` a case takes: both timed in the same rounds, the ratios summed
 * up and resampled as above. An interval that contains 1 does not tell the two apart. NaN where no round has both. */
interval_estimate speed_of_pair(const stored_case *own, const stored_case *base);

/* How much longer than its roof a case took, as logarithms, process by process: what two runs are
 * compared by. Where no roof was measured beside it, the logarithms of its times. */
typedef struct speed_sample {
    double *values;
    size_t *start; /* group g: values[start[g]] to values[start[g + 1] - 1] */
    size_t groups;
    unsigned process; /* of the last group */
    bool over_roof;
} speed_sample;
speed_sample speed_sample_of(const stored_cases *cases, size_t index);
/* The median of each process; free() it. */
double *speed_medians(const speed_sample *sample);
void speed_sample_free(speed_sample *sample);

#endif

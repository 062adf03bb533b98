/* Two samples of one case, measured in two runs that have nothing to do with each other. */
#ifndef LNBENCH_COMPARE_SPEED_H
#define LNBENCH_COMPARE_SPEED_H

#include "store/speed.h"

enum { LEAST_PROCESSES = 5 }; /* of a run that is meant for compare */

/* The ratio of what they took, new / base (their medians over processes), its interval by a
 * bootstrap that draws processes first, then repetitions, and the two-sided p of a rank test of the
 * processes' medians: repetitions of one process are no samples of their own. */
interval_estimate compare_samples(const speed_sample *base, const speed_sample *new,
                                  double confidence, uint64_t seed, double *p);

#endif

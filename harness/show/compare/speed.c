#include "show/compare/speed.h"
#include "base/allocate.h"
#include "store/rank_test.h"
#include <math.h>
#include <string.h>

/* The median of each process. */
static double *medians_of(const speed_sample *sample)
{
    size_t all = sample->groups ? sample->start[sample->groups] : 0;
    double *medians = allocate((sample->groups + 1) * sizeof *medians);
    double *scratch = allocate((all + 1) * sizeof *scratch);
    for (size_t g = 0; g < sample->groups; g++) {
        size_t count = sample->start[g + 1] - sample->start[g];
        memcpy(scratch, sample->logs + sample->start[g], count * sizeof *scratch);
        medians[g] = median(scratch, count);
    }
    free(scratch);
    return medians;
}

interval_estimate compare_samples(const speed_sample *base, const speed_sample *new,
                                  double confidence, uint64_t seed, double *p)
{
    const grouped_values old = {base->logs, base->start, base->groups},
                         now = {new->logs, new->start, new->groups};
    double *medians[] = {medians_of(base), medians_of(new)};
    interval_estimate difference =
        bootstrap_difference(&old, &now, RESAMPLE_BOTH, confidence, seed);
    *p = mann_whitney(medians[0], base->groups, medians[1], new->groups).p;
    free(medians[0]);
    free(medians[1]);
    return (interval_estimate){exp(difference.middle), exp(difference.lo), exp(difference.hi)};
}

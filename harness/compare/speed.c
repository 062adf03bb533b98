#include "compare/speed.h"
#include "stats/rank_test.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The median of each process; NULL when memory runs out. */
static double *medians_of(const speed_sample *sample)
{
    size_t all = sample->groups ? sample->start[sample->groups] : 0;
    double *medians = malloc((sample->groups + 1) * sizeof *medians);
    double *scratch = malloc((all + 1) * sizeof *scratch);
    for (size_t g = 0; medians && scratch && g < sample->groups; g++) {
        size_t count = sample->start[g + 1] - sample->start[g];
        memcpy(scratch, sample->logs + sample->start[g], count * sizeof *scratch);
        medians[g] = median(scratch, count);
    }
    if (!scratch) {
        free(medians);
        medians = NULL;
    }
    free(scratch);
    return medians;
}

bool compare_samples(const speed_sample *base, const speed_sample *new, double confidence,
                     uint64_t seed, interval_estimate *ratio, double *p, error *err)
{
    const grouped_values old = {base->logs, base->start, base->groups},
                         now = {new->logs, new->start, new->groups};
    double *medians[] = {medians_of(base), medians_of(new)};
    interval_estimate difference;
    rank_test test;
    bool fine = (medians[0] && medians[1]) || fail_memory(err, "two runs' processes");
    fine = fine &&
           bootstrap_difference(&old, &now, RESAMPLE_BOTH, confidence, seed, &difference, err) &&
           mann_whitney(medians[0], base->groups, medians[1], new->groups, &test, err);
    if (fine) {
        *ratio =
            (interval_estimate){exp(difference.middle), exp(difference.lo), exp(difference.hi)};
        *p = test.p;
    }
    free(medians[0]);
    free(medians[1]);
    return fine;
}

/* From measurements of equal code to what noise there is. */
#include "commands/calibrate/calibrate.h"
#include "base/allocate.h"
#include "compare/speed.h"
#include <math.h>

/* Logarithms add up where shares do not: 5 % slower and back is 1 / 1.05. */
static double share_of(double logarithm)
{
    return expm1(logarithm);
}

void noise_of_duets(const interval_estimate *ratios, size_t count, noise_figure *noise)
{
    double floor = 0, width = 0;
    noise->trials = 0;
    for (size_t i = 0; i < count; i++) {
        double lo = log(ratios[i].lo), hi = log(ratios[i].hi);
        if (isnan(lo) || isnan(hi))
            continue;
        floor = fmax(floor, fmax(fabs(lo), fabs(hi)));
        width = fmax(width, hi - lo);
        noise->trials++;
    }
    noise->floor = share_of(floor);
    noise->smallest = share_of(floor + width);
}

void noise_of_runs(const speed_sample *runs, size_t count, double confidence, uint64_t seed,
                   noise_figure *noise)
{
    double floor = 0;
    size_t pairs = 0;
    double *widths = allocate((count * count + 1) * sizeof *widths);
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++) {
            double p;
            interval_estimate ratio = compare_samples(&runs[i], &runs[j], confidence, seed, &p);
            if (isnan(ratio.middle))
                continue;
            floor = fmax(floor, fabs(log(ratio.middle)));
            widths[pairs++] = log(ratio.hi / ratio.lo);
        }
    noise->trials = (unsigned)pairs;
    noise->floor = share_of(floor);
    noise->smallest = pairs ? share_of(floor + median(widths, pairs)) : NAN;
    free(widths);
}

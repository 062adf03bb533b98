/* What the files of `calibrate` share: equal code measured as duet and compare measure, so that
 * whatever differs is noise.
 *
 * calibrate.c makes the builds: a copied file, and the same objects linked in other orders, which
 * moves the code and so its timings. measure.c measures them and sums up.
 */
#ifndef LNBENCH_CALIBRATE_H
#define LNBENCH_CALIBRATE_H

#include "stats/bootstrap.h"
#include "domain/calibration.h"
#include "base/error.h"
#include "base/temporary.h"
#include "machine/machine.h"
#include "cli/options.h"
#include "stats/speed.h"

typedef struct calibrate_settings {
    ln_operation operation; /* whose kernels are timed */
    const char *library;    /* NULL: liblayernorm */
    word_list given;        /* rebuilds by the user; else they are linked here */
    uint64_t rebuilds;
    double seconds, confidence;
    const char *kernel; /* NULL: the fastest */
    const char *database;
    word_list regimes; /* none: all */
    uint64_t seed;
    double deadline;
} calibrate_settings;

/* Files of equal code: the library itself, its copy, its rebuilds. They lie in a directory of their
 * own until build_set_free() removes it. */
typedef struct build_set {
    const char *folder;
    char (*paths)[1024]; /* paths[0]: the library; paths[1]: the copy */
    size_t count;
    char why[256]; /* there are no rebuilds; "" where there are */
} build_set;

/* Fills in the noise of both methods, and the kernel. Errors: 130 interrupted. */
bool calibrate_measure(const calibrate_settings *settings, const build_set *builds,
                       const machine_facts *machine, noise_calibration *calibration, error *err);

/* Ratios of equal code, each with its interval. The floor is the farthest from 1 that an interval
 * reaches: at this threshold none of them would have been an alarm. The smallest change lies above
 * it by the width of an interval, so that its own interval excludes the floor however it falls. */
void noise_of_duets(const interval_estimate *ratios, size_t count, noise_figure *noise);

/* Runs of one case, apart in time. The floor is the farthest that two of them lie apart, in what
 * they took over their roof; the smallest change as above, with the median width of the intervals
 * of all pairs. */
void noise_of_runs(const speed_sample *runs, size_t count, double confidence, uint64_t seed,
                   noise_figure *noise);

#endif

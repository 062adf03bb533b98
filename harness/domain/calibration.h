/* What this machine's noise lets one see: found by `doctor --calibrate`, kept in the store, and shown beside
 * every verdict of `duet` and `compare`.
 *
 *     double least = calibration_floor(&known, METHOD_DUET, "L2");   // known: store_calibration()
 */
#ifndef LNBENCH_CALIBRATION_H
#define LNBENCH_CALIBRATION_H

#include "domain/regime.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CALIBRATION_MACHINE_LENGTH = 512 };

typedef enum noise_method { METHOD_DUET, METHOD_COMPARE, METHODS } noise_method;
const char *method_name(noise_method method); /* "duet", "compare" */

/* Of one regime and method. A share of the time: 0.01 is 1 %. */
typedef struct noise_figure {
    size_t rows, hidden;
    double floor;    /* the farthest from 1 that a ratio of equal code came to lie */
    double smallest; /* the smallest change that shows; see commands/calibrate/calibrate.h */
    double seconds;  /* that one such comparison took */
    unsigned processes, trials;
} noise_figure;

typedef struct noise_calibration {
    int64_t id;    /* 0: there is none */
    char made[32]; /* ISO 8601, UTC */
    char kernel[64];
    unsigned rebuilds; /* builds with another link order; 0: a copied file alone */
    double confidence;
    noise_figure noise[METHODS][REGIMES]; /* trials 0: not measured */
} noise_calibration;

/* The floor; NaN where it was not measured. */
double calibration_floor(const noise_calibration *calibration, noise_method method,
                         const char *regime);

#endif

/* Progress on standard error: what runs, a bar, rate and time left; only on a terminal, redrawn at
 * most ten times a second. */
#ifndef LNBENCH_PROGRESS_H
#define LNBENCH_PROGRESS_H

#include <stdbool.h>

typedef struct progress {
    bool shown;
    double total, done; /* estimated seconds of work */
    double begun, drawn;
} progress;

void progress_begin(progress *progress, double total_seconds);
void progress_step(progress *progress, double seconds, const char *what);
void progress_end(progress *progress); /* clears the line */

#endif

/* Progress on standard error: on a terminal a bar with what runs and the time left, redrawn at most
 * ten times a second; elsewhere a line every ten seconds. */
#ifndef LNBENCH_PROGRESS_H
#define LNBENCH_PROGRESS_H

#include <stdbool.h>

typedef struct progress_bar {
    bool shown, terminal;
    double total, done; /* estimated seconds of work */
    double begun, drawn;
} progress_bar;

void progress_begin(progress_bar *progress, double total_seconds);
void progress_step(progress_bar *progress, double seconds, const char *what);
void progress_end(progress_bar *progress); /* clears the line */

#endif

/* Progress on standard error: on a terminal a bar with what runs and the time left, redrawn at most
 * ten times a second; elsewhere a line every ten seconds. The time left is by how fast it went so
 * far, and never rises: where the rest turns out slower than it was taken for, it stands still. */
#ifndef LNBENCH_PROGRESS_H
#define LNBENCH_PROGRESS_H

#include <stdbool.h>
#include <time.h>

typedef struct progress_bar {
    bool shown, terminal;
    double total, done;        /* estimated seconds of work */
    double begun, drawn, left; /* seconds; left: as it was shown last */
} progress_bar;

void progress_begin(progress_bar *progress, double total_seconds);
void progress_step(progress_bar *progress, double seconds, const char *what);
/* The time left at a moment of seconds_now(); remembers it. */
double progress_left(progress_bar *progress, double now);
void progress_end(progress_bar *progress); /* clears the line */

/* Wall-clock time that no one sets back. */

static inline double seconds_of(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Since some moment in the past. */
static inline double seconds_now(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

#endif

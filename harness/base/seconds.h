/* Wall-clock time that no one sets back. */
#ifndef LNBENCH_SECONDS_H
#define LNBENCH_SECONDS_H

#include <time.h>

/* Since some moment in the past. */
static inline double seconds_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

#endif

/* Wall-clock time that no one sets back. */
#ifndef LNBENCH_SECONDS_H
#define LNBENCH_SECONDS_H

#include <time.h>

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

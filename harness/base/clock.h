/* Seconds, and cycles and instructions that the CPU counts for one thread in user mode (perf_event_open(2)): unlike
 * times they hardly change when other programs run.
 *
 *     double begun = seconds_now();
 *     call();
 *     double took = seconds_now() - begun;
 */
#ifndef LNBENCH_CLOCK_H
#define LNBENCH_CLOCK_H

#include <stddef.h>
#include <time.h>

enum { COUNT_CYCLES, COUNT_INSTRUCTIONS, COUNTS };

/* Begins to count for the calling thread. Returns false, with the reason in `why`, if there are no counters. */
_Bool counters_open(int counters[COUNTS], char *why, size_t size);
void counters_close(const int counters[COUNTS]);

/* Reads the counts so far; NaN for a counter that cannot be read. */
void counters_read(const int counters[COUNTS], double counted[COUNTS]);

/* Wall-clock time that never decreases. */

static inline double seconds_of(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Returns the seconds since an unspecified moment. */
static inline double seconds_now(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

#endif

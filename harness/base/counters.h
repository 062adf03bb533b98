/* Cycles and instructions, as the CPU counts them for one thread in user mode (perf_event_open(2)):
 * unlike times they hardly change when something else runs. */
#ifndef LNBENCH_COUNTERS_H
#define LNBENCH_COUNTERS_H

#include <stddef.h>

enum { COUNT_CYCLES, COUNT_INSTRUCTIONS, COUNTS };

/* Begins to count for the thread that calls. False: it can't be had, and `why` says why. */
_Bool counters_open(int counters[COUNTS], char *why, size_t size);
void counters_close(const int counters[COUNTS]);

/* What was counted so far; NaN where it can't be read. */
void counters_read(const int counters[COUNTS], double counted[COUNTS]);

#endif

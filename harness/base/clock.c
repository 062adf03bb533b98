/* Counts cycles and instructions of one thread by perf_event_open(2). */
#include "base/clock.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_one(uint64_t config, int leader)
{
    struct perf_event_attr wanted = {
        .type = PERF_TYPE_HARDWARE,
        .size = sizeof wanted,
        .config = config,
        .read_format =
            PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    return (int)syscall(SYS_perf_event_open, &wanted, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
}

_Bool counters_open(int counters[COUNTS], char *why, size_t size)
{
    counters[COUNT_CYCLES] = open_one(PERF_COUNT_HW_CPU_CYCLES, -1);
    counters[COUNT_INSTRUCTIONS] = -1;
    if (counters[COUNT_CYCLES] >= 0)
        counters[COUNT_INSTRUCTIONS] = open_one(PERF_COUNT_HW_INSTRUCTIONS, counters[COUNT_CYCLES]);
    if (counters[COUNT_INSTRUCTIONS] >= 0)
        return 1;
    const char *cause =
        errno == EACCES || errno == EPERM        ? "not allowed (sysctl kernel.perf_event_paranoid)"
        : errno == ENOENT || errno == EOPNOTSUPP ? "the CPU or its virtual machine has none"
                                                 : strerror(errno);
    snprintf(why, size, "%s", cause);
    counters_close(counters);
    counters[COUNT_CYCLES] = -1;
    return 0;
}

void counters_close(const int counters[COUNTS])
{
    for (int i = 0; i < COUNTS; i++)
        if (counters[i] >= 0)
            close(counters[i]);
}

void counters_read(const int counters[COUNTS], double counted[COUNTS])
{
    /* The format of read_format: number of counters, time enabled, time running, then the counts. */
    uint64_t group[3 + COUNTS];
    int fine = counters[COUNT_CYCLES] >= 0 &&
               read(counters[COUNT_CYCLES], group, sizeof group) == (ssize_t)sizeof group &&
               group[0] == COUNTS && group[2] > 0;
    /* Shared counters ran for a part of the time only, so their counts are scaled. */
    for (int i = 0; i < COUNTS; i++)
        counted[i] =
            fine ? (double)group[3 + i] * (double)group[1] / (double)group[2] : (double)NAN;
}

/* How far apart the same work comes out when it is timed again and again: on a quiet machine less
 * than a percent; where other processes, a quota or a host take the CPU away, much more. */
#include "machine/machine.h"
#include "base/seconds.h"
#include <stdint.h>
#include <stdlib.h>

enum { PIECES = 25 };
static const double piece_seconds = .02;

/* A chain of multiplications: memory, caches and the compiler have no say. */
static uint64_t work(uint64_t state, uint64_t steps)
{
    for (uint64_t i = 0; i < steps; i++)
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return state;
}

static int compare_seconds(const void *a, const void *b)
{
    const double *one = a, *other = b;
    return (*one > *other) - (*one < *other);
}

timing_scatter machine_scatter(void)
{
    volatile uint64_t state = 1;
    uint64_t steps = 1 << 16;
    double seconds[PIECES], begun;
    for (double taken = 0; taken < piece_seconds / 2; steps *= taken < piece_seconds / 2 ? 2 : 1) {
        begun = seconds_of(CLOCK_THREAD_CPUTIME_ID);
        state = work(state, steps);
        taken = seconds_of(CLOCK_THREAD_CPUTIME_ID) - begun;
    }
    double wall = seconds_now(), processor = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < PIECES; i++) {
        begun = seconds_now();
        state = work(state, steps);
        seconds[i] = seconds_now() - begun;
    }
    wall = seconds_now() - wall;
    processor = seconds_of(CLOCK_THREAD_CPUTIME_ID) - processor;
    qsort(seconds, PIECES, sizeof *seconds, compare_seconds);
    return (timing_scatter){.apart = seconds[PIECES * 9 / 10] / seconds[PIECES / 10] - 1,
                            .cpu_share = processor / wall};
}

/* Calls at the same time, by design and not by luck: on one processor or under load two threads may
 * each run thousands of calls and never be inside one together. So a timer stops the first thread at
 * some instant of a call, and there it stays until the second has made a whole call; in the midst of
 * which that one is stopped for the third, and so on to the last. */
#ifndef LNBENCH_MEET_H
#define LNBENCH_MEET_H

#include <stdbool.h>
#include <stddef.h>

/* One call; whether its bits are right. */
typedef bool (*meeting_call)(void *context);

enum { MEETING_MOST = 5 };

/* How calls meet. */
typedef struct meeting_plan {
    unsigned free_calls; /* of each party before, at least one: how long a call takes */
    unsigned stops;      /* of the first party */
    double part;         /* 0 to 1: where in a call the first stop comes */
} meeting_plan;

/* Calls with the first party on this thread and with each other one, MEETING_MOST in all, on a
 * thread of its own: freely at first, then with so many stops, whose instants are spread over the
 * call. False: some bits were wrong. Fewer stops are made where the next thread cannot go on
 * meanwhile (the kernel holds a lock), and for slow kernels. *refused: the system gave no sockets, threads
 * or timers for it, so that calls did not meet. */
bool worker_meet(meeting_call call, void *const *parties, size_t count, const meeting_plan *plan,
                 bool *refused);

#endif

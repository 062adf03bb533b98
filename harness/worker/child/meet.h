/* Two calls at the same time, by design and not by luck: on one processor or under load two threads
 * may each run thousands of calls and never be inside one together. So a timer stops the first
 * thread at some instant of a call, and there it stays until the second has made a whole call. */
#ifndef LNBENCH_MEET_H
#define LNBENCH_MEET_H

#include <stdbool.h>

/* One call; whether its bits are right. */
typedef bool (*meeting_call)(void *context);

/* Calls with `first` on this thread and with `second` on another: freely at first, then with so
 * many stops, whose instants are spread over the call. False: some bits were wrong. Fewer stops are
 * made where the second cannot go on meanwhile (the kernel holds a lock), and for slow kernels. */
bool worker_meet(meeting_call call, void *first, void *second);

#endif

/* Whether a plugin's code made a system call: where it made none, it changed nothing that the
 * process is to the system, and nothing has to be looked at.
 *
 *     system_calls_watch();
 *     kernel->run(state, tensors);
 *     if (system_calls_made()) ...         // look at the process
 *
 * By Linux's syscall user dispatch (5.11, x86-64), of the thread that calls alone; elsewhere, and
 * while there are other threads, the answer is always yes. The first call of a plugin ends the watch,
 * so that the others cost what they cost. */
#ifndef LNBENCH_SYSTEM_CALLS_H
#define LNBENCH_SYSTEM_CALLS_H

#include <stdbool.h>
#include <stdint.h>

/* Once, before there are other threads. Harmless where the system has no such thing. */
void system_calls_begin(void);
/* Watches begin and end in pairs, one within another too. */
void system_calls_watch(void);
/* Ends the watch: whether any may have been made in it. */
bool system_calls_made(void);
/* All watches end. */
void system_calls_forget(void);
/* Threads that are not watched may work too, or no longer; and whether the code that is called is to be
 * trusted, so that its calls change nothing. */
void system_calls_of_others(bool others);
void system_calls_trust(bool trusted);

/* A mark, and whether a plugin may have made any since it was taken. */
uint64_t system_calls_mark(void);
bool system_calls_since(uint64_t mark);

#endif

/* Child processes. Each has a process group of its own, so that it ends with all that it started,
 * and none outlives its deadline, or the program. Programs of others are started by program.h.
 *
 *     pid_t child = child_execute(become_shell, "sleep 3");
 *     if (child > 0 && child_wait(child, 60, &status) == CHILD_ENDED && status == 0) ...
 */
#ifndef LNBENCH_CHILDREN_H
#define LNBENCH_CHILDREN_H

#include <stdbool.h>
#include <sys/types.h>

typedef enum child_end { CHILD_ENDED, CHILD_LATE, CHILD_INTERRUPTED } child_end;

/* One that executes a program: become() does, or returns, and may make system calls and no more, since the
 * child has this process's memory until then; so none of it has to be copied. */
pid_t child_execute(void (*become)(void *context), void *context);
/* Waits for its end; where that does not come in time, or Ctrl-C does, kills it. `status` as
 * waitpid() gives it. */
child_end child_wait(pid_t child, double seconds, int *status);
/* Kills it, with its process group and with what it left behind outside of that; returns its
 * status. */
int child_kill(pid_t child);
/* Kills all there are. Fit for a signal handler. */
void children_kill(void);

#endif

/* Ctrl-C, SIGTERM and SIGHUP: noted, so that a run can end in order. A second one, or 1.7 s, ends the
 * program at once, and its children. What was ignored when the program began stays ignored. */
#ifndef LNBENCH_INTERRUPT_H
#define LNBENCH_INTERRUPT_H

#include <stdbool.h>

void interrupt_watch(void);
bool interrupted(void);
/* For what must still be done: not interrupted any more, though a second signal ends the process.
 */
void interrupt_forgive(void);

#endif

/* Ctrl-C and SIGTERM: noted, so that a run can end in order; a second one ends at once. */
#ifndef LNBENCH_INTERRUPT_H
#define LNBENCH_INTERRUPT_H

#include <stdbool.h>

void interrupt_watch(void);
bool interrupted(void);
/* For what must still be done: not interrupted any more, though a second signal ends the process.
 */
void interrupt_forgive(void);

#endif

/* The worker under bubblewrap: the file system cannot be written to, and where the services of the
 * machine listen (/tmp, /run, /var/tmp) it is empty but for what the worker loads; no network, no
 * process but its own. The worker limits its memory itself (WORKER_LIMITED). */
#ifndef LNBENCH_SANDBOX_H
#define LNBENCH_SANDBOX_H

#include "base/words.h"
#include "worker/protocol.h"

/* LNBENCH_SANDBOX is set, and not 0. */
bool sandbox_is_wanted(void);
/* The directories of the program and of the plugins. */
void sandbox_find_visible(const char *program, char (*plugins)[PROTOCOL_PATH_LENGTH], size_t count,
                          word_list *visible);
/* Becomes the program in a sandbox; returns where it can't. */
void sandbox_exec(const char *program, const char *const *visible, size_t count);

#endif

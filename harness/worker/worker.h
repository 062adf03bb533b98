/* Worker processes from lnbench's side: it sends a message, waits for the answer until a deadline, and turns the end of
 * a process into a verdict.
 *
 *     worker_process *worker = worker_start(plugins, count, &kernels);
 *     worker_message message = message_for(MESSAGE_JUDGE, kernel);
 *     worker_reply reply;
 *     if (!worker_ask(worker, &message, 10.0, &reply)) ... // reply: crashed, timeout, overrun ...
 *
 * liblayernorm and every plugin are judged in separate processes, so that a fault of one is not blamed on another; only
 * one of them runs at a time. For timing, one process has all kernels that are compared. If a process has ended, the
 * next message starts it again.
 */
#ifndef LNBENCH_WORKER_H
#define LNBENCH_WORKER_H

#include "base/text.h"
#include "judge/runner.h"
#include "worker/protocol.h"

typedef struct worker_process worker_process;

/* Starts a worker, loads liblayernorm, the peers (other libraries) and the plugins, and lists their
 * kernels. A peer that cannot be loaded is left out; one that is also a plugin is loaded once. The program ends if a
 * plugin cannot be loaded (7) or crashes while it is loaded (6), if the worker or the library is missing (7), or if two
 * plugins have a kernel of the same name (2). */
worker_process *worker_start(const char *const *plugins, size_t plugin_count, kernel_list *kernels);
/* Does the same for several builds of a plugin, in one process without liblayernorm: lists[i] gets the kernels of
 * files[i], and kernels of different builds may have equal names. The code of a build's kernels must be in its own file
 * (else 4). */
worker_process *worker_start_builds(const char *const *files, size_t count, kernel_list *lists);
/* Returns another worker with the same plugins in the same order; its first message starts it. */
worker_process *worker_start_another(const worker_process *worker);
void worker_stop(worker_process *worker);

/* Starts a new process for timing, with the plugins of these kernels (NULL: all). False: *reply says why; if a plugin
 * can no longer be loaded, reply->count is its index. */
bool worker_renew(worker_process *worker, const kernel_entry *const *kernels, size_t count,
                  worker_reply *reply);

/* Ends every process, so that the next messages go to new ones without state of earlier calls. */
void worker_forget(worker_process *worker);

/* Returns the worker as a runner for the judge and the conformance tests (judge/runner.h); NULL for NULL. */
kernel_runner *worker_runner(worker_process *worker);

/* Adds the paths of all files that the process of worker_start_builds() has mapped. */
void worker_files(const worker_process *worker, word_list *files);

/* Sends a message and waits for the answer. True: reply->kind is not FAILED. False: reply is FAILED with a verdict and
 * text. After a crash, an exit, or no answer until the deadline, the process has ended. */
bool worker_ask(worker_process *worker, const worker_message *message, double deadline_seconds,
                worker_reply *reply);

/* Waits for the next answer of MESSAGE_TIME_RUN; false and a FAILED reply as above. */
bool worker_next(worker_process *worker, double deadline_seconds, worker_reply *reply);
bool worker_send_message(worker_process *worker, const worker_message *message,
                         worker_reply *reply);

#endif

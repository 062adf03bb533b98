/* Worker processes, as lnbench sees them: it sends an order, waits for the answer until a deadline, and turns the
 * end of a process into a verdict.
 *
 *     worker_process *worker = worker_start(plugins, count, &kernels);
 *     work_order order = worker_order(ORDER_JUDGE, kernel);
 *     worker_reply reply;
 *     if (!worker_ask(worker, &order, 10.0, &reply)) ... // reply: crashed, timeout, overrun ...
 *
 * liblayernorm and every plugin are judged in processes of their own, so that none gets the verdict of
 * another; only one of them runs at a time. Timing has one process with all kernels that it compares. A
 * process that has ended is started again by the next order.
 */
#ifndef LNBENCH_WORKER_H
#define LNBENCH_WORKER_H

#include "base/text.h"
#include "judge/runner.h"
#include "worker/protocol.h"

typedef struct worker_process worker_process;

/* Starts a worker, loads liblayernorm, the peers (other libraries) and the plugins, and lists their
 * kernels. A peer that can't be loaded is left out; one that is among the plugins is loaded once.
 * What ends the program: a plugin that can't be loaded (7), that crashes at load (6), the worker or the library
 * missing (7), names that two plugins share (2). */
worker_process *worker_start(const char *const *plugins, size_t plugin_count, kernel_list *kernels);
/* The same for builds side by side, and without liblayernorm: the kernels of files[i] go to
 * lists[i], and names may stand in several. A build's table must lie in its own file (error 4). */
worker_process *worker_start_builds(const char *const *files, size_t count, kernel_list *lists);
/* One more process with the same plugins, in the same order; it starts with its first order. */
worker_process *worker_start_another(const worker_process *worker);
void worker_stop(worker_process *worker);

/* A fresh process for timing, with the plugins of these kernels (NULL: all). False: *reply says why;
 * where a plugin can't be loaded any more, count tells which. */
bool worker_renew(worker_process *worker, const kernel_entry *const *kernels, size_t count,
                  worker_reply *reply);

/* Ends every process. The next orders go to new ones, which keep nothing of earlier calls. */
void worker_forget(worker_process *worker);

/* The worker as the judge and the conformance tests ask it, and its arena (judge/runner.h); NULL of NULL. */
kernel_runner *worker_runner(worker_process *worker);

/* Adds the paths of all files that the process of the builds has mapped. */
void worker_files(const worker_process *worker, word_list *files);

/* Sends and waits for the answer. True: reply->kind is DONE. False: reply is FAILED with a verdict
 * and text, also for a crash, an exit or a hang past the deadline; the process is then
 * gone. */
bool worker_ask(worker_process *worker, const work_order *order, double deadline_seconds,
                worker_reply *reply);

/* For the stream of ORDER_TIME_RUN: one more reply; false and a FAILED reply as above. */
bool worker_next(worker_process *worker, double deadline_seconds, worker_reply *reply);
bool worker_send_order(worker_process *worker, const work_order *order, worker_reply *reply);

#endif

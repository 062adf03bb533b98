/* One worker process, as the parent holds it: start, orders, answers, end. No call waits without a
 * deadline, or longer than to the next Ctrl-C. */
#ifndef LNBENCH_WORKER_PROCESS_H
#define LNBENCH_WORKER_PROCESS_H

#include "worker/protocol.h"

typedef struct kernel_process {
    pid_t process;
    int socket; /* -1: there is none */
    int words;  /* what a plugin wrote to standard error while it was loaded; 0: no file */
    bool loads; /* the order that is being answered loads a plugin */
    ln_operation operation;
    ln_problem problem; /* of the order; no rows: it has none */
    long oom_kills;     /* of the control group, when it began (control_group.h) */
} kernel_process;

/* Starts the worker's program, whose path this is, and waits until it says that it is there. False
 * and an error (7): it cannot be started. */
bool process_start(kernel_process *process, const char *program, int arena, error *err);
/* Orders with one answer each, or one order. False: *reply says why, and the process is
 * gone. */
bool process_send(kernel_process *process, const work_order *orders, size_t count,
                  worker_reply *reply);
/* The next answer. False: *reply is a FAILED one; but after DECLINED and NONDETERMINISTIC the
 * process is gone. */
bool process_next(kernel_process *process, double deadline_seconds, worker_reply *reply);
/* The answers to `count` orders: how many there are, of which the last may end the process. 0: it is gone,
 * and *replies says why. The deadline is of each. */
size_t process_answers(kernel_process *process, double deadline_seconds, worker_reply *replies,
                       size_t count);
/* For an answer that does not fit what is known of the order: as process_next() ends. */
bool process_disbelieve(kernel_process *process, worker_reply *reply);
/* While it is not asked, it does nothing. */
void process_pause(const kernel_process *process);
void process_resume(const kernel_process *process);
void process_end(kernel_process *process);

#endif

/* A runner runs the kernel that is judged. It is a struct of functions, through which the judge and the conformance
 * tests reach the kernel.
 *
 *     row_judge *judge = judge_create(worker_runner(worker), &settings);    // worker processes
 *     row_judge *judge = judge_create(&session->runner, &settings); // this process: liblnjudge
 *     row_judge *judge = judge_create(NULL, &settings); // no runner is needed for existing
 *     judge_output(judge, &block, y, &judgement);       //   outputs, as those of a file
 *
 * An implementation has a kernel_runner as its first member:
 *
 *     struct my_runner { kernel_runner runner; ... };
 *     made->runner = (kernel_runner){.ask = ask, .reserve = reserve};
 *
 * A runner belongs to its maker and must outlive its judges. Only one thread at a time may use it. */
#ifndef LNBENCH_RUNNER_H
#define LNBENCH_RUNNER_H

#include "base/die.h"
#include <stdbool.h>
#include <stddef.h>

/* Messages and answers: worker/protocol.h. */
struct worker_message;
struct worker_reply;

typedef struct kernel_runner kernel_runner;

struct kernel_runner {
    /* Handles a message whose tensors are in `memory`. Returns true if the answer is REPLY_DONE, false if
     * it is REPLY_FAILED, with a verdict and a text. */
    bool (*ask)(kernel_runner *runner, const struct worker_message *message,
                double deadline_seconds, struct worker_reply *reply);
    /* Makes room for `bytes` bytes of tensors in `memory`, which may move but keeps its contents. Failure ends
     * the program (7). */
    void (*reserve)(kernel_runner *runner, size_t bytes);
    /* The memory of the messages' tensors, which are given by offsets. Its address may change with each message. */
    char *memory;
};

#endif

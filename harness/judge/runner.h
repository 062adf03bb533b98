/* Who runs the kernel that is judged, as a struct of functions: the judge and the conformance tests ask it, and know
 * nothing else of it.
 *
 *     row_judge *judge = judge_create(worker_runner(worker), &settings);    // worker processes
 *     row_judge *judge = judge_create(&session->runner, &settings); // this process: liblnjudge
 *     row_judge *judge = judge_create(NULL, &settings); // nobody: outputs that are there already
 *     judge_output(judge, &block, y, &judgement); //   (of a file) are judged without one
 *
 * An implementation has a kernel_runner as its first member:
 *
 *     struct my_runner { kernel_runner runner; ... };
 *     made->runner = (kernel_runner){.ask = ask, .reserve = reserve};
 *
 * A runner belongs to whoever made it and must outlive the judges that have it. It is used by one
 * thread at a time. */
#ifndef LNBENCH_RUNNER_H
#define LNBENCH_RUNNER_H

#include "base/die.h"
#include <stdbool.h>
#include <stddef.h>

/* What is asked and answered: worker/protocol.h. */
struct work_order;
struct worker_reply;

typedef struct kernel_runner kernel_runner;

struct kernel_runner {
    /* Obeys an order, with its tensors in `memory`. True: the reply is REPLY_DONE. False: it is
     * REPLY_FAILED, with a verdict and a text. */
    bool (*ask)(kernel_runner *runner, const struct work_order *order, double deadline_seconds,
                struct worker_reply *reply);
    /* Room for so many bytes of tensors in `memory`, which may move; contents stay. Where there is
     * none, the program ends (7). */
    void (*reserve)(kernel_runner *runner, size_t bytes);
    /* Where orders' tensors lie, by their offsets. It may change with each order. */
    char *memory;
};

#endif

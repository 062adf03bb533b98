/* The buffers of one judged call, laid out as its order says, and the call itself, watched from all
 * sides.
 *
 *     call_bench bench;
 *     if (bench_create(&bench, plugin, kernel, order, rows) && bench_fill(&bench, 0, false) && bench_run(&bench))
 *         bench_hand_back(&bench, 0);
 *     else worker_send(...);                 // bench.failure has why
 *     bench_destroy(&bench);
 */
#ifndef LNBENCH_BENCH_H
#define LNBENCH_BENCH_H

#include "worker/child/internal.h"
#include "worker/child/tensors.h"

/* Why calls ended early. */
typedef struct call_failure {
    verdict_kind kind; /* VERDICT_PENDING: they did not; STATE_CHANGED: what plugin_blame() holds */
    const char *refusal; /* of DECLINED */
    char text[REPLY_TEXT_LENGTH];
} call_failure;

bool fail_call(call_failure *failure, verdict_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Because the kernel does not take it, or, where `refusal` is that string, because memory ran out. */
bool refuse_call(call_failure *failure, const char *refusal);

typedef struct call_bench {
    const ln_kernel *kernel;
    const work_order *order;
    const operation *what;
    ln_problem problem; /* as the kernel sees it */
    ln_tensors tensors;
    void *state;
    bool prepared;
    guarded buffers[ROLES_MOST];
    role_extent extents[ROLES_MOST];
    char *once[ROLES_MOST];    /* what outputs lie in, as it came out first */
    const split_kernel *split; /* a call over several threads; NULL: one */
    bool upper_halves;         /* of vector registers hold something after a call */
    call_failure failure;
} call_bench;

/* Buffers for `rows` rows, with the parameters in them. bench_destroy() it in either case. */
bool bench_create(call_bench *bench, const ln_kernel *kernel, const work_order *order, size_t rows);
/* Its state; bench_destroy() releases it too. */
bool bench_prepare(call_bench *bench);
bool bench_release(call_bench *bench);
void bench_destroy(call_bench *bench);

/* The order's rows from `first` on in the inputs, which become read-only, and poison in the outputs.
 * `altered`: some elements of rows and parameters are others. */
bool bench_fill(call_bench *bench, size_t first, bool altered);
/* One call with the state of the process watched, and what it wrote looked at. */
bool bench_run(call_bench *bench);
/* One call alone; and whether it wrote only where it may. */
void bench_call(call_bench *bench);
bool bench_is_clean(call_bench *bench);
/* Keeps all outputs; and whether they are the kept ones, where there are any, bit for bit. */
bool bench_keep(call_bench *bench);
bool bench_is_same(const call_bench *bench);
/* Whether an output lies where an input does: each call takes a fill before it. */
bool bench_is_in_place(const call_bench *bench);
/* Dense rows of all outputs into the arena, as rows first... */
void bench_hand_back(const call_bench *bench, size_t first);

#endif

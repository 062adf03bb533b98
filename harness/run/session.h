/* A run in progress: the data that its accuracy half and its speed half share.
 *
 *     run_session session = {.worker = worker, .judge = judge, .store = store, .run = run};
 *     plan_make(&request, &kernels, &session.machine, &session.plan);
 *     session_add_checks(&session.plan);
 *     session_put_requested(&session);
 *     bool finished = session_invariance(&session, &kernels) && session_accuracy(&session) &&
 *                     session_speed(&session);
 */
#ifndef LNBENCH_SESSION_H
#define LNBENCH_SESSION_H

#include "base/output.h"
#include "conformance/conformance.h"
#include "run/plan.h"
#include "store/store.h"

typedef struct run_session {
    case_plan plan;
    worker_process *worker;
    row_judge *judge;
    result_store *store;
    int64_t run;
    bool resumed;
    unsigned next_process; /* numbers the timing processes of the run */
    double deadline_seconds;
    int cpu; /* CPU that timed workers are pinned to; -1: none */
    machine_facts machine;
    progress_bar progress;
    invariance_result *invariance; /* one for each kernel of the plan; NULL: not measured */
    word_list timeouts;            /* a kernel's name for each of its cases that timed out */
    bool gave_up;                  /* cases of a kernel were skipped after time-outs */
} run_session;

/* ---- preparing a run ---- */

/* The conformance tests of a plan; the plan only has a flag for them. */
enum { CHECK_TURNS = 16, CHECK_SETS = (CHECK_TURNS + 1) * OPERATIONS };

typedef struct plan_checks {
    /* Covering arrays. Each operation has one over all conventions; or one for each convention that the user named, up
     * to CHECK_TURNS, whose packs alternate. A convention with another eps for f64 (convention_for()) has two. */
    combination_set *sets[CHECK_SETS];
    ln_convention defaults[CHECK_SETS];
    size_t count;
} plan_checks;

/* Adds a group for each conformance test before those of the plan, if the plan has such tests. */
void session_add_checks(case_plan *plan);

/* The cost of a plan: the numbers of judgements and repetitions of all its kernels, of threads that judge in parallel,
 * and the approximate seconds on this CPU, including session_invariance(). */
typedef struct plan_cost {
    size_t judgements, repetitions, threads;
    double seconds;
} plan_cost;
plan_cost session_cost(const case_plan *plan);
/* Return approximate costs, to estimate the time left: of a judgement, of judging timed blocks, of a repetition. */
double session_judgement_seconds(size_t elements);
double session_timed_judgement_seconds(const speed_group *group);
double session_repetition_seconds(const speed_group *group);

/* Returns the last CPU that this process may use, for timing, as the first ones get most interrupts; -1: not known. */
int session_last_cpu(void);

/* Stores the requested cases of the plan, before any is measured. */
void session_put_requested(run_session *session);
/* Stores the descriptors of the plan's kernels in the session's run. */
void session_store_kernels(run_session *session);

/* ---- the parts of a run; each returns false if it was interrupted ---- */

/* Measures the invariance of the plan's kernels, also between the ISAs of `kernels`. */
bool session_invariance(run_session *session, const kernel_list *kernels);
/* Judges every accuracy group, and stores each case at once. */
bool session_accuracy(run_session *session);
/* Judges and times every speed group. */
bool session_speed(run_session *session);

/* Returns whether so many cases of the kernel timed out that the rest is skipped; sets the verdict then. */
bool session_gave_up(run_session *session, const kernel_entry *kernel, case_verdict *verdict);
/* Stores a judgement; notes differing bits for the kernel's reproducibility, and time-outs. */
void session_put(run_session *session, const case_key *key, const case_judgement *judgement);

/* ---- messages that make a worker time a group, shared by run and duet ---- */

/* Returns the bytes of x, or of y, of one judged block. */
size_t timed_group_bytes(const speed_group *group);

/* Returns the message that begins the group, without CPU, repetitions, seed and tensors. */
worker_message timed_group_message(const speed_group *group, const machine_facts *machine);

/* Puts bytes at *end of the runner's memory, aligned to a cache line, and advances *end; *at is their offset, or -1 if
 * there is no data. */
void timed_group_put(char *memory, off_t *end, off_t *at, const void *data, size_t bytes);

/* Puts the tensors of two judged blocks into the shared memory, and their offsets into *begin; from *end on there is
 * room for `outputs` expected outputs of a block. */
void timed_group_place(const speed_group *group, const judge_block blocks[2],
                       worker_process *worker, size_t outputs, worker_message *begin, off_t *end);

#endif

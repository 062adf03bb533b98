/* A run while it goes on: what its accuracy and its speed part share.
 *
 *     run_session session = {.worker = worker, .judge = judge, .store = store, .run = run};
 *     plan_make(&request, &kernels, &session.machine, &session.plan);
 *     session_add_checks(&session.plan);
 *     session_ask(&session);
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
    bool huge_pages;
    double deadline_seconds;
    int cpu; /* timed workers are pinned to it; -1: none */
    machine_facts machine;
    progress_bar progress;
    exit_code worst;               /* of all verdicts so far */
    invariance_result *invariance; /* one a kernel of the plan; NULL: not measured */
    word_list timeouts;            /* the name of its kernel for each case that timed out so far */
    bool gave_up;                  /* on a kernel: a case was not run */
} run_session;

/* ---- before it ---- */

/* The conformance tests of a plan: a plan says only that there are any. */
enum { CHECK_TURNS = 16, CHECK_SETS = (CHECK_TURNS + 1) * OPERATIONS };

typedef struct plan_checks {
    /* Covering arrays. Each operation has one over all conventions; or one for each convention that the user named, up
     * to CHECK_TURNS, whose packs alternate. A convention with another eps for f64 (convention_for()) has two. */
    combination_set *sets[CHECK_SETS];
    ln_convention plain[CHECK_SETS];
    size_t count;
} plan_checks;

/* Adds a group for each conformance test before those of the plan, where it has them. */
void session_add_checks(case_plan *plan);

/* What a plan costs: judgements and repetitions of all its kernels; how many lanes judge at once; and roughly how
 * many seconds on this CPU, with session_invariance(). */
typedef struct plan_cost {
    size_t judgements, repetitions, lanes;
    double seconds;
} plan_cost;
plan_cost session_cost(const case_plan *plan);
/* Rough costs for the time left: a judgement; of the blocks that a kernel is timed on; a repetition. */
double session_judgement_seconds(size_t elements);
double session_timed_judgement_seconds(const speed_group *group);
double session_repetition_seconds(const speed_group *group);

/* The last CPU we may use, for timing: the first ones get most interrupts. -1: not known. */
int session_last_cpu(void);

/* Stores which cases the plan asks of its kernels, before any is measured. */
void session_ask(run_session *session);
/* The descriptors of the plan's kernels, into the session's run. */
void session_store_kernels(run_session *session);

/* ---- its parts; false: it was interrupted ---- */

/* The invariance of the plan's kernels, over all of their ISAs among the worker's kernels. */
bool session_invariance(run_session *session, const kernel_list *kernels);
/* Judges every accuracy group; stores each case as it is known. */
bool session_accuracy(run_session *session);
/* Judges and times every speed group. */
bool session_speed(run_session *session);

/* Whether so many cases of the kernel timed out that the rest is not run: its verdict says so. */
bool session_gave_up(run_session *session, const kernel_entry *kernel, case_verdict *verdict);
/* Stores a judgement and remembers its exit code. */
void session_put(run_session *session, const case_key *key, const case_judgement *judgement);

/* ---- how a worker is told of a group that it is to time: what run and duet share ---- */

/* Bytes of x or of y of one judged block. */
size_t timed_group_bytes(const speed_group *group);

/* The order that begins the group; CPU, repetitions, seed and tensors are still to be filled in. */
work_order timed_group_order(const speed_group *group, const machine_facts *machine);

/* Puts bytes that begin with a line of their own at *end of the runner's memory, which moves on; *at is
 * where they are, -1 where there is no data. */
void timed_group_put(char *memory, off_t *end, off_t *at, const void *data, size_t bytes);

/* Puts the tensors of two judged blocks into the worker's arena, and into *begin where they are;
 * from *end on there is room for as many expected outputs of a block. */
void timed_group_place(const speed_group *group, const judge_block blocks[2],
                       worker_process *worker, size_t outputs, work_order *begin, off_t *end);

#endif

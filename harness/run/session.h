/* A run while it goes on: what its accuracy and its speed part share. */
#ifndef LNBENCH_SESSION_H
#define LNBENCH_SESSION_H

#include "base/progress.h"
#include "conformance/invariance.h"
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

/* Rough costs for the time left: a judgement, a repetition. */
double session_judgement_seconds(size_t elements);
/* Of the blocks that a kernel is timed on. */
double session_timed_judgement_seconds(const speed_group *group);
double session_repetition_seconds(const speed_group *group);

/* Judges every accuracy group; stores each case as it is known. False: it was interrupted, as in what follows. */
bool session_accuracy(run_session *session);
/* In how many lanes at once. */
size_t session_lanes(const case_plan *plan);
/* Judges and times every speed group. */
bool session_speed(run_session *session);

/* Whether so many cases of the kernel timed out that the rest is not run: its verdict says so. */
bool session_gave_up(run_session *session, const kernel_entry *kernel, case_verdict *verdict);
/* Stores a judgement and remembers its exit code. */
void session_put(run_session *session, const case_key *key, const case_judgement *judgement);

/* What every command that measures does before and around a session. */

/* Rough seconds that a plan takes. */
double session_plan_seconds(const case_plan *plan);
/* And of finding out on what the kernels' bits depend. */
double session_run_seconds(const case_plan *plan);

/* The last CPU we may use, for timing: the first ones get most interrupts. -1: not known. */
int session_last_cpu(void);

/* The invariance of the plan's kernels, over all of their ISAs among the worker's kernels. */
bool session_invariance(run_session *session, const kernel_list *kernels);

/* Stores which cases the plan asks of its kernels, before any is measured; a run of several plans
 * asks for those of each. */
void session_ask(run_session *session, const case_plan *plan);

/* The descriptors of the plan's kernels, into the session's run. */
void session_store_kernels(run_session *session);

#endif

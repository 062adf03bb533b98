/* What every command that measures does before and around a session. */
#ifndef LNBENCH_SESSION_SETUP_H
#define LNBENCH_SESSION_SETUP_H

#include "session/session.h"

/* Rough seconds that a plan takes. */
double session_plan_seconds(const case_plan *plan);
/* And of finding out on what the kernels' bits depend. */
double session_run_seconds(const case_plan *plan);

/* The last CPU we may use, for timing: the first ones get most interrupts. -1: not known. */
int session_last_cpu(void);

/* The invariance of the plan's kernels, over all of their ISAs among the worker's kernels. */
bool session_invariance(run_session *session, const kernel_list *kernels, error *err);

/* Stores which cases the plan asks of its kernels, before any is measured; a run of several plans
 * asks for those of each. */
bool session_ask(run_session *session, const case_plan *plan, error *err);

/* The descriptors of the plan's kernels, into the session's run. */
bool session_store_kernels(run_session *session, error *err);

#endif

/* What run and choose share: a plan is made, and measured into a run of the store.
 *
 *     run_session session = {.cpu = -1};
 *     kernel_list kernels = {0};
 *     bool fine = run_prepare(&session, &settings, &kernels, &err) &&
 *                 run_measure(&session, &settings, &kernels, "choose", call->line, &finished, &err);
 *     run_end(&session, &kernels);
 */
#ifndef LNBENCH_COMMANDS_RUN_H
#define LNBENCH_COMMANDS_RUN_H

#include "run/session.h"

typedef struct run_settings {
    plan_request request;
    word_list plugins;
    const char *database;
    double max_row_ulp, deadline;
    bool allow_missing, resume, huge_pages;
} run_settings;

/* Reads the machine, starts the worker, makes the plan. */
bool run_prepare(run_session *session, const run_settings *settings, kernel_list *kernels,
                 error *err);
/* The plan's cases, as they are measured and judged, into a run of the store that is opened for it. False: an error
 * ended it. Where it was interrupted, *finished is false and err has the exit code 130. */
bool run_measure(run_session *session, const run_settings *settings, const kernel_list *kernels,
                 const char *command, const char *command_line, bool *finished, error *err);
/* Whether cases are missing that the user did not allow to be; `hint`: what else can be done. */
bool run_check_missing(const run_settings *settings, size_t missing, bool gave_up, const char *hint,
                       error *err);
void run_end(run_session *session, kernel_list *kernels);

#endif

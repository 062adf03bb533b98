/* Functions that run and choose share: they make a plan and measure it into a run of the store.
 *
 *     run_session session = {0};
 *     kernel_list kernels = {0};
 *     run_prepare(&session, &settings, &kernels);
 *     bool finished = run_measure(&session, &settings, &kernels, "choose", call->line);
 *     run_end(&session, &kernels);
 */
#ifndef LNBENCH_COMMANDS_RUN_H
#define LNBENCH_COMMANDS_RUN_H

#include "commands/options.h"
#include "run/session.h"
#include "show/report.h"

typedef struct run_settings {
    plan_request request;
    word_list plugins;
    const char *database;
    double max_row_ulp, deadline;
    bool allow_missing, resume;
} run_settings;

/* Reads the facts of the machine, starts the worker and makes the plan. */
void run_prepare(run_session *session, const run_settings *settings, kernel_list *kernels);
/* Measures and judges the cases of the plan, and stores each result in a new run at once. Returns false if it was
 * interrupted. */
bool run_measure(run_session *session, const run_settings *settings, const kernel_list *kernels,
                 const char *command, const char *command_line);
/* Ends the program if cases are missing and the user did not allow it; `hint` says what else the user can do. */
void run_check_missing(const run_settings *settings, size_t missing, bool gave_up,
                       const char *hint);
void run_end(run_session *session, kernel_list *kernels);

/* ---- how much of a result run and report show ---- */

#define RESULT_OPTION(type, member)                                                                \
    {                                                                                              \
        "all", NULL, "show every kernel and every shape", OPTION_FLAG, offsetof(type, member)      \
    }

/* Prints the table and the answer; all: every kernel and shape. The printed replay commands contain `plugins`. */
void result_show(bool all, const run_view *view, const char *database, const word_list *plugins,
                 const output_file *out);

/* ---- report --verify (replay.c): recomputes every error of a run and redraws its page ---- */

/* An error holds if every figure, the verdict and the hash of the output are the same. Prints whether the page differs
 * from the one drawn from its run, which errors do not hold, and why others could not be computed. file: a page or an
 * exported run; NULL: a run of the store. sample: number of errors, drawn at random; UINT64_MAX: all. Returns the code,
 * or a worse one: 4 if no error could be computed, 5 if an error or the page differs. */
exit_code report_verify(const char *file, uint64_t sample, const word_list *plugins,
                        const output_file *out, const run_view *view, exit_code code);

#endif

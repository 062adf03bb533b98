/* Shared by run and choose: make a plan, and measure it into a run of the store.
 *
 *     run_session session = {.cpu = -1};
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

/* Reads the machine, starts the worker, makes the plan. */
void run_prepare(run_session *session, const run_settings *settings, kernel_list *kernels);
/* Measures and judges the cases of the plan, and stores them in a new run as they come. False: it was
 * interrupted. */
bool run_measure(run_session *session, const run_settings *settings, const kernel_list *kernels,
                 const char *command, const char *command_line);
/* Ends the program if cases are missing and the user did not allow it; `hint`: what else can be done. */
void run_check_missing(const run_settings *settings, size_t missing, bool gave_up,
                       const char *hint);
void run_end(run_session *session, kernel_list *kernels);

/* ---- how much of a result run and report show ---- */

#define RESULT_OPTION(type, member)                                                                \
    {                                                                                              \
        "all", NULL, "show every kernel and every shape", OPTION_FLAG, offsetof(type, member)      \
    }

/* Prints the table and the answer; all: every kernel and shape. `plugins` go into the printed commands that repeat a case. */
void result_show(bool all, const run_view *view, const char *database, const word_list *plugins,
                 const output_file *out);

/* ---- report --verify (replay.c): every error of a run again, and its page drawn again ---- */

/* An error holds if every figure, the verdict and the hash of the output are the same. Prints whether the page differs
 * from the one that its run draws, the errors that do not hold, and why others could not be computed here. Returns the
 * code, or a worse one: 4 no error could be computed, 5 an error or the page differs. file: a page or an exported run;
 * NULL: a run of the store. sample: how many errors, drawn at random; UINT64_MAX: all. */
exit_code report_verify(const char *file, uint64_t sample, const word_list *plugins,
                        const output_file *out, const run_view *view, exit_code code);

#endif

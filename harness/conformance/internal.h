/* Functions shared by the files of this folder and by liblnjudge, which runs the same problems in its own process. */
#ifndef LNBENCH_CONFORMANCE_INTERNAL_H
#define LNBENCH_CONFORMANCE_INTERNAL_H

#include "conformance/conformance.h"
#include "judge/judge.h"
#include "judge/position.h"
#include "judge/runner.h"

/* ---- one call (call.c) ---- */

/* Returns the address of an offset in the runner's memory; NULL for -1. */
static inline char *judge_memory(const row_judge *judge, off_t at)
{
    return at < 0 ? NULL : judge->runner->memory + at;
}

/* Writes a block's inputs into the worker's memory, and fills the problem and offsets of the message. */
void judge_place(row_judge *judge, const judge_block *block, worker_message *message);

/* Sends a message after judge_place(); the runner's deadline is settings.deadline_seconds + more_seconds. False:
 * the kernel failed (see verdict), or the program is interrupted. */
bool judge_ask(row_judge *judge, const worker_message *message, double more_seconds,
               worker_reply *reply, case_verdict *verdict);

/* Returns a message to run a kernel on the block in this layout. */
worker_message judge_message(layout_name name, const judge_block *block,
                             const kernel_entry *kernel);

/* Runs a kernel with a message of judge_message(), and fills in its problem and offsets. y goes to `computed`, other
 * outputs into the judge. False: it failed, or an output besides y is wrong; see verdict. */
bool judge_run(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
               worker_message *message, void *computed, case_verdict *verdict);

/* Reads the outputs besides y: statistics go into the judge; the sum with the residual must be the one correct value.
 * False: it is wrong; see verdict. */
bool judge_read_beside(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                       const worker_message *message, unsigned outputs, case_verdict *verdict);

/* Gets the bounds of a block's rows into judge->bounds; *has: the kernel has bounds. False: it failed; see verdict. */
bool judge_bounds(row_judge *judge, const judge_block *block, const kernel_entry *kernel, bool *has,
                  case_verdict *verdict);

/* If loading the kernel changed floating-point control, a good verdict becomes state-changed. */
void report_change_at_load(const kernel_entry *kernel, case_judgement *judgement);

/* Returns the block without repeated rows. */
judge_block judge_head(const judge_block *block);

/* Returns the properties of a kernel that the judge needs. */
judged_kind judged_kind_of(const kernel_entry *kernel, bool has_bound);

/* Adds the error, bound and bits of one block to the figures of all blocks. */
void judge_add_figures(case_judgement *all, const case_judgement *one);

/* ---- a kernel on the problems of the covering array (covering_run.c) ----
 *
 *     covering_run run = {.judge = judge, .kernel = kernel, .first = &convention};
 *     for (...)
 *         covering_run_problem(&run, &tested, &block, &judgement);
 *     covering_run_conclude(&run, &verdict);
 */
typedef struct covering_run {
    row_judge *judge;
    const kernel_entry *kernel;
    const ln_convention *first; /* the convention of the run; borrowed */
    unsigned given, left_out;   /* bits of the statistics that calls wrote, and did not write */
    position_errors errors;     /* of all problems, by position */
    mistakes_seen mistakes;
    bool has_bound;
    size_t judged, unsupported;
    faults_seen limits;   /* all type-limited problems */
    combination limit_of; /* the first of them, and its verdict */
    case_verdict limit;
} covering_run;

/* Runs a problem, or the part of it that the kernel supports (*tested becomes that). block NULL: makes the rows. */
void covering_run_problem(covering_run *run, combination *tested, const judge_block *block,
                          case_judgement *judgement);
/* Notes the mistakes that explain a failure; covering_run_problem() calls it. */
void covering_run_note(covering_run *run, size_t hidden, const case_judgement *judgement);
/* Describes the one mistake that explains the failures, at two hidden sizes or more, in words that follow SAYS_MISTAKE.
 * False: there is none. */
bool covering_run_mistake(const covering_run *run, const ln_convention *convention,
                          char why[ROW_FAULT_LENGTH]);
/* Changes a verdict of pass if errors depend on the position, or problems are type-limited or unsupported. */
void covering_run_conclude(const covering_run *run, case_verdict *verdict);

/* Runs all problems of a task. */
void run_combinations(row_judge *judge, const conformance_blocks *blocks,
                      const kernel_entry *kernel, case_judgement *judgement);

/* Finds the smallest problem that fails, and describes it in the verdict (minimize.c). */
void minimize_fault(covering_run *run, const combination *failing, const faults_seen *seen,
                    case_verdict *verdict);

#endif

/* What the files of this folder share, and liblnjudge, which runs the same problems in its own process. */
#ifndef LNBENCH_CONFORMANCE_INTERNAL_H
#define LNBENCH_CONFORMANCE_INTERNAL_H

#include "conformance/conformance.h"
#include "judge/judge.h"
#include "judge/position.h"
#include "judge/runner.h"

/* ---- one call (call.c) ---- */

/* Memory of the runner's at an offset of an order's; NULL of -1. */
static inline char *judge_memory(const row_judge *judge, off_t at)
{
    return at < 0 ? NULL : judge->runner->memory + at;
}

/* Writes a block's inputs into the worker's memory and fills the order's problem and offsets. */
void judge_place(row_judge *judge, const judge_block *block, work_order *order);

/* Sends an order that is placed; the runner has so many seconds more than settings.deadline_seconds. False:
 * the kernel failed, see verdict; or the program is interrupted. */
bool judge_ask(row_judge *judge, const work_order *order, double more_seconds, worker_reply *reply,
               case_verdict *verdict);

/* An order to judge a kernel on the block in this layout. */
work_order judge_order(layout_name name, const judge_block *block, const kernel_entry *kernel);

/* Runs a kernel as an order to judge says; problem and offsets are filled in. Outputs go to `computed` and into
 * the judge. False: it failed, or what came beside y is wrong; see verdict. */
bool judge_run(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
               work_order *order, void *computed, case_verdict *verdict);

/* What came beside y: statistics into the judge, the sum held to its one right value. False: it is
 * wrong, see verdict. */
bool judge_read_beside(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                       const work_order *order, unsigned outputs, case_verdict *verdict);

/* The kernel's bounds for the block's rows into judge->bounds; *has tells whether it claims any.
 * False: bound() itself failed, see verdict. */
bool judge_bounds(row_judge *judge, const judge_block *block, const kernel_entry *kernel, bool *has,
                  case_verdict *verdict);

/* Where loading the kernel set floating-point control: a verdict that could stand otherwise is state-changed. */
void blame_load(const kernel_entry *kernel, case_judgement *judgement);

/* A block without the rows that come again. */
judge_block judge_head(const judge_block *block);

/* What the judge needs to know of a kernel. */
judged_kind judged_kind_of(const kernel_entry *kernel, bool has_bound);

/* One block's error, bound and bits into the figures of all. */
void judge_add_figures(case_judgement *all, const case_judgement *one);

/* ---- a kernel on the problems of the covering array (covering_run.c) ----
 *
 *     covering_run run = {.judge = judge, .kernel = kernel, .first = &convention};
 *     for (...)
 *         covering_run_ask(&run, &asked, &block, &judgement);
 *     covering_run_conclude(&run, &verdict);
 *     position_free(&run.errors);
 */
typedef struct covering_run {
    row_judge *judge;
    const kernel_entry *kernel;
    const ln_convention *first; /* of the run; borrowed */
    unsigned given, left_out;   /* numbers a row, by role: in a call that asked for them */
    position_errors errors;     /* by position, of all problems */
    mistakes_seen mistakes;
    bool has_bound;
    size_t judged, declined;
    faults_seen limits; /* and the first of them */
    combination limit_of;
    case_verdict limit;
} covering_run;

/* One problem, or as much of it as the kernel takes: *asked becomes that. Block NULL: on rows of its own. */
void covering_run_ask(covering_run *run, combination *asked, const judge_block *block,
                      case_judgement *judgement);
/* Of one that is wrong: what explains it; covering_run_ask() does so. And the one mistake that explains all
 * of them, at two hidden sizes or more, in words that follow SAYS_MISTAKE; false: there is none. */
void covering_run_note(covering_run *run, size_t hidden, const case_judgement *judgement);
bool covering_run_mistake(const covering_run *run, const ln_convention *convention,
                          char why[ROW_FAULT_LENGTH]);
/* Into a verdict that is right: what all problems together show, and what else there is to say. */
void covering_run_conclude(const covering_run *run, case_verdict *verdict);

/* All problems of a task. */
void run_combinations(row_judge *judge, const conformance_blocks *blocks,
                      const kernel_entry *kernel, case_judgement *judgement);

/* minimize.c. Says in the verdict, which is wrong, what it takes. */
void minimize_fault(covering_run *run, const combination *asked, const faults_seen *seen,
                    case_verdict *verdict);

#endif

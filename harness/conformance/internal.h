/* What the files of this folder share. */
#ifndef LNBENCH_CONFORMANCE_INTERNAL_H
#define LNBENCH_CONFORMANCE_INTERNAL_H

#include "judge/judge.h"
#include "judge/runner.h"
#include "conformance/checks.h"

/* ---- one call (call.c) ---- */

/* Memory of the runner's at an offset of an order's; NULL of -1. */
static inline char *judge_memory(const row_judge *judge, off_t at)
{
    return at < 0 ? NULL : judge->runner->memory + at;
}

/* Room for so many bytes there. */
void judge_reach(row_judge *judge, size_t bytes);

/* Writes a block's inputs into the worker's memory, where the last order did not have them there, and fills
 * the order's problem and offsets. */
void judge_place(row_judge *judge, const judge_block *block, work_order *order);

/* Sends an order that is placed; the runner has so many seconds more than settings.deadline_seconds. False:
 * the kernel failed, see verdict; or the program is interrupted. */
bool judge_ask(row_judge *judge, const work_order *order, double more_seconds, worker_reply *reply,
               case_verdict *verdict);

/* Runs a kernel in one layout, or as an order to judge says; problem and offsets are filled in. Outputs go to
 * `computed` and into the judge. False: it failed, or what came beside y is wrong; see verdict. */
bool judge_run(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
               layout_name name, void *computed, case_verdict *verdict);
bool judge_run_as(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                  work_order *order, void *computed, case_verdict *verdict);

/* What came beside y: statistics into the judge, the sum held to its one right value. False: it is
 * wrong, see verdict. */
bool judge_read_beside(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                       const work_order *order, unsigned outputs, case_verdict *verdict);

/* The kernel's bounds for the block's rows into judge->bounds; *has tells whether it claims any.
 * False: bound() itself failed, see verdict. */
bool judge_bounds(row_judge *judge, const judge_block *block, const kernel_entry *kernel, bool *has,
                  case_verdict *verdict);

/* Orders that are sent together before their answers are wanted, so that a message has many of them.
 * judge_bounds(), judge_run() and judge_run_as() take an answer from there if the next one is to their
 * order, and else ask.
 *
 *     batch_begin(judge);
 *     batch_add_bounds(judge, block, kernel);
 *     batch_add(judge, block, &order);                   // as often as batch_has_room()
 *     batch_send(judge);
 *     judge_bounds(judge, block, kernel, ...);           // in that order
 *     judge_run_as(judge, block, kernel, &order, ...);
 */
void batch_begin(row_judge *judge);
bool batch_has_room(const row_judge *judge, size_t orders);
void batch_add(row_judge *judge, const judge_block *block, const work_order *order);
void batch_add_bounds(row_judge *judge, const judge_block *block, const kernel_entry *kernel);
void batch_send(row_judge *judge);
/* Whether answers are left that were not asked for. */
bool batch_is_waiting(const row_judge *judge);

/* As judge_kernel(), without a word of what loading the kernel changed; and that word: where loading
 * it set floating-point control, a verdict that could stand otherwise is state-changed. */
void judge_as_it_is(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                    case_judgement *judgement);
void blame_load(const kernel_entry *kernel, case_judgement *judgement);

/* A block without the rows that come again. */
judge_block judge_head(const judge_block *block);

/* What the judge needs to know of a kernel. */
judged_kind judged_kind_of(const kernel_entry *kernel, bool has_bound);

/* ---- checks ---- */

/* Kernels that claim to be correctly rounded (exact.c). */
size_t exact_blocks(ln_operation kind);
ln_problem exact_problem(const conformance_task *task, size_t index);
void exact_make(row_judge *judge, const conformance_task *task, size_t index, judge_block *block);
/* As judge_kernel(). What is not the correctly rounded value is inaccurate. */
void exact_judge(row_judge *judge, const judge_block *block, size_t index,
                 const kernel_entry *kernel, case_judgement *judgement);

/* A kernel on the problems of a task of combinations (covering_run.c). */
void run_combinations(row_judge *judge, const conformance_task *task,
                      const conformance_blocks *blocks, const kernel_entry *kernel,
                      case_judgement *judgement);

#endif

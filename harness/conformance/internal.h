/* What the files of this folder share. */
#ifndef LNBENCH_CONFORMANCE_INTERNAL_H
#define LNBENCH_CONFORMANCE_INTERNAL_H

#include "judge/rows.h"
#include "judge/runner.h"
#include "conformance/checks.h"

/* Memory of the runner's at an offset of an order's; NULL of -1. */
static inline char *judge_memory(const row_judge *judge, off_t at)
{
    return at < 0 ? NULL : judge->runner->memory + at;
}

/* Writes a block's inputs into the worker's arena and fills the order's problem and offsets. */
bool judge_place(row_judge *judge, const judge_block *block, work_order *order, error *err);

/* The same from *end on, which moves; `last`: an order whose inputs are there already, or NULL. */
bool judge_place_at(row_judge *judge, const judge_block *block, work_order *order,
                    const work_order *last, off_t *end, error *err);

/* Without the outputs that its layout does not have. */
work_order order_to_send(const work_order *order);

/* The orders for a kernel's bounds of the block's rows: how many. */
size_t bound_orders(const row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                    work_order orders[2]);

/* Runs it in one layout; outputs in `computed`. False with err.code FINE: the kernel failed, see
 * verdict. */
bool judge_run(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
               layout_name name, void *computed, case_verdict *verdict, error *err);

/* The same for an order to judge that says more; problem and offsets are filled in. */
bool judge_run_as(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                  work_order *order, void *computed, case_verdict *verdict, error *err);

/* What came beside y: statistics into the judge, the sum held to its one right value. False: it is
 * wrong, see verdict. */
bool judge_read_beside(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                       const work_order *order, unsigned outputs, case_verdict *verdict);

/* Sends an order that is placed; the runner has so many seconds more than settings.deadline_seconds. False
 * with err.code FINE: the kernel failed, see verdict. */
bool judge_ask(row_judge *judge, const work_order *order, double more_seconds, worker_reply *reply,
               case_verdict *verdict, error *err);

/* The kernel's bounds for the block's rows into judge->bounds; *has tells whether it claims any.
 * False with err.code FINE: bound() itself failed, see verdict. */
bool judge_bounds(row_judge *judge, const judge_block *block, const kernel_entry *kernel, bool *has,
                  case_verdict *verdict, error *err);

/* As judge_kernel(), without a word of what loading the kernel changed; and that word: where loading
 * it set floating-point control, a verdict that could stand otherwise is state-changed. */
bool judge_as_it_is(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                    case_judgement *judgement, error *err);
void conformance_blame_load(const kernel_entry *kernel, case_judgement *judgement);

/* A kernel on the problems of a task of combinations. */
bool examine_combinations(row_judge *judge, const conformance_task *task,
                          const conformance_blocks *blocks, const kernel_entry *kernel,
                          case_judgement *judgement, error *err);

/* What the judge needs to know of a kernel. */
judged_kind judged_kind_of(const kernel_entry *kernel, bool has_bound);

#endif

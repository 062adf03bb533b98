/* Orders that are sent together before their answers are wanted, so that a message has many of them.
 * Whoever asks later, as judge_run() and judge_bounds() do, takes an answer from here if the next one
 * is to that order, and else asks.
 *
 *     batch_begin(judge);
 *     if (!batch_add_bounds(judge, block, kernel, &err) ||
 *         !batch_add(judge, block, &order, &err) ...     // as often as batch_has_room()
 *     batch_send(judge);
 *     judge_bounds(judge, block, kernel, ...);           // in that order
 *     judge_run_as(judge, block, kernel, &order, ...);
 */
#ifndef LNBENCH_BATCH_H
#define LNBENCH_BATCH_H

#include "conformance/internal.h"

void batch_begin(row_judge *judge);
bool batch_has_room(const row_judge *judge, size_t orders);
/* An order to judge. False: memory ran out. */
bool batch_add(row_judge *judge, const judge_block *block, const work_order *order, error *err);
/* Those that judge_bounds() makes. */
bool batch_add_bounds(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                      error *err);
/* Those in every layout that the kernel takes. */
bool batch_add_layouts(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                       error *err);
void batch_send(row_judge *judge);
/* The answer, if it is there; *order is then as it was sent, with the offsets of its tensors. What is not
 * asked for in turn is forgotten. */
const worker_reply *batch_take(row_judge *judge, const judge_block *block, work_order *order);
/* Where other orders may have their tensors. */
off_t batch_end(const row_judge *judge);

#endif

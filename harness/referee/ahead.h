/* Orders that are sent together before their answers are wanted, so that a message has many of them.
 * Whoever asks later, as judge_run() and judge_bounds() do, takes an answer from here if the next one
 * is to that order, and else asks.
 *
 *     ahead_begin(judge);
 *     if (!ahead_add_bounds(judge, block, kernel, &err) ||
 *         !ahead_add(judge, block, &order, &err) ...     // as often as ahead_has_room()
 *     ahead_send(judge);
 *     judge_bounds(judge, block, kernel, ...);           // in that order
 *     judge_run_as(judge, block, kernel, &order, ...);
 */
#ifndef LNBENCH_AHEAD_H
#define LNBENCH_AHEAD_H

#include "referee/internal.h"

void ahead_begin(row_judge *judge);
bool ahead_has_room(const row_judge *judge, size_t orders);
/* An order to judge. False: memory ran out. */
bool ahead_add(row_judge *judge, const judge_block *block, const work_order *order, error *err);
/* Those that judge_bounds() makes. */
bool ahead_add_bounds(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                      error *err);
/* Those in every layout that the kernel takes. */
bool ahead_add_layouts(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                       error *err);
void ahead_send(row_judge *judge);
/* The answer, if it is there; *order is then as it was sent, with the offsets of its tensors. What is not
 * asked for in turn is forgotten. */
const worker_reply *ahead_take(row_judge *judge, const judge_block *block, work_order *order);
/* Where other orders may have their tensors. */
off_t ahead_end(const row_judge *judge);

#endif

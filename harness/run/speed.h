/* How a worker is told of a group that it is to time: what run and duet share. */
#ifndef LNBENCH_TIMED_GROUP_H
#define LNBENCH_TIMED_GROUP_H

#include "judge/judge.h"
#include "run/plan.h"

/* Bytes of x or of y of one judged block. */
size_t timed_group_bytes(const speed_group *group);

/* The order that begins the group; CPU, repetitions, seed and tensors are still to be filled in. */
work_order timed_group_order(const speed_group *group, const machine_facts *machine);

/* Puts bytes that begin with a line of their own at *end of the runner's memory, which moves on; *at is
 * where they are, -1 where there is no data. */
void timed_group_put(char *memory, off_t *end, off_t *at, const void *data, size_t bytes);

/* Puts the tensors of two judged blocks into the worker's arena, and into *begin where they are;
 * from *end on there is room for as many expected outputs of a block. */
void timed_group_place(const speed_group *group, const judge_block blocks[2],
                       worker_process *worker, size_t outputs, work_order *begin, off_t *end);

#endif

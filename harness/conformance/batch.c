#include "conformance/batch.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 32 << 20 }; /* of tensors */

typedef struct order_batch {
    kernel_runner *runner;
    const judge_block *blocks[BATCH_MOST];
    work_order orders[BATCH_MOST];
    worker_reply replies[BATCH_MOST];
    size_t count, answered, next;
    off_t end;
} order_batch;

void batch_begin(row_judge *judge)
{
    if (!judge->batch && judge->runner->ask_all)
        judge->batch = malloc(sizeof *judge->batch);
    if (!judge->batch)
        return;
    judge->batch->runner = judge->runner;
    judge->batch->count = judge->batch->answered = judge->batch->next = 0;
    judge->batch->end = 0;
    judge->placed = NULL;
}

bool batch_has_room(const row_judge *judge, size_t orders)
{
    const order_batch *batch = judge->batch;
    return batch && batch->count + orders <= BATCH_MOST && batch->end < MOST_BYTES;
}

/* Inputs that the order before has are there. */
bool batch_add(row_judge *judge, const judge_block *block, const work_order *order, error *err)
{
    order_batch *batch = judge->batch;
    if (!batch_has_room(judge, 1))
        return true;
    work_order *added = &batch->orders[batch->count];
    const work_order *last =
        batch->count > 0 && batch->blocks[batch->count - 1] == block ? added - 1 : NULL;
    *added = *order;
    if (!judge_place_at(judge, block, added, last, &batch->end, err))
        return false;
    batch->blocks[batch->count++] = block;
    return true;
}

bool batch_add_bounds(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                      error *err)
{
    work_order orders[2];
    bool fine = true;
    size_t count = bound_orders(judge, block, kernel, orders);
    for (size_t i = 0; fine && i < count; i++)
        fine = batch_add(judge, block, &orders[i], err);
    return fine;
}

bool batch_add_layouts(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                       error *err)
{
    bool fine = true;
    for (int name = 0; fine && name < LAYOUT_NAMES; name++) {
        if (name == LAYOUT_IN_PLACE && (kernel->facts.traits & LN_TRAIT_NOT_IN_PLACE))
            continue;
        work_order order = worker_order(ORDER_JUDGE, kernel);
        order.layout = layout_named((layout_name)name, operations[block->operation], block->hidden);
        fine = batch_add(judge, block, &order, err);
    }
    return fine;
}

void batch_send(row_judge *judge)
{
    order_batch *batch = judge->batch;
    work_order sent[BATCH_MOST];
    if (!batch || batch->count == 0)
        return;
    for (size_t i = 0; i < batch->count; i++)
        sent[i] = order_to_send(&batch->orders[i]);
    batch->answered = batch->runner->ask_all(batch->runner, sent, batch->count,
                                             judge->settings.deadline_seconds, batch->replies);
}

static bool is_waiting(const order_batch *batch)
{
    return batch && batch->next < batch->answered;
}

static bool is_same(const work_order *a, const work_order *b)
{
    return a->kind == b->kind && a->plugin == b->plugin && a->kernel == b->kernel &&
           memcmp(&a->layout, &b->layout, sizeof a->layout) == 0 && a->seed == b->seed &&
           a->chance == b->chance && a->place == b->place && a->rows_at_once == b->rows_at_once &&
           a->again == b->again && a->threads == b->threads;
}

const worker_reply *batch_take(row_judge *judge, const judge_block *block, work_order *order)
{
    order_batch *batch = judge->batch;
    if (!is_waiting(batch) || batch->runner != judge->runner)
        return NULL;
    const size_t i = batch->next;
    if (batch->blocks[i] != block || !is_same(&batch->orders[i], order))
        return NULL;
    batch->next++;
    *order = batch->orders[i];
    return &batch->replies[i];
}

off_t batch_end(const row_judge *judge)
{
    return is_waiting(judge->batch) ? judge->batch->end : 0;
}

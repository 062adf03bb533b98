#include "referee/ahead.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 32 << 20 }; /* of tensors */

typedef struct asked_ahead {
    kernel_runner *runner;
    const judge_block *blocks[BATCH_MOST];
    work_order orders[BATCH_MOST];
    worker_reply replies[BATCH_MOST];
    size_t count, answered, next;
    off_t end;
} asked_ahead;

void ahead_begin(row_judge *judge)
{
    if (!judge->ahead && judge->runner->ask_all)
        judge->ahead = malloc(sizeof *judge->ahead);
    if (!judge->ahead)
        return;
    judge->ahead->runner = judge->runner;
    judge->ahead->count = judge->ahead->answered = judge->ahead->next = 0;
    judge->ahead->end = 0;
    judge->placed = NULL;
}

bool ahead_has_room(const row_judge *judge, size_t orders)
{
    const asked_ahead *ahead = judge->ahead;
    return ahead && ahead->count + orders <= BATCH_MOST && ahead->end < MOST_BYTES;
}

/* Inputs that the order before has are there. */
bool ahead_add(row_judge *judge, const judge_block *block, const work_order *order, error *err)
{
    asked_ahead *ahead = judge->ahead;
    if (!ahead_has_room(judge, 1))
        return true;
    work_order *added = &ahead->orders[ahead->count];
    const work_order *last =
        ahead->count > 0 && ahead->blocks[ahead->count - 1] == block ? added - 1 : NULL;
    *added = *order;
    if (!judge_place_at(judge, block, added, last, &ahead->end, err))
        return false;
    ahead->blocks[ahead->count++] = block;
    return true;
}

bool ahead_add_bounds(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                      error *err)
{
    work_order orders[2];
    bool fine = true;
    size_t count = bound_orders(judge, block, kernel, orders);
    for (size_t i = 0; fine && i < count; i++)
        fine = ahead_add(judge, block, &orders[i], err);
    return fine;
}

bool ahead_add_layouts(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                       error *err)
{
    bool fine = true;
    for (int name = 0; fine && name < LAYOUT_NAMES; name++) {
        if (name == LAYOUT_IN_PLACE && (kernel->facts.traits & LN_TRAIT_NOT_IN_PLACE))
            continue;
        work_order order = worker_order(ORDER_JUDGE, kernel);
        order.layout = layout_named((layout_name)name, operations[block->operation], block->hidden);
        fine = ahead_add(judge, block, &order, err);
    }
    return fine;
}

void ahead_send(row_judge *judge)
{
    asked_ahead *ahead = judge->ahead;
    work_order sent[BATCH_MOST];
    if (!ahead || ahead->count == 0)
        return;
    for (size_t i = 0; i < ahead->count; i++)
        sent[i] = order_to_send(&ahead->orders[i]);
    ahead->answered = ahead->runner->ask_all(ahead->runner, sent, ahead->count,
                                             judge->settings.deadline_seconds, ahead->replies);
}

static bool is_waiting(const asked_ahead *ahead)
{
    return ahead && ahead->next < ahead->answered;
}

static bool is_same(const work_order *a, const work_order *b)
{
    return a->kind == b->kind && a->plugin == b->plugin && a->kernel == b->kernel &&
           memcmp(&a->layout, &b->layout, sizeof a->layout) == 0 && a->seed == b->seed &&
           a->chance == b->chance && a->place == b->place && a->rows_at_once == b->rows_at_once &&
           a->again == b->again && a->threads == b->threads;
}

const worker_reply *ahead_take(row_judge *judge, const judge_block *block, work_order *order)
{
    asked_ahead *ahead = judge->ahead;
    if (!is_waiting(ahead) || ahead->runner != judge->runner)
        return NULL;
    const size_t i = ahead->next;
    if (ahead->blocks[i] != block || !is_same(&ahead->orders[i], order))
        return NULL;
    ahead->next++;
    *order = ahead->orders[i];
    return &ahead->replies[i];
}

off_t ahead_end(const row_judge *judge)
{
    return is_waiting(judge->ahead) ? judge->ahead->end : 0;
}

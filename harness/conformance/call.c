/* One call of a kernel: its inputs into the worker's memory, its outputs back, alone or in a batch of orders;
 * and what is judged of one block without a check: the figures of the table. */
#include "conformance/conformance.h"
#include "conformance/internal.h"
#include "base/allocate.h"
#include "base/die.h"
#include "base/hash.h"
#include "base/text.h"
#include "domain/poison.h"
#include "domain/promise.h"
#include "exact/scale.h"
#include "metrics/storage.h"
#include <math.h>
#include <stdio.h>

typedef struct order_batch {
    kernel_runner *runner;
    const judge_block *blocks[BATCH_MOST];
    work_order orders[BATCH_MOST];
    worker_reply replies[BATCH_MOST];
    size_t count, answered, next;
    off_t end;
} order_batch;

/* ---- tensors in the worker's memory ---- */

/* Whether a call on the block may have the tensor: as its inputs are there. */
static bool has_tensor(const judge_block *block, size_t i)
{
    const tensor_role *role = &operations[block->operation]->roles[i];
    unsigned there = 0;
    for (size_t input = 0; input < ROLES_MOST; input++)
        there |= block->inputs[input] ? ROLE_BIT(input) : 0;
    return role->output ? (role->with & ~there) == 0 : there & ROLE_BIT(i);
}

/* The next place, 64-byte aligned; -1 for an absent tensor. */
static off_t take_offset(off_t *end, bool present, size_t bytes)
{
    off_t at = *end;
    if (!present)
        return -1;
    *end += (off_t)((bytes + 63) / 64 * 64);
    return at;
}

void judge_reach(row_judge *judge, size_t bytes)
{
    judge->runner->reserve(judge->runner, bytes);
}

/* Where the tensors of an order go, from *end on, which moves behind them. Inputs are those of `last`, where
 * there is one; `there`: all are there already. Nothing that an earlier kernel left in the outputs may pass
 * for this one's. */
static void place_at(row_judge *judge, const judge_block *block, const work_order *last, bool there,
                     work_order *order, off_t *end)
{
    const operation *what = operations[block->operation];
    role_extent extents[ROLES_MOST];
    order->operation = block->operation;
    order->problem = judge_block_call(block).problem;
    for (size_t i = 0; i < what->count; i++) { /* room for any accumulator */
        extents[i] = role_extent_of(&what->roles[i], &order->problem, LN_F64);
        order->at.tensors[i] =
            last && !what->roles[i].output
                ? last->at.tensors[i]
                : take_offset(end, has_tensor(block, i), extent_bytes(&extents[i]));
    }
    order->at.facts =
        last ? last->at.facts : take_offset(end, true, block->rows * sizeof(ln_row_facts));
    order->at.bounds = take_offset(end, true, block->rows * sizeof(ln_bound));
    if (there)
        return;
    judge_reach(judge, (size_t)*end);
    for (size_t i = 0; i < what->count; i++) {
        char *at = judge_memory(judge, order->at.tensors[i]);
        if (at && !last && !what->roles[i].output)
            memcpy(at, block->inputs[i], extent_bytes(&extents[i]));
        else if (at && what->roles[i].output && what->roles[i].shape == SHAPE_TABLE)
            memset(at, POISON, extent_bytes(&extents[i]));
    }
    ln_row_facts *facts = (void *)judge_memory(judge, order->at.facts);
    for (size_t row = 0; !last && block->results && row < block->rows; row++)
        facts[row] = block->results[row].facts;
}

void judge_place(row_judge *judge, const judge_block *block, work_order *order)
{
    const off_t begin = batch_is_waiting(judge) ? judge->batch->end : 0;
    off_t end = begin;
    const bool there = judge->placed == block && judge->placed_at == begin;
    judge->placed = block;
    judge->placed_at = begin;
    place_at(judge, block, NULL, there, order, &end);
}

/* Without the outputs that its layout does not have. */
static work_order order_to_send(const work_order *order)
{
    const operation *what = operations[order->operation];
    work_order sent = *order;
    for (size_t i = 0; order->kind == ORDER_JUDGE && i < what->count; i++)
        if (what->roles[i].output && i != what->result && !(order->layout.outputs & 1u << i))
            sent.at.tensors[i] = -1;
    return sent;
}

/* ---- orders ---- */

void batch_begin(row_judge *judge)
{
    if (!judge->batch && judge->runner->ask_all)
        judge->batch = allocate(sizeof *judge->batch);
    if (!judge->batch)
        return;
    judge->batch->runner = judge->runner;
    judge->batch->count = judge->batch->answered = judge->batch->next = 0;
    judge->batch->end = 0;
    judge->placed = NULL;
}

bool batch_has_room(const row_judge *judge, size_t orders)
{
    enum { MOST_BYTES = 32 << 20 }; /* of tensors */
    const order_batch *batch = judge->batch;
    return batch && batch->count + orders <= BATCH_MOST && batch->end < MOST_BYTES;
}

/* Inputs that the order before has are there. */
void batch_add(row_judge *judge, const judge_block *block, const work_order *order)
{
    order_batch *batch = judge->batch;
    if (!batch_has_room(judge, 1))
        return;
    work_order *added = &batch->orders[batch->count];
    const work_order *last =
        batch->count > 0 && batch->blocks[batch->count - 1] == block ? added - 1 : NULL;
    *added = *order;
    place_at(judge, block, last, false, added, &batch->end);
    batch->blocks[batch->count++] = block;
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

bool batch_is_waiting(const row_judge *judge)
{
    return judge->batch && judge->batch->next < judge->batch->answered;
}

static bool is_same(const work_order *a, const work_order *b)
{
    return a->kind == b->kind && a->plugin == b->plugin && a->kernel == b->kernel &&
           memcmp(&a->layout, &b->layout, sizeof a->layout) == 0 && a->seed == b->seed &&
           a->chance == b->chance && a->place == b->place && a->again == b->again &&
           a->rows_at_once == b->rows_at_once && a->threads == b->threads;
}

/* Whether it is an answer, or else what it says of the kernel. */
static bool judge_heed(const worker_reply *reply, case_verdict *verdict)
{
    if (reply->kind != REPLY_FAILED)
        return true;
    reply_was_interrupted(reply);
    *verdict = (case_verdict){.kind = reply->verdict};
    verdict_say(verdict, "%s", reply->text);
    return false;
}

bool judge_ask(row_judge *judge, const work_order *order, double more_seconds, worker_reply *reply,
               case_verdict *verdict)
{
    judge->runner->ask(judge->runner, order, judge->settings.deadline_seconds + more_seconds,
                       reply);
    return judge_heed(reply, verdict);
}

/* The answer to an order on a block, which may have come already; *order is then as it was sent. What was
 * sent and is not asked for in turn is forgotten. */
static bool ask_of(row_judge *judge, const judge_block *block, work_order *order,
                   worker_reply *reply, case_verdict *verdict)
{
    order_batch *batch = judge->batch;
    if (batch_is_waiting(judge) && batch->runner == judge->runner &&
        batch->blocks[batch->next] == block && is_same(&batch->orders[batch->next], order)) {
        *order = batch->orders[batch->next];
        *reply = batch->replies[batch->next++];
        return judge_heed(reply, verdict);
    }
    judge_place(judge, block, order);
    const work_order sent = order_to_send(order);
    return judge_ask(judge, &sent, 0, reply, verdict);
}

/* ---- what came back ---- */

/* A statistic as a kernel left it, of its accumulator's type; in `rounded` rounded to f32 but for f64
 * rows. What was not written, or not asked for, has all bits set. */
static void read_statistics(const char *values, const judge_block *block,
                            const kernel_entry *kernel, double *given, double *rounded)
{
    ln_type type = kernel->facts.accumulator;
    size_t size = dtype_size(type);
    memset(given, 0xff, block->rows * sizeof *given);
    memset(rounded, 0xff, block->rows * sizeof *rounded);
    for (size_t row = 0; values && row < block->rows; row++) {
        if (is_statistic_poison(values + row * size, size))
            continue;
        given[row] = storage_load(type, values, row);
        if (isnan(given[row])) /* whatever bits it has */
            given[row] = NAN;
        if (judge_is_given(&given[row]))
            rounded[row] = block->storage == LN_F64 ? given[row] : (double)(float)given[row];
    }
}

/* One rounding, so one right answer. */
static bool check_sum(const char *sums, const judge_block *block, case_verdict *verdict)
{
    size_t elements = block->rows * block->hidden, size = dtype_size(block->storage);
    int digits = block->storage == LN_F64 ? 17 : 9;
    for (size_t i = 0; i < elements; i++) {
        double sum = judge_right_sum(block, i), given = storage_load(block->storage, sums, i);
        if (given == sum || (isnan(given) && isnan(sum)))
            continue;
        verdict->kind = VERDICT_INACCURATE;
        if (judge_is_poison(sums + i * size, size))
            snprintf(verdict->detail, sizeof verdict->detail,
                     "row %zu, column %zu: nothing was written of the sum with the residual",
                     i / block->hidden, i % block->hidden);
        else
            number_print(
                verdict->detail, sizeof verdict->detail,
                "row %zu, column %zu: the sum with the residual is %.*g where %.*g is right",
                i / block->hidden, i % block->hidden, digits, given, digits, sum);
        return false;
    }
    return true;
}

bool judge_read_beside(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                       const work_order *order, unsigned outputs, case_verdict *verdict)
{
    const operation *what = operations[block->operation];
    bool right = true, any = false;
    for (size_t i = 0; i < what->count; i++)
        any |= role_is_statistic(&what->roles[i]) && (outputs & ROLE_BIT(i));
    for (size_t i = 0; i < what->count; i++) {
        const char *values =
            outputs & ROLE_BIT(i) ? judge_memory(judge, order->at.tensors[i]) : NULL;
        if (role_is_statistic(&what->roles[i]) && any)
            read_statistics(values, block, kernel, judge->given[i], judge->rounded[i]);
        else if (role_is_sum(what, i) && values)
            right = right && check_sum(values, block, verdict);
    }
    return right;
}

bool judge_run_as(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                  work_order *order, void *computed, case_verdict *verdict)
{
    worker_reply reply;
    const size_t result = operations[block->operation]->result;
    if (!ask_of(judge, block, order, &reply, verdict))
        return false;
    judge->upper_halves |= reply.value == 1;
    snprintf(judge->taken, sizeof judge->taken, "%.63s", reply.text);
    memcpy(computed, judge_memory(judge, order->at.tensors[result]), judge_bytes(block));
    return judge_read_beside(judge, block, kernel, order, order->layout.outputs, verdict);
}

static work_order order_in(layout_name name, const judge_block *block, const kernel_entry *kernel)
{
    work_order order = worker_order(ORDER_JUDGE, kernel);
    order.layout = layout_named(name, operations[block->operation], block->hidden);
    order.again = name == LAYOUT_BEHIND; /* the same bits again */
    return order;
}

bool judge_run(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
               layout_name name, void *computed, case_verdict *verdict)
{
    work_order order = order_in(name, block, kernel);
    return judge_run_as(judge, block, kernel, &order, computed, verdict);
}

/* ---- bounds ---- */

/* Sums of f32 and f64 rows in a 16-bit type would leave nothing to judge: a kernel that says so is
 * held to sums in f32. */
judged_kind judged_kind_of(const kernel_entry *kernel, bool has_bound)
{
    const kernel_facts *facts = &kernel->facts;
    bool long_rows = facts->storage == LN_F32 || facts->storage == LN_F64;
    bool short_sums = facts->accumulator == LN_BF16 || facts->accumulator == LN_F16;
    return (judged_kind){.has_bound = has_bound,
                         .flushes = facts->traits & LN_TRAIT_FLUSHES_SUBNORMALS,
                         .accumulator = long_rows && short_sums ? LN_F32 : facts->accumulator,
                         .given = facts->accumulator};
}

/* A bound that leaves no correct digit is none. A NaN stays: nothing holds against it. Returns the
 * largest. */
static double measure_bounds(row_judge *judge, const judge_block *block, unsigned traits)
{
    double most = 0;
    for (size_t row = 0; block->results && row < block->rows; row++) {
        metrics_row judged = judge_metrics_row(block, row);
        double row_ulp =
            (traits & LN_TRAIT_ROUNDED_LAST ? ln_bound_row_ulp_rounded_last
                                            : ln_bound_row_ulp)(&judge->bounds[row], &judged);
        if (row_ulp >= dtype_no_digit(block->storage)) {
            judge->bounds[row] = (ln_bound){INFINITY, 0};
            row_ulp = INFINITY;
        }
        judge->by_row[row].bound_row_ulp = row_ulp;
        most = fmax(most, row_ulp);
    }
    return most;
}

/* The orders for a kernel's bounds of the block's rows: how many. Each row gets its share of the chance, so
 * that all keep within their bounds at once. */
static size_t bound_orders(const row_judge *judge, const judge_block *block,
                           const kernel_entry *kernel, work_order orders[2])
{
    const double chance = judge->settings.chance / (double)block->rows;
    size_t count = 0;
    if (!kernel || !kernel->facts.has_bound)
        return 0;
    for (int probable = chance > 0; probable >= 0; probable--) {
        orders[count] = worker_order(ORDER_BOUND, kernel);
        orders[count].count = block->rows;
        orders[count++].chance = probable ? chance : 0;
    }
    return count;
}

void batch_add_bounds(row_judge *judge, const judge_block *block, const kernel_entry *kernel)
{
    work_order orders[2];
    size_t count = bound_orders(judge, block, kernel, orders);
    for (size_t i = 0; i < count; i++)
        batch_add(judge, block, &orders[i]);
}

bool judge_bounds(row_judge *judge, const judge_block *block, const kernel_entry *kernel, bool *has,
                  case_verdict *verdict)
{
    work_order orders[2];
    const size_t count = bound_orders(judge, block, kernel, orders);
    *has = false;
    judge->probable_row_ulp = NAN;
    for (size_t i = 0; i < count; i++) {
        worker_reply reply;
        case_verdict failed = {0};
        if (!ask_of(judge, block, &orders[i], &reply, &failed)) {
            verdict->kind = failed.kind;
            verdict_say(verdict, "in %s: %s", orders[i].chance > 0 ? "probable_bound()" : "bound()",
                        failed.detail);
            return false;
        }
        *has = reply.value == 1;
        memcpy(judge->bounds, judge_memory(judge, orders[i].at.bounds),
               block->rows * sizeof *judge->bounds);
        double most =
            *has || i + 1 == count ? measure_bounds(judge, block, kernel->facts.traits) : NAN;
        if (*has && orders[i].chance > 0)
            judge->probable_row_ulp = most;
    }
    return true;
}

/* ---- a block ---- */

judge_block judge_head(const judge_block *block)
{
    judge_block head = *block;
    head.rows = block->distinct ? block->distinct : block->rows;
    return head;
}

/* Judges the statistics of the last call; false where the kernel does not give them all. */
static bool judge_all_statistics(row_judge *judge, const judge_block *block,
                                 const judged_kind *kind, row_findings *findings)
{
    const operation *what = operations[block->operation];
    for (size_t row = 0; row < block->rows; row++)
        for (size_t i = 0; i < what->count; i++)
            if (role_is_statistic(&what->roles[i]) && !judge_is_given(&judge->rounded[i][row]))
                return false;
    for (size_t row = 0; row < block->rows; row++)
        judge_statistics(judge, block, row, kind, findings);
    return true;
}

void blame_load(const kernel_entry *kernel, case_judgement *judgement)
{
    case_verdict *verdict = &judgement->verdict, found = *verdict;
    char described[DETAIL_MAX_LENGTH + 64] = "";
    bool wrong = verdict_is_limit(found.kind) || found.kind == VERDICT_INACCURATE ||
                 found.kind == VERDICT_WRONG_CLASS;
    if (!kernel->set_at_load[0] ||
        !(wrong || found.kind == VERDICT_RIGHT || found.kind == VERDICT_RIGHT_NO_BOUND))
        return;
    if (wrong)
        verdict_describe(&found, described, sizeof described);
    *verdict = (case_verdict){.kind = VERDICT_STATE_CHANGED};
    verdict_say(verdict, "%s%s%s", kernel->set_at_load, wrong ? "; " : "", described);
}

void judge_kernel(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                  case_judgement *judgement)
{
    judge_as_it_is(judge, block, kernel, judgement);
    blame_load(kernel, judgement);
}

void judge_as_it_is(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                    case_judgement *judgement)
{
    row_findings findings = {.verdict.kind = VERDICT_RIGHT};
    const work_order timed = order_in(LAYOUT_TIMED, block, kernel),
                     beside = order_in(LAYOUT_BEHIND, block, kernel);
    const operation *what = operations[block->operation];
    bool has_bound;
    *judgement = (struct case_judgement){.bound_row_ulp = NAN, .probable_row_ulp = NAN};
    judge->upper_halves = false;
    judge_reserve(judge, block);
    batch_begin(judge);
    batch_add_bounds(judge, block, kernel);
    batch_add(judge, block, &timed);
    batch_add(judge, block, &beside);
    batch_send(judge);
    bool fine = judge_bounds(judge, block, kernel, &has_bound, &findings.verdict);
    const judged_kind kind = judged_kind_of(kernel, fine && has_bound);
    fine =
        fine && judge_run(judge, block, kernel, LAYOUT_TIMED, judge->computed, &findings.verdict);
    if (fine) {
        judge_rounding(block, judge->computed, &findings);
        judge_rows(judge, block, judge->computed, &kind, &findings);
        fine = judge_run(judge, block, kernel, LAYOUT_BEHIND, judge->other, &findings.verdict);
    }
    if (!fine) {
        judgement->verdict = findings.verdict;
        return;
    }
    const judge_block head = judge_head(block);
    const bool given = judge_all_statistics(judge, block, &kind, &findings);
    judgement->output_hash = hash_bytes(HASH_START, judge->computed, judge_bytes(block));
    for (size_t i = 0; i < what->count; i++)
        if (role_is_statistic(&what->roles[i]))
            judgement->output_hash =
                hash_bytes(judgement->output_hash, judge->rounded[i], block->rows * sizeof(double));
    judge_measure(judge, &head, judge->computed, has_bound, given, judgement);
    judge_conclude(judge, &head, has_bound, &findings, judgement);
    if (judge->upper_halves && judgement->verdict.kind <= VERDICT_RIGHT_NO_BOUND)
        snprintf(judgement->verdict.detail, sizeof judgement->verdict.detail, "%s",
                 SPEED_TRAP "it leaves the upper halves of vector registers in use, which slows "
                            "SSE code down (vzeroupper is missing)");
    judgement->computed = judge->computed;
    judgement->by_row = judge->by_row;
    judgement->probable_row_ulp = judge->probable_row_ulp;
}

void judge_promise(const judge_block *block, const kernel_entry *call, const char *input,
                   case_judgement *judgement)
{
    const ln_metrics *found = &judgement->metrics;
    ln_accuracy accuracy;
    if (found->elements == 0 || !call_class(&call->facts, &accuracy) ||
        !promise_covers(accuracy, input))
        return;
    double promised = promised_row_ulp(accuracy, block->storage, &block->convention);
    if (isinf(promised) || (found->mismatches == 0 && !(found->row_ulp_max > promised)))
        return;
    if (found->mismatches > 0) {
        if (judgement->verdict.kind == VERDICT_LIMIT_CLASS)
            judgement->verdict.kind = VERDICT_WRONG_CLASS;
        return;
    }
    judgement->verdict = (case_verdict){.kind = VERDICT_INACCURATE};
    snprintf(judgement->verdict.detail, sizeof judgement->verdict.detail,
             "%.4g row ULP, where layernorm.h promises %.4g", found->row_ulp_max, promised);
}

/* ---- rows by the thousand ---- */

void judge_score(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                 bool bounds, row_score *scores, case_verdict *verdict)
{
    bool has_bound = false;
    size_t column;
    *verdict = (struct case_verdict){.kind = VERDICT_RIGHT};
    judge_reserve(judge, block);
    if ((bounds && !judge_bounds(judge, block, kernel, &has_bound, verdict)) ||
        !judge_run(judge, block, kernel, LAYOUT_TIMED, judge->computed, verdict))
        return;
    for (size_t row = 0; row < block->rows; row++) {
        const metrics_row scaled = judge_metrics_row(block, row);
        const void *y = judge_row_of(block, judge->computed, row);
        scores[row].row_ulp =
            judge_classes_match(block, row, y, &column) ? limits_error(&scaled, y) : INFINITY;
        scores[row].kappa = scaled.answer->kappa;
        scores[row].bound_row_ulp = has_bound ? judge->by_row[row].bound_row_ulp : NAN;
    }
}

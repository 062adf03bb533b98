/* One kernel in one layout: its inputs into the arena, its outputs back. */
#include "conformance/internal.h"
#include "conformance/batch.h"
#include "domain/poison.h"
#include "metrics/storage.h"
#include "base/number.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The next place in the arena, 64-byte aligned; -1 for an absent tensor. */
static off_t take_offset(off_t *end, bool present, size_t bytes)
{
    off_t at = *end;
    if (!present)
        return -1;
    *end += (off_t)((bytes + 63) / 64 * 64);
    return at;
}

/* Whether a call on the block may have the tensor: as its inputs are there. */
static bool has_tensor(const judge_block *block, size_t i)
{
    const tensor_role *role = &operations[block->operation]->roles[i];
    unsigned there = 0;
    for (size_t input = 0; input < ROLES_MOST; input++)
        there |= block->inputs[input] ? ROLE_BIT(input) : 0;
    return role->output ? (role->with & ~there) == 0 : there & ROLE_BIT(i);
}

/* Where the tensors of an order go, from *end on, which moves behind them; inputs are those of `last`,
 * where there is one. */
static void find_places(const judge_block *block, const work_order *last, work_order *order,
                        role_extent extents[ROLES_MOST], off_t *end)
{
    const operation *what = operations[block->operation];
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
}

/* Nothing that an earlier kernel left in the outputs may pass for this one's. */
static void fill_places(const row_judge *judge, const judge_block *block, const work_order *order,
                        const role_extent extents[ROLES_MOST], bool inputs)
{
    const operation *what = operations[block->operation];
    ln_row_facts *facts = (void *)judge_memory(judge, order->at.facts);
    for (size_t i = 0; i < what->count; i++) {
        char *at = judge_memory(judge, order->at.tensors[i]);
        if (at && inputs && !what->roles[i].output)
            memcpy(at, block->inputs[i], extent_bytes(&extents[i]));
        else if (at && what->roles[i].output && what->roles[i].shape == SHAPE_TABLE)
            memset(at, POISON, extent_bytes(&extents[i]));
    }
    for (size_t row = 0; inputs && block->results && row < block->rows; row++)
        facts[row] = block->results[row].facts;
}

bool judge_place_at(row_judge *judge, const judge_block *block, work_order *order,
                    const work_order *last, off_t *end, error *err)
{
    role_extent extents[ROLES_MOST];
    find_places(block, last, order, extents, end);
    if (!judge->runner->reserve(judge->runner, (size_t)*end, err))
        return false;
    fill_places(judge, block, order, extents, !last);
    return true;
}

bool judge_place(row_judge *judge, const judge_block *block, work_order *order, error *err)
{
    role_extent extents[ROLES_MOST];
    const off_t begin = batch_end(judge);
    off_t end = begin;
    if (judge->placed == block && judge->placed_at == begin) {
        find_places(block, NULL, order, extents, &end);
        return true;
    }
    judge->placed = block;
    judge->placed_at = begin;
    return judge_place_at(judge, block, order, NULL, &end, err);
}

work_order order_to_send(const work_order *order)
{
    const operation *what = operations[order->operation];
    work_order sent = *order;
    for (size_t i = 0; order->kind == ORDER_JUDGE && i < what->count; i++)
        if (what->roles[i].output && i != what->result && !(order->layout.outputs & 1u << i))
            sent.at.tensors[i] = -1;
    return sent;
}

/* Whether it is an answer, or else what it says of the kernel. */
static bool judge_heed(const worker_reply *reply, case_verdict *verdict, error *err)
{
    err->code = EXIT_CODE_FINE;
    if (reply->kind != REPLY_FAILED)
        return true;
    if (!reply_ends_run(reply, err)) {
        *verdict = (case_verdict){.kind = reply->verdict};
        verdict_say(verdict, "%s", reply->text);
    }
    return false;
}

bool judge_ask(row_judge *judge, const work_order *order, double more_seconds, worker_reply *reply,
               case_verdict *verdict, error *err)
{
    judge->runner->ask(judge->runner, order, judge->settings.deadline_seconds + more_seconds,
                       reply);
    return judge_heed(reply, verdict, err);
}

/* The answer to an order on a block, which may have come already. */
static bool ask_of(row_judge *judge, const judge_block *block, work_order *order,
                   worker_reply *reply, case_verdict *verdict, error *err)
{
    const worker_reply *waiting = batch_take(judge, block, order);
    if (waiting) {
        *reply = *waiting;
        return judge_heed(reply, verdict, err);
    }
    if (!judge_place(judge, block, order, err))
        return false;
    const work_order sent = order_to_send(order);
    return judge_ask(judge, &sent, 0, reply, verdict, err);
}

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

bool judge_run(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
               layout_name name, void *computed, case_verdict *verdict, error *err)
{
    work_order order = worker_order(ORDER_JUDGE, kernel);
    order.layout = layout_named(name, operations[block->operation], block->hidden);
    return judge_run_as(judge, block, kernel, &order, computed, verdict, err);
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
                  work_order *order, void *computed, case_verdict *verdict, error *err)
{
    worker_reply reply;
    const size_t result = operations[block->operation]->result;
    if (!ask_of(judge, block, order, &reply, verdict, err))
        return false;
    judge->upper_halves |= reply.value == 1;
    judge->threads = reply.value > 1 ? (unsigned)reply.value : 0;
    snprintf(judge->taken, sizeof judge->taken, "%.63s", reply.text);
    memcpy(computed, judge_memory(judge, order->at.tensors[result]), judge_bytes(block));
    return judge_read_beside(judge, block, kernel, order, order->layout.outputs, verdict);
}

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

static bool ask_bounds(row_judge *judge, const judge_block *block, work_order *order, bool *has,
                       case_verdict *verdict, error *err)
{
    worker_reply reply;
    case_verdict failed = {0};
    if (!ask_of(judge, block, order, &reply, &failed, err)) {
        verdict->kind = failed.kind;
        verdict_say(verdict, "in %s: %s", order->chance > 0 ? "probable_bound()" : "bound()",
                    failed.detail);
        return false;
    }
    *has = reply.value == 1;
    memcpy(judge->bounds, judge_memory(judge, order->at.bounds),
           order->count * sizeof *judge->bounds);
    return true;
}

/* Each row gets its share of the chance, so that all keep within their bounds at once. */
size_t bound_orders(const row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                    work_order orders[2])
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

bool judge_bounds(row_judge *judge, const judge_block *block, const kernel_entry *kernel, bool *has,
                  case_verdict *verdict, error *err)
{
    work_order orders[2];
    const size_t count = bound_orders(judge, block, kernel, orders);
    *has = false;
    judge->probable_row_ulp = NAN;
    err->code = EXIT_CODE_FINE;
    for (size_t i = 0; i < count; i++) {
        if (!ask_bounds(judge, block, &orders[i], has, verdict, err))
            return false;
        double most =
            *has || i + 1 == count ? measure_bounds(judge, block, kernel->facts.traits) : NAN;
        if (*has && orders[i].chance > 0)
            judge->probable_row_ulp = most;
    }
    return true;
}

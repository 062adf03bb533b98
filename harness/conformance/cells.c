/* ln_layernorm() takes another kernel by how many rows there are, where they lie and how long they are: a
 * cell of its dispatch table each. Which kernel it is shows in no bits, so every family is judged in
 * every cell. A row's bits depend on that row alone (docs/accuracy.md), so that 18 rows for which the
 * library is told of small caches stand for as many as fill large ones. */
#include "conformance/cells.h"
#include "base/hash.h"
#include "domain/promise.h"
#include "inputs/inputs.h"
#include "conformance/batch.h"
#include "conformance/internal.h"
#include <math.h>
#include <stdio.h>

/* All families, then those that every convention is judged on, with a residual. */
static const char *family_of(size_t index, bool *residual)
{
    size_t count, which = 0;
    const input_family *family = input_families(&count);
    *residual = index >= count;
    if (!*residual)
        return family[index].name;
    for (size_t left = index - count; !family[which].everywhere || left-- > 0;)
        which++;
    return family[which].name;
}

size_t cells_blocks(void)
{
    size_t count, residual = 0;
    const input_family *family = input_families(&count);
    for (size_t i = 0; i < count; i++)
        residual += family[i].everywhere;
    return count + residual;
}

bool cells_make(row_judge *judge, const conformance_task *task, size_t index, judge_block *block,
                error *err)
{
    bool has_residual;
    const char *family = family_of(index, &has_residual);
    return judge_block_generate(
        judge, block,
        call_dense(&task->convention, task->storage, task->param, CELLS_ROWS, task->first), family,
        has_residual ? "normal" : NULL, 0, err);
}

const char *cells_name(size_t index, call_place place, char name[CELLS_NAME_LENGTH])
{
    static const char *const places[CALL_PLACES] = {"", "few rows", "L1", "L2", "L3", "DRAM"};
    bool residual;
    const char *family = family_of(index, &residual);
    snprintf(name, CELLS_NAME_LENGTH, "%s: %.30s%s", places[place], family,
             residual ? " with a residual" : "");
    return name;
}

static void hold_to_promise(const judge_block *block, ln_accuracy accuracy,
                            case_judgement *judgement)
{
    const ln_metrics *found = &judgement->metrics;
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

bool cells_has(const kernel_entry *call, size_t index)
{
    ln_accuracy accuracy;
    bool residual;
    return call_class(&call->facts, &accuracy) &&
           promise_covers(accuracy, family_of(index, &residual));
}

static work_order order_of(const judge_block *block, const kernel_entry *call, size_t index,
                           call_place place)
{
    static const layout_name layouts[] = {LAYOUT_TIMED, LAYOUT_IN_PLACE, LAYOUT_BEFORE};
    work_order order = worker_order(ORDER_JUDGE, call);
    order.place = place;
    order.rows_at_once = place == PLACE_FEW ? 1 + index % 3 : 0;
    order.layout =
        layout_named(layouts[(index + place) % 3], operations[block->operation], block->hidden);
    call_class(&call->facts, &order.accuracy);
    return order;
}

bool cells_ask(row_judge *judge, const judge_block *block, const kernel_entry *call, size_t index,
               call_place first, call_place last, error *err)
{
    bool fine = true;
    batch_begin(judge);
    for (call_place place = first; fine && place <= last; place++) {
        work_order order = order_of(block, call, index, place);
        fine = batch_add_bounds(judge, block, call, err) && batch_add(judge, block, &order, err);
    }
    if (fine)
        batch_send(judge);
    return fine;
}

bool cells_judge(row_judge *judge, const judge_block *block, const kernel_entry *call, size_t index,
                 call_place place, case_judgement *judgement, error *err)
{
    work_order order = order_of(block, call, index, place);
    row_findings findings = {.verdict.kind = VERDICT_RIGHT};
    bool has_bound = false;
    *judgement = (case_judgement){.bound_row_ulp = NAN, .probable_row_ulp = NAN};
    if (!judge_reserve(judge, block, err))
        return false;
    if (!judge_bounds(judge, block, call, &has_bound, &findings.verdict, err) ||
        !judge_run_as(judge, block, call, &order, judge->computed, &findings.verdict, err)) {
        judgement->verdict = findings.verdict;
        return err->code == EXIT_CODE_FINE;
    }
    const judged_kind kind = judged_kind_of(call, has_bound);
    if (!judge_call(judge, block, judge->computed, &kind, false, &findings, judgement, err))
        return false;
    hold_to_promise(block, order.accuracy, judgement);
    judgement->output_hash = hash_bytes(HASH_START, judge->computed, judge_bytes(block));
    return true;
}

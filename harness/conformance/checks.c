/* Runs a kernel through the blocks of a check, and sums up what was found. */
#include "conformance/cells.h"
#include "conformance/exact.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "conformance/internal.h"
#include "worker/layout.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CALLS = 10000 };

/* What the blocks said so far. */
typedef struct findings_so_far {
    size_t judged, refused;
    bool over;         /* a violation: the rest is not asked */
    case_verdict lost; /* of a block that could not be examined; pending: there is none */
} findings_so_far;

static bool is_fine(const case_verdict *verdict)
{
    return verdict_is_right(verdict->kind);
}

static bool is_fault(const case_verdict *verdict)
{
    return !is_fine(verdict) && !verdict_is_limit(verdict->kind);
}

/* One block's judgement into that of the check: the gravest verdict, the metrics of the largest
 * error. */
static void add_up(case_judgement *all, const case_judgement *one, const judge_block *block,
                   findings_so_far *so_far)
{
    const case_verdict *verdict = &one->verdict;
    if (verdict->kind == VERDICT_LOST) {
        so_far->lost = *verdict;
        return;
    }
    if (verdict->kind == VERDICT_DECLINED) {
        if (so_far->judged == 0)
            all->verdict = *verdict;
        so_far->refused++;
        return;
    }
    if (so_far->judged++ == 0)
        all->verdict = (case_verdict){.kind = VERDICT_RIGHT};
    bool first = is_fine(&all->verdict) && !is_fine(verdict);
    if (first || (!is_fault(&all->verdict) && is_fault(verdict))) {
        all->verdict = *verdict;
        verdict_say(&all->verdict, "%zux%zu%s%s: %s", block->rows, block->hidden,
                    block->inputs[ROLE_RESIDUAL] ? " with a residual" : "",
                    block->inputs[ROLE_GAMMA] ? "" : " without gamma", verdict->detail);
    } else if (all->verdict.kind == VERDICT_RIGHT) {
        all->verdict.kind = is_fine(verdict) ? verdict->kind : VERDICT_RIGHT;
    }
    so_far->over = is_fault(&all->verdict);
    if (one->metrics.elements > 0 && !(one->metrics.row_ulp_max <= all->metrics.row_ulp_max))
        all->metrics = one->metrics;
    if (!(one->bound_row_ulp <= all->bound_row_ulp))
        all->bound_row_ulp = one->bound_row_ulp;
    all->varies |= one->varies;
    all->output_hash = hash_bytes(all->output_hash, &one->output_hash, sizeof one->output_hash);
}

/* A check of which a block is lost is lost, unless another block has shown a fault. */
static void conclude(const findings_so_far *so_far, case_judgement *judgement)
{
    bool found = is_fault(&judgement->verdict) && judgement->verdict.kind != VERDICT_DECLINED;
    if (so_far->lost.kind == VERDICT_LOST && !found)
        judgement->verdict = so_far->lost;
}

/* x's rows behind all else in the arena, and the shape that the call really has. */
static bool place_large(row_judge *judge, const judge_block *block, const large_tensors *large,
                        work_order *order, error *err)
{
    size_t bytes = LARGE_PERIOD * block->hidden * dtype_size(block->storage);
    order->problem = large->problem;
    order->seed = large->seed;
    if (!block->inputs[ROLE_RESIDUAL]) /* then y alone is asked for */
        order->at.tensors[ROLE_MEAN] = order->at.tensors[ROLE_RSTD] = -1;
    off_t x = order->at.tensors[ROLE_X] =
        order->at.bounds + (off_t)(block->rows * sizeof(ln_bound));
    if (!judge->runner->reserve(judge->runner, (size_t)x + bytes, err))
        return false;
    memcpy(judge_memory(judge, x), large->period, bytes);
    return true;
}

/* Of a call on large tensors: a slow kernel takes this long for an element. */
static const double slow_element = 50e-9;

/* The worker makes all calls, or the one on large tensors; what came out first is judged here. */
static bool examine_calls(row_judge *judge, const judge_block *block, const large_tensors *large,
                          const kernel_entry *kernel, case_judgement *judgement, error *err)
{
    work_order order = worker_order(large ? ORDER_CALL_LARGE : ORDER_CALL, kernel);
    double more = 0;
    row_findings findings = {.verdict.kind = VERDICT_RIGHT};
    worker_reply answer;
    bool has_bound;
    if (!judge_reserve(judge, block, err))
        return false;
    if (!judge_bounds(judge, block, kernel, &has_bound, &judgement->verdict, err))
        return err->code == EXIT_CODE_FINE;
    if (!judge_place(judge, block, &order, err) ||
        (large && !place_large(judge, block, large, &order, err)))
        return false;
    order.count = CALLS;
    order.seed = judge->settings.seed;
    if (large)
        more = slow_element * (double)large->problem.rows * (double)large->problem.hidden;
    if (!judge_ask(judge, &order, more, &answer, &judgement->verdict, err))
        return err->code == EXIT_CODE_FINE;
    memcpy(judge->computed,
           judge_memory(judge, order.at.tensors[operations[block->operation]->result]),
           judge_bytes(block));
    judged_kind kind = judged_kind_of(kernel, has_bound);
    if (block->inputs[ROLE_RESIDUAL])
        judge_read_beside(judge, block, kernel, &order, ~0u, &findings.verdict);
    if (!judge_call(judge, block, judge->computed, &kind, block->inputs[ROLE_RESIDUAL], &findings,
                    judgement, err))
        return false;
    if (is_fine(&judgement->verdict)) /* what it says of slow calls, and of forks */
        verdict_say(&judgement->verdict, "%s", answer.text);
    judgement->output_hash = hash_bytes(HASH_START, judge->computed, judge_bytes(block));
    return true;
}

/* The row's number in the tensor, for its place among those that are looked at. */
static void name_row(const large_tensors *large, case_verdict *verdict)
{
    size_t rows[LARGE_ROWS], count = large_rows(&large->problem, large->seed, rows), row;
    int length;
    char rest[sizeof verdict->detail];
    if (sscanf(verdict->detail, "row %zu%n", &row, &length) != 1 || row >= count)
        return;
    snprintf(rest, sizeof rest, "%s", verdict->detail + length);
    verdict_say(verdict, "row %zu%s", rows[row], rest);
}

static bool examine_large(row_judge *judge, const conformance_blocks *blocks,
                          const kernel_entry *kernel, case_judgement *judgement, error *err)
{
    findings_so_far so_far = {0};
    bool fine = true;
    for (size_t i = 0; fine && !so_far.over && i < blocks->count; i++) {
        judge_block shown = blocks->blocks[i];
        case_judgement one = {.bound_row_ulp = NAN, .output_hash = HASH_START};
        one.metrics.row_ulp_max = NAN;
        one.verdict.kind = VERDICT_RIGHT;
        fine = examine_calls(judge, &blocks->blocks[i], &blocks->large[i], kernel, &one, err);
        shown.rows = blocks->large[i].problem.rows;
        name_row(&blocks->large[i], &one.verdict);
        add_up(judgement, &one, &shown, &so_far);
    }
    conclude(&so_far, judgement);
    return fine;
}

/* Every family wherever the library's call may take another kernel. */
static bool examine_cells(row_judge *judge, const conformance_task *task,
                          const conformance_blocks *blocks, const kernel_entry *call,
                          case_judgement *judgement, error *err)
{
    findings_so_far so_far = {0};
    char name[CELLS_NAME_LENGTH], worst[sizeof judgement->verdict.detail] = "";
    char detail[sizeof worst];
    const call_place last = task->last ? (call_place)task->last : PLACE_DRAM;
    const call_place first = task->last ? last : PLACE_FEW;
    for (size_t i = 0; !so_far.over && i < blocks->count; i++)
        for (call_place place = first; cells_has(call, i) && !so_far.over && place <= last;
             place++) {
            case_judgement one;
            if (interrupted())
                return fail(err, EXIT_CODE_INTERRUPTED, "interrupted");
            if (place == first && !cells_ask(judge, &blocks->blocks[i], call, i, first, last, err))
                return false;
            if (!cells_judge(judge, &blocks->blocks[i], call, i, place, &one, err))
                return false;
            cells_name(i, place, name);
            if (one.metrics.elements > 0 &&
                !(one.metrics.row_ulp_max <= judgement->metrics.row_ulp_max))
                snprintf(worst, sizeof worst, "worst in %s, by %s", name, judge->taken);
            memcpy(detail, one.verdict.detail, sizeof detail);
            verdict_say(&one.verdict, "%s: %s", name, detail);
            add_up(judgement, &one, &blocks->blocks[i], &so_far);
        }
    if (is_fine(&judgement->verdict))
        memcpy(judgement->verdict.detail, worst, sizeof worst);
    return true;
}

static bool examine_exact(row_judge *judge, const conformance_blocks *blocks,
                          const kernel_entry *kernel, case_judgement *judgement, error *err)
{
    findings_so_far so_far = {0};
    bool fine = true;
    for (size_t i = 0; fine && !so_far.over && i < blocks->count; i++) {
        case_judgement one;
        fine = exact_judge(judge, &blocks->blocks[i], i, kernel, &one, err);
        if (fine)
            add_up(judgement, &one, &blocks->blocks[i], &so_far);
    }
    conclude(&so_far, judgement);
    return fine;
}

bool conformance_examine(row_judge *judge, const conformance_task *task,
                         const conformance_blocks *blocks, const kernel_entry *kernel,
                         case_judgement *judgement, error *err)
{
    *judgement = (case_judgement){.bound_row_ulp = NAN, .output_hash = HASH_START};
    judgement->metrics.row_ulp_max = NAN;
    judgement->verdict.kind = VERDICT_RIGHT;
    err->code = EXIT_CODE_FINE;
    bool fine = task->check == CHECK_LARGE ? examine_large(judge, blocks, kernel, judgement, err)
                : task->check == CHECK_CELLS
                    ? examine_cells(judge, task, blocks, kernel, judgement, err)
                : task->check == CHECK_EXACT ? examine_exact(judge, blocks, kernel, judgement, err)
                : task->check == CHECK_CALLS
                    ? examine_calls(judge, blocks->blocks, NULL, kernel, judgement, err)
                    : examine_combinations(judge, task, blocks, kernel, judgement, err);
    conformance_blame_load(kernel, judgement);
    judgement->by_row = NULL; /* the judge's, and gone with its next call */
    judgement->computed = NULL;
    return fine;
}

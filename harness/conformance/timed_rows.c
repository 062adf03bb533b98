#include "conformance/timed_rows.h"
#include "base/allocate.h"
#include "base/hash.h"
#include "conformance/internal.h"

size_t timed_rows_room(const judge_block *block)
{
    return block->rows * (sizeof(uint64_t) + block->hidden * dtype_size(block->storage));
}

bool timed_rows_begin(timed_rows *rows, row_judge *judge, const judge_block blocks[TIMED_BLOCKS],
                      const kernel_entry *kernel, void *const judged[TIMED_BLOCKS],
                      case_verdict *verdict)
{
    *rows = (timed_rows){.blocks = blocks, .kernel = kernel, .judged = judged};
    rows->verdict.kind = VERDICT_RIGHT;
    for (size_t i = 0; i < TIMED_BLOCKS; i++) {
        judge_reserve(judge, &blocks[i]);
        if (!judge_bounds(judge, &blocks[i], kernel, &rows->has_bound, verdict))
            return false;
        if (rows->has_bound)
            rows->bounds[i] =
                allocate_copy(judge->bounds, blocks[i].rows * sizeof *rows->bounds[i]);
    }
    return true;
}

static void add_metrics(timed_rows *rows, const judge_block *block, size_t row, const void *y)
{
    metrics_row judged = judge_metrics_row(block, row);
    if (!metrics_gather_row(rows->metrics, &judged, row, y, NULL, NULL, NULL))
        memory_is_out(block->hidden);
}

/* The rows that were judged come first, so that the metrics are of all. */
static void begin_metrics(timed_rows *rows)
{
    rows->metrics = metrics_gather_create();
    if (!rows->metrics)
        memory_is_out(0);
    for (size_t i = 0; i < TIMED_BLOCKS; i++)
        for (size_t row = 0; row < rows->blocks[i].rows; row++)
            add_metrics(rows, &rows->blocks[i], row,
                        judge_row_of(&rows->blocks[i], rows->judged[i], row));
}

static void judge_one(timed_rows *rows, row_judge *judge, size_t which, size_t row, const void *y)
{
    const judge_block *block = &rows->blocks[which];
    row_findings here = {.verdict.kind = VERDICT_RIGHT}, all = {.verdict = rows->verdict};
    judged_kind kind = judged_kind_of(rows->kernel, rows->has_bound);
    if (rows->has_bound)
        judge->bounds[row] = rows->bounds[which][row];
    judge_row(judge, block, y, row, &kind, &here);
    add_metrics(rows, block, row, y);
    if (here.verdict.kind != VERDICT_RIGHT)
        judge_find(&all, here.verdict.kind, "as timed, where %zu rows repeat: %s", block->rows,
                   here.verdict.detail);
    rows->verdict = all.verdict;
}

void timed_rows_take(timed_rows *rows, row_judge *judge, const work_order *begin,
                     const worker_reply *announced)
{
    const judge_block *block = rows->blocks;
    const size_t bytes = block->hidden * dtype_size(block->storage), room = timed_rows_room(block);
    size_t count = (size_t)announced->value;
    count = count < block->rows ? count : block->rows;
    char *taken = allocate_copy(judge_memory(judge, begin->at.varied), room);
    judge_reserve(judge, block);
    if (!rows->metrics)
        begin_metrics(rows);
    for (size_t i = 0; i < count; i++) {
        const char *at = taken + i * (sizeof(uint64_t) + bytes);
        uint64_t number;
        memcpy(&number, at, sizeof number);
        if (number >= TIMED_BLOCKS * block->rows) /* the worker's word is not believed */
            continue;
        if (hash_index_add_new(&rows->seen, hash_bytes(HASH_START, at, sizeof number + bytes)))
            judge_one(rows, judge, number / block->rows, number % block->rows, at + sizeof number);
    }
    free(taken);
}

bool timed_rows_judge(const timed_rows *rows, const row_judge *judge, case_judgement *judgement)
{
    row_findings findings = {.verdict = judgement->verdict};
    const ln_metrics judged = judgement->metrics;
    if (!rows->metrics)
        return false;
    metrics_gather_finish(rows->metrics, &judgement->metrics);
    judgement->metrics.mean_ulp_max = judged.mean_ulp_max; /* those are not given in timing */
    judgement->metrics.rstd_ulp_max = judged.rstd_ulp_max;
    if (findings.verdict.kind == VERDICT_RIGHT_NO_BOUND && rows->verdict.kind != VERDICT_RIGHT)
        findings.verdict.kind = VERDICT_RIGHT;
    if (rows->verdict.kind != VERDICT_RIGHT)
        judge_find(&findings, rows->verdict.kind, "%s", rows->verdict.detail);
    if (judgement->metrics.row_ulp_max > judge->settings.max_row_ulp)
        judge_find(&findings, VERDICT_INACCURATE, "row_ulp %.4g is above --max-row-ulp %g",
                   judgement->metrics.row_ulp_max, judge->settings.max_row_ulp);
    judgement->verdict = findings.verdict;
    return true;
}

void timed_rows_free(timed_rows *rows)
{
    for (size_t i = 0; i < TIMED_BLOCKS; i++)
        free(rows->bounds[i]);
    hash_index_free(&rows->seen);
    metrics_gather_destroy(rows->metrics);
    *rows = (timed_rows){0};
}

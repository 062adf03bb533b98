/* Measures reproducibility: runs the same rows in every setting that might change their bits. And judges the rows in
 * timed buffers whose bits differ from the judged ones. */
#include "base/arena.h"
#include "base/program.h"
#include "conformance/internal.h"

enum { ROWS = 257 };

/* With the first size each row begins on a cache line; with the second, rows have a remainder and begin anywhere. */
static const size_t hidden_sizes[INVARIANCE_HIDDEN] = {768, 771};

/* A setting, and the axis along which it differs from the default. */
typedef struct invariance_setting {
    invariance_axis axis;
    layout_name layout;
    size_t rows;      /* rows of the batch; 0: all */
    unsigned threads; /* 0: one */
    unsigned again;   /* further calls, whose bits must be the same */
    size_t
        off; /* distance of the buffers from their place in timing, in bytes; 1 means one element */
} invariance_setting;

/* The first one is the default: all rows, one thread, buffers as in timing. */
static const invariance_setting settings[] = {
    {.axis = AXIS_CALL},
    {.axis = AXIS_CALL, .again = 3},
    {.axis = AXIS_ROWS, .rows = 1},
    {.axis = AXIS_ROWS, .rows = 255},
    {.axis = AXIS_ROWS, .rows = 256},
    {.axis = AXIS_THREADS, .threads = 2, .again = 1},
    {.axis = AXIS_THREADS, .threads = 3, .again = 1},
    {.axis = AXIS_ALIGNMENT, .off = 1},
    {.axis = AXIS_ALIGNMENT, .off = 16},
    {.axis = AXIS_ALIGNMENT, .off = 32},
    {.axis = AXIS_STRIDE, .layout = LAYOUT_BEFORE},
    {.axis = AXIS_IN_PLACE, .layout = LAYOUT_IN_PLACE},
};

/* Computes y (*bytes bytes) in one setting. False: the kernel failed, or does not support it. */
static bool run_setting(row_judge *judge, const judge_block *whole, const kernel_entry *kernel,
                        const invariance_setting *how, char *computed, size_t *bytes,
                        case_verdict *verdict)
{
    const size_t storage = dtype_size(whole->storage), param = dtype_size(kernel->facts.param);
    judge_block block = *whole;
    worker_message message = message_for(MESSAGE_JUDGE, kernel);
    message.layout = layout_named(how->layout, operations[block.operation], block.hidden);
    message.threads = how->threads;
    message.again = how->again;
    /* Gamma and beta move with x and y, so an element is one of the longer type. */
    for (size_t i = 0; i < ROLES_MOST; i++)
        message.layout.tensors[i].offset +=
            how->off == 1 ? (storage > param ? storage : param) : how->off;
    block.results = NULL; /* no bounds are requested */
    block.rows = how->rows ? how->rows : block.rows;
    *bytes = judge_bytes(&block);
    *verdict = (case_verdict){.kind = VERDICT_PASS};
    return judge_run(judge, &block, kernel, &message, computed, verdict);
}

/* Notes the settings in which bits differ. False: the kernel failed, see *verdict. */
static bool run_settings(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                         uint64_t *plain_hash, invariance_result *found, case_verdict *verdict)
{
    judge_reserve(judge, block);
    for (size_t i = 0; i < sizeof settings / sizeof *settings && !interrupted(); i++) {
        const unsigned axis = 1u << settings[i].axis;
        size_t bytes;
        if ((settings[i].layout == LAYOUT_IN_PLACE) &&
            (block->hidden % 2 || (kernel->facts.traits & LN_TRAIT_NOT_IN_PLACE)))
            continue; /* in this layout, rows of an odd hidden size have gaps */
        if (run_setting(judge, block, kernel, &settings[i], i ? judge->other : judge->computed,
                        &bytes, verdict)) {
            if (i == 0)
                *plain_hash = hash_bytes(HASH_START, judge->computed, bytes);
            else if (memcmp(judge->computed, judge->other, bytes) != 0)
                found->varies |= axis;
            found->tested |= axis;
            continue;
        }
        if (verdict->kind == VERDICT_NONDETERMINISTIC) {
            found->varies |= 1u << AXIS_CALL;
            return true;
        }
        /* A setting that the kernel or the system does not support is skipped. */
        if (i == 0 || (verdict->kind != VERDICT_UNSUPPORTED && verdict->kind != VERDICT_MISSING))
            return false;
    }
    return true;
}

/* Measures one kernel. False: it crashed. */
static bool measure_once(row_judge *judge, const judge_block blocks[INVARIANCE_HIDDEN],
                         const kernel_entry *kernel, invariance_result *found)
{
    case_verdict verdict = {.kind = VERDICT_PASS};
    *found = (invariance_result){0};
    for (size_t i = 0; i < INVARIANCE_HIDDEN && !kernel->unsupported[0]; i++)
        if (!run_settings(judge, &blocks[i], kernel, &found->defaults[i], found, &verdict)) {
            found->tested = 0;
            return verdict.kind != VERDICT_CRASHED;
        }
    /* If equal calls differ, no other difference means anything. */
    if (found->varies & 1u << AXIS_CALL)
        found->varies = found->tested = 1u << AXIS_CALL;
    return true;
}

/* Kernels of the same types run the same rows. Normal rows give different bits with most orders of summation. */
bool invariance_measure(row_judge *judge, const ln_convention *convention, progress_bar *progress,
                        const kernel_list *all, const kernel_entry *const *own,
                        invariance_result *found, size_t count)
{
    const kernel_entry **family = allocate_zeroed(all->count + 1, sizeof *family);
    invariance_result *each = allocate_zeroed(all->count + 1, sizeof *each);
    bool *taken = allocate_zeroed(all->count + 1, sizeof *taken);
    const size_t measured = with_families(all, own, count, family);
    for (size_t first = 0; first < measured && !interrupted(); first++) {
        const kernel_facts *of = &family[first]->facts;
        judge_block blocks[INVARIANCE_HIDDEN] = {0};
        for (size_t i = 0; !taken[first] && i < INVARIANCE_HIDDEN; i++)
            judge_block_generate(
                judge, &blocks[i],
                call_dense(convention, of->storage, of->param, ROWS, hidden_sizes[i]), "normal",
                NULL, 0);
        for (size_t i = first; i < measured && !interrupted(); i++) {
            const kernel_facts *facts = &family[i]->facts;
            if (taken[i] || facts->operation != of->operation || facts->storage != of->storage ||
                facts->param != of->param)
                continue;
            taken[i] = true;
            if (progress && !family[i]->unsupported[0])
                progress_step(progress, invariance_seconds, facts->name);
            /* Try again after a crash, since something else may have killed the process. */
            if (!measure_once(judge, blocks, family[i], &each[i]))
                measure_once(judge, blocks, family[i], &each[i]);
        }
        for (size_t i = 0; i < INVARIANCE_HIDDEN; i++)
            judge_block_free(&blocks[i]);
    }
    invariance_compare_isas(family, each, measured);
    memcpy(found, each, count * sizeof *found);
    free(family);
    free(each);
    free(taken);
    return !interrupted();
}

/* ---- timed rows ---- */

size_t timed_rows_room(const judge_block *block)
{
    return block->rows * (sizeof(uint64_t) + block->hidden * dtype_size(block->storage));
}

bool timed_rows_begin(timed_rows *rows, row_judge *judge, const judge_block blocks[TIMED_BLOCKS],
                      const kernel_entry *kernel, void *const judged[TIMED_BLOCKS],
                      case_verdict *verdict)
{
    *rows = (timed_rows){.blocks = blocks, .kernel = kernel, .judged = judged};
    rows->verdict.kind = VERDICT_PASS;
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

void timed_rows_take(timed_rows *rows, row_judge *judge, const worker_message *begin,
                     const worker_reply *announced)
{
    const judge_block *block = rows->blocks;
    const size_t bytes = block->hidden * dtype_size(block->storage), room = timed_rows_room(block);
    const judged_kind kind = judged_kind_of(rows->kernel, rows->has_bound);
    char *taken = allocate_copy(judge_memory(judge, begin->at.varied), room);
    judge_reserve(judge, block);
    if (!rows->metrics) { /* the judged rows are added first, so that the metrics cover all rows */
        rows->metrics = metrics_gather_create();
        if (!rows->metrics)
            memory_is_out(0);
        for (size_t i = 0; i < TIMED_BLOCKS; i++)
            for (size_t row = 0; row < block->rows; row++)
                add_metrics(rows, &rows->blocks[i], row, judge_row_of(block, rows->judged[i], row));
    }
    for (size_t i = 0; i < block->rows && i < (size_t)announced->value; i++) {
        const char *at = taken + i * (sizeof(uint64_t) + bytes);
        uint64_t number;
        memcpy(&number, at, sizeof number);
        if (number >= TIMED_BLOCKS * block->rows) /* a kernel overwrote it */
            continue;
        if (!hash_set_add(&rows->seen, hash_bytes(HASH_START, at, sizeof number + bytes)))
            continue;
        const size_t which = number / block->rows, row = number % block->rows;
        row_findings here = {.verdict.kind = VERDICT_PASS}, all = {.verdict = rows->verdict};
        at += sizeof number;
        if (rows->has_bound)
            judge->bounds[row] = rows->bounds[which][row];
        judge_row(judge, &rows->blocks[which], at, row, &kind, &here);
        add_metrics(rows, &rows->blocks[which], row, at);
        if (here.verdict.kind != VERDICT_PASS)
            judge_find(&all, here.verdict.kind, "as timed, where %zu rows repeat: %s", block->rows,
                       here.verdict.detail);
        rows->verdict = all.verdict;
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
    judgement->metrics.mean_ulp_max = judged.mean_ulp_max; /* timed calls give no statistics */
    judgement->metrics.rstd_ulp_max = judged.rstd_ulp_max;
    if (findings.verdict.kind == VERDICT_PASS_NO_BOUND && rows->verdict.kind != VERDICT_PASS)
        findings.verdict.kind = VERDICT_PASS;
    if (rows->verdict.kind != VERDICT_PASS)
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
    hash_set_free(&rows->seen);
    metrics_gather_destroy(rows->metrics);
    *rows = (timed_rows){0};
}

/* The same rows in every setting that a row's bits might depend on. */
#include "base/hash.h"
#include "base/interrupt.h"
#include "conformance/invariance.h"
#include "conformance/internal.h"
#include <stdlib.h>
#include <string.h>

enum { ROWS = 257 };

/* Rows that begin on a cache line each, and rows that have a tail and begin anywhere. */
static const size_t hidden_sizes[INVARIANCE_HIDDEN] = {768, 771};

/* A setting, and what it varies. */
typedef struct invariance_setting {
    invariance_axis axis;
    size_t rows;      /* of the batch; 0: all */
    unsigned threads; /* 0: one */
    unsigned again;   /* further calls, whose bits must be the same */
    size_t off;       /* bytes from where the buffers lie in timing; 1: an element */
} invariance_setting;

/* The plain one first: all rows, one thread, buffers as in timing. */
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
};

/* The rows that every kernel of the same types runs. */
typedef struct invariance_rows {
    judge_block plain[INVARIANCE_HIDDEN];
} invariance_rows;

static void invariance_rows_free(invariance_rows *rows)
{
    for (size_t i = 0; i < INVARIANCE_HIDDEN; i++)
        judge_block_free(&rows->plain[i]);
}

/* Normal rows show most orders of summation. */
static bool invariance_rows_make(row_judge *judge, const ln_convention *convention,
                                 const kernel_facts *of, invariance_rows *rows, error *err)
{
    *rows = (invariance_rows){0};
    for (size_t i = 0; i < INVARIANCE_HIDDEN; i++)
        if (!judge_block_generate(
                judge, &rows->plain[i],
                call_dense(convention, of->storage, of->param, ROWS, hidden_sizes[i]), "normal",
                NULL, 0, err)) {
            invariance_rows_free(rows);
            return false;
        }
    return true;
}

/* A kernel on a block, with room for what it computes in the plain setting and in another. */
typedef struct judged_run {
    row_judge *judge;
    const judge_block *block;
    const kernel_entry *kernel;
    char *plain, *computed;
    case_verdict verdict;
} judged_run;

/* An element off: the parameters move with x and y, so it is one of the longer type. */
static size_t one_element(const judged_run *run)
{
    size_t storage = dtype_size(run->block->storage), param = dtype_size(run->kernel->facts.param);
    return storage > param ? storage : param;
}

/* The setting's y in run->computed: `bytes` of it. False where there is none: run->verdict, *err. */
static bool run_setting(judged_run *run, const invariance_setting *how, size_t *bytes, error *err)
{
    judge_block block = *run->block;
    work_order order = worker_order(ORDER_JUDGE, run->kernel);
    order.layout = layout_named(LAYOUT_TIMED, operations[block.operation], block.hidden);
    order.threads = how->threads;
    order.again = how->again;
    for (size_t i = 0; i < ROLES_MOST; i++)
        order.layout.tensors[i].offset += how->off == 1 ? one_element(run) : how->off;
    block.results = NULL; /* bounds are not asked for */
    block.rows = how->rows ? how->rows : block.rows;
    *bytes = judge_bytes(&block);
    run->verdict = (case_verdict){.kind = VERDICT_RIGHT};
    run->judge->placed = NULL; /* by its address the block is the last one */
    return judge_run_as(run->judge, &block, run->kernel, &order, run->computed, &run->verdict, err);
}

/* Notes the settings in which bits differ. False where the kernel failed (err.code FINE, see
 * run->verdict), or on an error. */
static bool run_settings(judged_run *run, uint64_t *plain_hash, invariance_result *found,
                         error *err)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const unsigned axis = 1u << settings[i].axis;
        size_t bytes;
        if (run_setting(run, &settings[i], &bytes, err)) {
            if (i == 0) {
                memcpy(run->plain, run->computed, bytes);
                *plain_hash = hash_bytes(HASH_START, run->plain, bytes);
            }
            found->tested |= axis;
            found->varies |= memcmp(run->plain, run->computed, bytes) != 0 ? axis : 0;
            continue;
        }
        const verdict_kind kind = run->verdict.kind;
        if (err->code != EXIT_CODE_FINE)
            return false;
        if (kind == VERDICT_NONDETERMINISTIC) {
            found->varies |= 1u << AXIS_CALL;
            return true;
        }
        /* A setting that is refused is no difference. */
        if (i == 0 || (kind != VERDICT_DECLINED && kind != VERDICT_LOST))
            return false;
    }
    return true;
}

static bool run_block(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                      uint64_t *plain_hash, invariance_result *found, case_verdict *verdict,
                      error *err)
{
    size_t bytes = judge_bytes(block);
    char *room = malloc(2 * bytes);
    judged_run run = {.judge = judge, .block = block, .kernel = kernel};
    if (!room || !judge_reserve(judge, block, err)) {
        free(room);
        return room ? false : fail_memory(err, "the outputs of a kernel");
    }
    run.plain = room;
    run.computed = room + bytes;
    bool fine = run_settings(&run, plain_hash, found, err);
    *verdict = run.verdict;
    free(room);
    return fine;
}

/* *crashed: the kernel's process ended, and nothing was found. */
static bool judge_once(row_judge *judge, const invariance_rows *rows, const kernel_entry *kernel,
                       invariance_result *found, bool *crashed, error *err)
{
    case_verdict verdict = {.kind = VERDICT_RIGHT};
    err->code = EXIT_CODE_FINE;
    *found = (invariance_result){0};
    *crashed = false;
    for (size_t i = 0; i < INVARIANCE_HIDDEN && !kernel->unsupported[0]; i++)
        if (!run_block(judge, &rows->plain[i], kernel, &found->plain[i], found, &verdict, err)) {
            found->tested = 0;
            *crashed = verdict.kind == VERDICT_CRASHED;
            return err->code == EXIT_CODE_FINE;
        }
    /* Where equal calls differ, no other difference means anything. */
    if (found->varies & 1u << AXIS_CALL)
        found->varies = found->tested = 1u << AXIS_CALL;
    return true;
}

/* A kernel that crashes does so again; a process that something else killed does not. */
static bool judge_invariance(row_judge *judge, const invariance_rows *rows,
                             const kernel_entry *kernel, invariance_result *found, error *err)
{
    bool crashed;
    return judge_once(judge, rows, kernel, found, &crashed, err) &&
           (!crashed || judge_once(judge, rows, kernel, found, &crashed, err));
}

static bool same_types(const kernel_entry *a, const kernel_entry *b)
{
    return a->facts.operation == b->facts.operation && a->facts.storage == b->facts.storage &&
           a->facts.param == b->facts.param;
}

/* All kernels of the types of kernels[first], which is the first of them. */
static bool measure_types(row_judge *judge, const ln_convention *convention, progress_bar *progress,
                          const kernel_entry *const *kernels, invariance_result *found,
                          size_t count, size_t first, error *err)
{
    invariance_rows rows;
    if (!invariance_rows_make(judge, convention, &kernels[first]->facts, &rows, err))
        return false;
    bool fine = true;
    for (size_t i = first; fine && i < count; i++) {
        if (!same_types(kernels[first], kernels[i]))
            continue;
        if (progress && !kernels[i]->unsupported[0])
            progress_step(progress, invariance_seconds, kernels[i]->facts.name);
        fine = (!interrupted() || fail(err, EXIT_CODE_INTERRUPTED, "interrupted")) &&
               judge_invariance(judge, &rows, kernels[i], &found[i], err);
    }
    invariance_rows_free(&rows);
    return fine;
}

bool invariance_measure(row_judge *judge, const ln_convention *convention, progress_bar *progress,
                        const kernel_list *all, const kernel_entry *const *own,
                        invariance_result *found, size_t count, error *err)
{
    const kernel_entry **family = malloc((all->count + 1) * sizeof *family);
    invariance_result *each = calloc(all->count + 1, sizeof *each);
    bool fine = (family && each) || fail_memory(err, "the kernels' invariance");
    const size_t measured = fine ? with_families(all, own, count, family) : 0;
    for (size_t i = 0; fine && i < measured; i++) {
        bool first = true;
        for (size_t before = 0; before < i; before++)
            first = first && !same_types(family[before], family[i]);
        fine = !first || measure_types(judge, convention, progress, family, each, measured, i, err);
    }
    if (fine) {
        invariance_compare_isas(family, each, measured);
        memcpy(found, each, count * sizeof *found);
    }
    free(family);
    free(each);
    return fine;
}

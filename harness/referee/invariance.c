/* The same rows in every setting that a row's bits might depend on. */
#include "base/hash.h"
#include "base/interrupt.h"
#include "referee/invariance.h"
#include "referee/internal.h"
#include <stdlib.h>
#include <string.h>

/* How a setting is made. */
typedef struct arrangement {
    layout_name layout;
    size_t rows;      /* of the batch; 0: all */
    size_t moved;     /* rows that everything moves down; the last ones come first */
    unsigned threads; /* 0: one */
    unsigned again;   /* further calls, whose bits must be the same */
    size_t off;       /* bytes from where the buffers lie in timing; 1: an element */
} arrangement;

static const arrangement arrangements[INVARIANCE_SETTINGS] = {
    {.layout = LAYOUT_TIMED},
    {.layout = LAYOUT_TIMED, .again = 3},
    {.layout = LAYOUT_TIMED, .rows = 1},
    {.layout = LAYOUT_TIMED, .rows = 255},
    {.layout = LAYOUT_TIMED, .rows = 256},
    {.layout = LAYOUT_TIMED, .moved = 1},
    {.layout = LAYOUT_TIMED, .moved = 100},
    {.layout = LAYOUT_TIMED, .threads = 2, .again = 1},
    {.layout = LAYOUT_TIMED, .threads = 3, .again = 1},
    {.layout = LAYOUT_TIMED, .off = 1},
    {.layout = LAYOUT_TIMED, .off = 16},
    {.layout = LAYOUT_TIMED, .off = 32},
    {.layout = LAYOUT_BEFORE},
    {.layout = LAYOUT_IN_PLACE},
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

static bool invariance_rows_make(row_judge *judge, const invariance_request *request,
                                 const kernel_facts *of, invariance_rows *rows, error *err)
{
    *rows = (invariance_rows){0};
    for (size_t i = 0; i < (request->hidden ? 1 : INVARIANCE_HIDDEN); i++)
        if (!judge_block_generate(
                judge, &rows->plain[i],
                call_dense(&request->convention, of->storage, of->param, INVARIANCE_ROWS,
                           request->hidden ? request->hidden : invariance_hidden[i]),
                request->input, request->residual ? request->input : NULL, 0, err)) {
            invariance_rows_free(rows);
            return false;
        }
    return true;
}

/* to = from with everything `by` rows further down, or back up again. */
static void move_rows(const judge_block *block, const char *from, size_t by, char *to)
{
    size_t row_bytes = block->hidden * dtype_size(block->storage);
    size_t cut = (block->rows - by) * row_bytes;
    memcpy(to + by * row_bytes, from, cut);
    memcpy(to, from + cut, by * row_bytes);
}

/* Refusals are no differences; everything else ends the matrix. */
static bool is_refused(const case_verdict *verdict)
{
    return verdict->kind == VERDICT_DECLINED || verdict->kind == VERDICT_LOST;
}

typedef struct judged_run {
    row_judge *judge;
    const judge_block *block;
    const kernel_entry *kernel;
    char *plain, *moved, *moved_residual, *computed;
    uint64_t plain_hash[INVARIANCE_ROWS + 1]; /* of so many rows */
    case_verdict verdict;
} judged_run;

/* An element off: the parameters move with x and y, so it is one of the longer type. */
static size_t one_element(const judged_run *run)
{
    size_t storage = dtype_size(run->block->storage), param = dtype_size(run->kernel->facts.param);
    return storage > param ? storage : param;
}

/* The setting's y in run->computed, in the order of the plain rows: `rows` of them. */
static bool run_setting(judged_run *run, const arrangement *how, size_t *rows, error *err)
{
    judge_block block = *run->block;
    work_order order = worker_order(ORDER_JUDGE, run->kernel);
    order.layout = layout_named(how->layout, operations[block.operation], block.hidden);
    order.threads = how->threads;
    order.again = how->again;
    for (size_t i = 0; i < ROLES_MOST; i++)
        order.layout.tensors[i].offset += how->off == 1 ? one_element(run) : how->off;
    block.results = NULL; /* bounds are not asked for */
    block.rows = *rows = how->rows ? how->rows : block.rows;
    run->verdict = (case_verdict){.kind = VERDICT_RIGHT};
    if (how->moved) {
        move_rows(&block, block.inputs[ROLE_X], how->moved, run->moved);
        block.inputs[ROLE_X] = run->moved;
        if (block.inputs[ROLE_RESIDUAL]) {
            move_rows(&block, block.inputs[ROLE_RESIDUAL], how->moved, run->moved_residual);
            block.inputs[ROLE_RESIDUAL] = run->moved_residual;
        }
    }
    run->judge->placed = NULL; /* by its address the block is the last one */
    if (!judge_run_as(run->judge, &block, run->kernel, &order, run->computed, &run->verdict, err))
        return false;
    if (how->moved) {
        memcpy(run->moved, run->computed, judge_bytes(&block));
        move_rows(&block, run->moved, block.rows - how->moved, run->computed);
    }
    return true;
}

static void keep_plain(judged_run *run)
{
    size_t row_bytes = run->block->hidden * dtype_size(run->block->storage);
    memcpy(run->plain, run->computed, judge_bytes(run->block));
    run->plain_hash[0] = HASH_START;
    for (size_t row = 0; row < run->block->rows; row++)
        run->plain_hash[row + 1] =
            hash_bytes(run->plain_hash[row], run->plain + row * row_bytes, row_bytes);
}

static invariance_cell compare_rows(const judged_run *run, size_t rows)
{
    size_t row_bytes = run->block->hidden * dtype_size(run->block->storage);
    invariance_cell cell = {.state = CELL_SAME, .hash = run->plain_hash[rows]};
    for (size_t row = 0; row < rows; row++)
        cell.different +=
            memcmp(run->plain + row * row_bytes, run->computed + row * row_bytes, row_bytes) != 0;
    if (cell.different > 0) {
        cell.state = CELL_DIFFERS;
        cell.hash = hash_bytes(HASH_START, run->computed, rows * row_bytes);
    }
    return cell;
}

/* Whether the setting can be had at all: dense rows instead of strided ones would show nothing. Not,
 * where the kernel fails when it is asked: run->verdict. */
static bool is_taken(judged_run *run, const arrangement *how, error *err)
{
    enum { GAP = 3 };
    run->verdict = (case_verdict){.kind = VERDICT_RIGHT};
    if (how->layout == LAYOUT_IN_PLACE)
        return !(run->kernel->facts.traits & LN_TRAIT_NOT_IN_PLACE);
    if (how->layout != LAYOUT_BEFORE)
        return true;
    const judge_block *block = run->block;
    work_order order = worker_order(ORDER_SUPPORTS, run->kernel);
    worker_reply reply;
    order.problem = judge_block_call(block).problem;
    problem_set_strides(&order.problem, block->hidden + GAP);
    if (run->judge->runner->ask(run->judge->runner, &order, run->judge->settings.deadline_seconds,
                                &reply))
        return reply.value == 0;
    if (!reply_ends_run(&reply, err)) {
        run->verdict.kind = reply.verdict;
        verdict_say(&run->verdict, "in supports(): %s", reply.text);
    }
    return false;
}

/* One line of cells. False with err.code FINE: the kernel failed, see run->verdict. */
static bool run_settings(judged_run *run, invariance_result *found, invariance_cell *cells,
                         error *err)
{
    for (size_t i = 0; i < INVARIANCE_SETTINGS; i++) {
        invariance_axis axis = invariance_settings(&(size_t){0})[i].axis;
        size_t rows;
        bool taken = is_taken(run, &arrangements[i], err);
        if (err->code != EXIT_CODE_FINE || verdict_exit_code(&run->verdict) != EXIT_CODE_FINE)
            return false;
        if (!taken || !run_setting(run, &arrangements[i], &rows, err)) {
            cells[i].state = CELL_REFUSED;
            if (!taken || (i > 0 && is_refused(&run->verdict) && err->code == EXIT_CODE_FINE))
                continue;
            if (run->verdict.kind != VERDICT_NONDETERMINISTIC || err->code != EXIT_CODE_FINE)
                return false;
            cells[i].state = CELL_DIFFERS;
            cells[i].different = run->block->rows;
            found->varies |= 1u << AXIS_CALL;
            continue;
        }
        if (i == 0)
            keep_plain(run);
        cells[i] = compare_rows(run, rows);
        found->tested |= 1u << axis;
        if (cells[i].state == CELL_DIFFERS)
            referee_varies(axis, run->block->hidden, &found->varies);
    }
    return true;
}

static bool run_hidden(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                       invariance_result *found, invariance_cell *cells, error *err)
{
    size_t bytes = judge_bytes(block);
    char *room = malloc(4 * bytes);
    judged_run run = {
        .judge = judge, .block = block, .kernel = kernel, .verdict = {.kind = VERDICT_RIGHT}};
    if (room) {
        run.plain = room;
        run.moved = room + bytes;
        run.moved_residual = room + 2 * bytes;
        run.computed = room + 3 * bytes;
    }
    if (!room || !judge_reserve(judge, block, err)) {
        free(room);
        return room ? false : fail_memory(err, "the outputs of a kernel");
    }
    bool fine = run_settings(&run, found, cells, err);
    if (!fine)
        found->verdict = run.verdict;
    free(room);
    return fine;
}

static bool judge_once(row_judge *judge, const invariance_rows *rows, const kernel_entry *kernel,
                       invariance_result *found, error *err)
{
    err->code = EXIT_CODE_FINE;
    *found = (invariance_result){.verdict.kind = VERDICT_RIGHT};
    for (size_t i = 0; i < INVARIANCE_HIDDEN; i++)
        found->hidden[i] = rows->plain[i].hidden;
    if (kernel->unsupported[0]) {
        found->verdict.kind = VERDICT_DECLINED;
        verdict_say(&found->verdict, "%s", kernel->unsupported);
        return true;
    }
    for (size_t i = 0; i < INVARIANCE_HIDDEN && found->hidden[i] > 0; i++)
        if (!run_hidden(judge, &rows->plain[i], kernel, found, found->cells[i], err)) {
            found->tested = 0;
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
    return judge_once(judge, rows, kernel, found, err) &&
           (found->verdict.kind != VERDICT_CRASHED || judge_once(judge, rows, kernel, found, err));
}

static bool same_types(const kernel_entry *a, const kernel_entry *b)
{
    return a->facts.operation == b->facts.operation && a->facts.storage == b->facts.storage &&
           a->facts.param == b->facts.param;
}

/* All kernels of the types of kernels[first], which is the first of them. */
static bool measure_types(row_judge *judge, const invariance_request *request,
                          const kernel_entry *const *kernels, invariance_result *found,
                          size_t count, size_t first, error *err)
{
    invariance_rows rows;
    if (!invariance_rows_make(judge, request, &kernels[first]->facts, &rows, err))
        return false;
    bool fine = true;
    for (size_t i = first; fine && i < count; i++) {
        if (!same_types(kernels[first], kernels[i]))
            continue;
        if (request->progress && !kernels[i]->unsupported[0])
            progress_step(request->progress, invariance_seconds, kernels[i]->facts.name);
        fine = (!interrupted() || fail(err, EXIT_CODE_INTERRUPTED, "interrupted")) &&
               judge_invariance(judge, &rows, kernels[i], &found[i], err);
    }
    invariance_rows_free(&rows);
    return fine;
}

bool invariance_measure(row_judge *judge, const invariance_request *request,
                        const kernel_entry *const *kernels, invariance_result *found, size_t count,
                        error *err)
{
    for (size_t i = 0; i < count; i++) {
        bool first = true;
        for (size_t before = 0; before < i; before++)
            first = first && !same_types(kernels[before], kernels[i]);
        if (first && !measure_types(judge, request, kernels, found, count, i, err))
            return false;
    }
    invariance_compare_isas(kernels, found, count);
    return true;
}

bool invariance_measure_own(row_judge *judge, const ln_convention *convention,
                            progress_bar *progress, const kernel_list *all,
                            const kernel_entry *const *own, invariance_result *found, size_t count,
                            error *err)
{
    const kernel_entry **family = malloc((all->count + 1) * sizeof *family);
    invariance_result *each = calloc(all->count + 1, sizeof *each);
    invariance_request request = {
        .convention = *convention, .input = "normal", .progress = progress};
    bool fine = (family && each) || fail_memory(err, "the kernels' invariance");
    fine = fine && invariance_measure(judge, &request, family, each,
                                      with_families(all, own, count, family), err);
    if (fine)
        memcpy(found, each, count * sizeof *found);
    free(family);
    free(each);
    return fine;
}

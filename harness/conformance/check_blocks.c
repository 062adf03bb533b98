/* The rows of each check. */
#include "inputs/inputs.h"
#include "conformance/internal.h"
#include "conformance/cells.h"
#include "conformance/exact.h"
#include "worker/layout.h"
#include <stdlib.h>
#include <string.h>

enum {
    CALL_ROWS = 5,
    CALL_HIDDEN = 68,
    /* What a block costs beside its elements, and what all calls do, in elements. */
    BLOCK_ELEMENTS = 2500,
    CALLS_ELEMENTS = 10000000,
};

/* A stride that takes 1031 rows beyond element 2^32; rows beyond 2^16, with all there is and without
 * parameters, and beyond 2^23; ragged rows of more than 8 MiB, dense and with a stride; and, in the full plan
 * alone, dense rows beyond element 2^32. */
static const struct large_shape {
    size_t rows, hidden, step; /* step: the stride in rows */
    bool all, bare;            /* every input and output; x and y alone */
} large_shapes[] = {{1031, 513, 8197, false, false},
                    {1031, 513, 8197, true, false},
                    {(1 << 16) + 1031, 5, 1, true, false},
                    {(1 << 16) + 1031, 5, 1, false, true},
                    {((size_t)1 << 23) + 7, 3, 1, false, false},
                    {4099, 1031, 1, false, false},
                    {4099, 1031, 2, true, false},
                    {((size_t)1 << 23) + 7, 513, 1, false, false}};
enum { LARGE_SHAPES = sizeof large_shapes / sizeof *large_shapes };

static void become(conformance_task *task, size_t pack)
{
    static const size_t cells[] = {64, 768, 4096, 256, 1024, 12288};
    const size_t count = task->set ? combinations_count(task->set) : 0;
    task->first = pack;
    if (task->check == CHECK_CELLS)
        task->first = cells[pack];
    if (task->check != CHECK_COMBINATIONS)
        return;
    task->first = pack * COMBINATIONS_A_TASK;
    task->last = task->first + COMBINATIONS_A_TASK;
    task->last = task->last < count ? task->last : count;
}

static size_t count_packs(const conformance_task *task)
{
    switch (task->check) {
    case CHECK_COMBINATIONS:
        return (combinations_count(task->set) + COMBINATIONS_A_TASK - 1) / COMBINATIONS_A_TASK;
    case CHECK_CELLS:
        return CELLS_SIZES;
    case CHECK_LARGE:
        return 2;
    default:
        return 1;
    }
}

const char *conformance_check_name(conformance_check check)
{
    _Static_assert((int)CHECK_NAMES >= (int)CHECK_COUNT, "a check without a name");
    return check_names[check];
}

/* ---- what each block is ---- */

static const struct large_shape *large_shape_of(const conformance_task *task, size_t index)
{
    return &large_shapes[task->first ? LARGE_SHAPES - 1 : index];
}

static size_t count_blocks(const conformance_task *task)
{
    switch (task->check) {
    case CHECK_COMBINATIONS:
        return task->last - task->first;
    case CHECK_CELLS:
        return cells_blocks();
    case CHECK_LARGE:
        return task->first ? 1 : LARGE_SHAPES - 1;
    case CHECK_EXACT:
        return exact_blocks(task->convention.operation);
    default:
        return 1;
    }
}

static ln_problem problem_of(const conformance_task *task, size_t index)
{
    size_t rows = CALL_ROWS, hidden = CALL_HIDDEN;
    if (task->check == CHECK_COMBINATIONS) {
        combination of = combinations_at(task->set, task->first + index);
        return combination_problem(&of, task->storage, task->param);
    }
    if (task->check == CHECK_EXACT)
        return exact_problem(task, index);
    if (task->check == CHECK_CELLS) {
        rows = CELLS_ROWS;
        hidden = task->first;
    } else if (task->check == CHECK_LARGE) {
        rows = large_shape_of(task, index)->rows;
        hidden = large_shape_of(task, index)->hidden;
    }
    return problem_dense(&task->convention, task->storage, task->param, rows, hidden);
}

size_t conformance_elements(const conformance_task *task)
{
    size_t elements = 0;
    if (task->check == CHECK_CALLS)
        return CALLS_ELEMENTS;
    for (size_t i = 0; i < count_blocks(task); i++) {
        ln_problem problem = problem_of(task, i);
        elements += problem.rows * problem.hidden + BLOCK_ELEMENTS;
    }
    /* Of large tensors few rows are judged. */
    return task->check == CHECK_LARGE ? elements / 16 : elements;
}

bool conformance_pack(conformance_task *task, size_t pack, size_t *rows, size_t *hidden)
{
    if (pack >= count_packs(task))
        return false;
    become(task, pack);
    *rows = *hidden = 0;
    if (task->check == CHECK_COMBINATIONS) {
        *rows = task->first + 1;
        *hidden = task->last;
    }
    for (size_t i = 0; task->check != CHECK_COMBINATIONS && i < count_blocks(task); i++) {
        ln_problem problem = problem_of(task, i);
        *rows = problem.rows > *rows ? problem.rows : *rows;
        *hidden = problem.hidden > *hidden ? problem.hidden : *hidden;
    }
    return true;
}

/* ---- rows ---- */

/* Everything that one block is made from, a residual too. */
static bool call_make(const conformance_task *task, size_t rows, size_t hidden, operation_call *raw,
                      error *err)
{
    *raw = call_dense(&task->convention, task->storage, task->param, rows, hidden);
    return call_allocate(raw, true) || fail_memory(err, "the rows of a check");
}

/* The block, with or without the residual. Frees what it was made from. */
static bool make_block(row_judge *judge, operation_call *raw, bool residual, bool fine,
                       judge_block *block, error *err)
{
    operation_call wanted = *raw;
    if (!residual)
        wanted.inputs[ROLE_RESIDUAL] = NULL;
    fine = fine && judge_block_from(judge, block, &wanted, err);
    call_free(raw);
    return fine;
}

/* The row of an input. */
static void *row_at(const operation_call *raw, size_t role, size_t row)
{
    return (char *)raw->inputs[role] + row * raw->problem.hidden * dtype_size(raw->problem.storage);
}

/* `centred` rows about zero, then as many three deviations off it. */
static bool make_size(row_judge *judge, const conformance_task *task, size_t rows, size_t centred,
                      size_t hidden, judge_block *block, error *err)
{
    uint64_t seed = judge->settings.seed;
    operation_call raw;
    bool fine = call_make(task, rows, hidden, &raw, err) &&
                input_call("normal", NULL, &raw, seed, 0, err) &&
                input_rows("offset:3", task->storage, seed, 0, rows - centred, hidden,
                           row_at(&raw, ROLE_X, centred), err);
    return make_block(judge, &raw, false, fine, block, err);
}

/* One that has no parameters, with the eps of that of the run. */
static ln_convention bare_convention(const ln_convention *of)
{
    const operation *what = operations[of->operation];
    ln_convention found = *of;
    bool bare = false;
    for (size_t number = 0; !bare && number < convention_count(what); number++) {
        found = convention_numbered(what, number);
        bare = found.eps_place == of->eps_place;
        for (size_t i = 0; i < what->count; i++)
            bare = bare &&
                   !(role_is_parameter(&what->roles[i]) && role_is_needed(&what->roles[i], &found));
    }
    found.eps = of->eps;
    return bare ? found : *of;
}

/* The block has the rows that are looked at. */
static bool make_large(row_judge *judge, const conformance_task *of,
                       const struct large_shape *shape, large_tensors *large, judge_block *block,
                       error *err)
{
    conformance_task own = *of, *task = &own;
    if (shape->bare)
        own.convention = bare_convention(&of->convention);
    size_t hidden = shape->hidden, row_bytes = hidden * dtype_size(task->storage);
    size_t rows[LARGE_ROWS], count;
    operation_call raw;
    *large = (large_tensors){.problem = problem_dense(&task->convention, task->storage, task->param,
                                                      shape->rows, hidden),
                             .period = malloc(LARGE_PERIOD * row_bytes),
                             .seed = judge->settings.seed};
    problem_set_strides(&large->problem, shape->step * hidden);
    count = large_rows(&large->problem, large->seed, rows);
    bool fine = call_make(task, LARGE_ROWS, hidden, &raw, err) &&
                (large->period || fail_memory(err, "the rows of a check")) &&
                input_rows("normal", task->storage, large->seed, 0, LARGE_PERIOD, hidden,
                           large->period, err) &&
                input_parameters("normal", &raw, large->seed, err);
    for (size_t i = 0; fine && i < count; i++) {
        const char *period = large->period;
        size_t row = large_row_of_block(&large->problem, rows[i]);
        memcpy(row_at(&raw, ROLE_X, i), period + row * row_bytes, row_bytes);
        memcpy(row_at(&raw, ROLE_RESIDUAL, i),
               period + (row + LARGE_RESIDUAL_ROW) % LARGE_PERIOD * row_bytes, row_bytes);
    }
    raw.problem.rows = count;
    fine = make_block(judge, &raw, shape->all, fine, block, err);
    if (!fine)
        free(large->period);
    return fine;
}

static bool make_blocks(row_judge *judge, const conformance_task *task, conformance_blocks *blocks,
                        error *err)
{
    const size_t i = blocks->count;
    judge_block *block = &blocks->blocks[i];
    switch (task->check) {
    case CHECK_COMBINATIONS:
        blocks->of[i] = combinations_at(task->set, task->first + i);
        return combination_block(judge, &blocks->of[i], task->storage, task->param, block, err);
    case CHECK_LARGE:
        return make_large(judge, task, large_shape_of(task, i), &blocks->large[i], block, err);
    case CHECK_CELLS:
        return cells_make(judge, task, i, block, err);
    case CHECK_EXACT:
        return exact_make(judge, task, i, block, err);
    default:
        return make_size(judge, task, CALL_ROWS, CALL_ROWS / 2, CALL_HIDDEN, block, err);
    }
}

bool conformance_prepare(row_judge *judge, const conformance_task *task, conformance_blocks *blocks,
                         error *err)
{
    const size_t count = count_blocks(task);
    *blocks = (conformance_blocks){.blocks = calloc(count, sizeof *blocks->blocks),
                                   .of = calloc(count, sizeof *blocks->of),
                                   .large = calloc(count, sizeof *blocks->large)};
    bool fine =
        (blocks->blocks && blocks->of && blocks->large) || fail_memory(err, "the rows of a check");
    for (; fine && blocks->count < count; blocks->count += fine)
        fine = make_blocks(judge, task, blocks, err);
    if (!fine)
        conformance_release(blocks);
    return fine;
}

void conformance_release(conformance_blocks *blocks)
{
    for (size_t i = 0; i < blocks->count; i++) {
        judge_block_free(&blocks->blocks[i]);
        free(blocks->large[i].period);
    }
    free(blocks->blocks);
    free(blocks->of);
    free(blocks->large);
    *blocks = (conformance_blocks){0};
}

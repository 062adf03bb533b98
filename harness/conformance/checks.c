/* The rows of each check; and a kernel on all of them, summed up. */
#include "base/hash.h"
#include "base/program.h"
#include "conformance/internal.h"
#include "inputs/inputs.h"
#include "worker/layout.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    CALLS = 75000,
    CALL_ROWS = 5,
    CALL_HIDDEN = 68,
    /* What a block costs beside its elements, and what all calls do, in elements. */
    BLOCK_ELEMENTS = 2500,
    CALLS_ELEMENTS = 3000000,
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

/* Sizes at which kernels change their way: about the caches, 32 and 64 MiB, and a row that no stack holds. Few
 * rows come again and again, so that all of them are held to exact answers. The quick plan has the first ones. */
static const struct plain_shape {
    size_t rows, hidden;
    layout_name layout;
} plain_shapes[] = {{256, 1024, LAYOUT_BEFORE},   {256, 2048, LAYOUT_TIMED},
                    {256, 4096, LAYOUT_IN_PLACE}, {2560, 64, LAYOUT_TIMED},
                    {2560, 96, LAYOUT_TIMED},     {2560, 1024, LAYOUT_TIMED},
                    {2560, 4096, LAYOUT_TIMED},   {8209, 1027, LAYOUT_TIMED},
                    {16384, 96, LAYOUT_IN_PLACE}, {2560, 2048, LAYOUT_BEFORE},
                    {16640, 1024, LAYOUT_TIMED},  {1, ((size_t)1 << 22) + 5, LAYOUT_TIMED}};
enum {
    PLAIN_SHAPES = sizeof plain_shapes / sizeof *plain_shapes,
    PLAIN_QUICK = 9,
    PLAIN_ROWS = 31
};

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

/* NULL: it is none of these. */
static const struct plain_shape *plain_shape_of(const conformance_task *task, size_t index)
{
    const size_t quick = LARGE_SHAPES - 1;
    if (task->check != CHECK_LARGE || (task->first != LARGE_PLAIN && index < quick))
        return NULL;
    return &plain_shapes[task->first == LARGE_PLAIN ? PLAIN_QUICK + index : index - quick];
}

static size_t count_blocks(const conformance_task *task)
{
    switch (task->check) {
    case CHECK_COMBINATIONS:
        return task->last - task->first;
    case CHECK_LARGE:
        return task->first == LARGE_WHOLE   ? 1
               : task->first == LARGE_PLAIN ? PLAIN_SHAPES - PLAIN_QUICK
                                            : LARGE_SHAPES - 1 + PLAIN_QUICK;
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
    const struct plain_shape *plain = plain_shape_of(task, index);
    if (plain) {
        rows = plain->rows;
        hidden = plain->hidden;
    } else if (task->check == CHECK_LARGE) {
        rows = large_shape_of(task, index)->rows;
        hidden = large_shape_of(task, index)->hidden;
    }
    return problem_dense(&task->convention, task->storage, task->param, rows, hidden);
}

size_t conformance_elements(const conformance_task *task)
{
    size_t elements = 0;
    if (task->check == CHECK_GROWTH)
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
    const size_t problems = task->set ? combinations_count(task->set) : 0;
    const bool of_array = task->check == CHECK_COMBINATIONS;
    const size_t packs = of_array ? (problems + COMBINATIONS_A_TASK - 1) / COMBINATIONS_A_TASK
                                  : (task->check == CHECK_LARGE ? LARGE_PACKS : 1);
    if (pack >= packs)
        return false;
    task->first = of_array ? pack * COMBINATIONS_A_TASK : pack;
    task->last = task->first + COMBINATIONS_A_TASK;
    task->last = task->last < problems ? task->last : problems;
    *rows = of_array ? task->first + 1 : 0;
    *hidden = of_array ? task->last : 0;
    for (size_t i = 0; !of_array && i < count_blocks(task); i++) {
        ln_problem problem = problem_of(task, i);
        if (pack == 0 && plain_shape_of(task, i))
            break;
        *rows = problem.rows > *rows ? problem.rows : *rows;
        *hidden = problem.hidden > *hidden ? problem.hidden : *hidden;
    }
    return true;
}

/* ---- rows ---- */

/* The row of an input. */
static void *row_at(const operation_call *raw, size_t role, size_t row)
{
    return (char *)raw->inputs[role] + row * raw->problem.hidden * dtype_size(raw->problem.storage);
}

/* Rows about zero, then rows three deviations off it. */
static void make_called_rows(row_judge *judge, const conformance_task *task, arena *memory,
                             judge_block *block)
{
    enum { CENTRED = CALL_ROWS / 2 };
    const uint64_t seed = judge->settings.seed;
    operation_call raw =
        call_dense(&task->convention, task->storage, task->param, CALL_ROWS, CALL_HIDDEN);
    call_allocate(memory, &raw, false);
    input_call("normal", NULL, &raw, seed, 0);
    input_rows("offset:3", task->storage, seed, 0, CALL_ROWS - CENTRED, CALL_HIDDEN,
               row_at(&raw, ROLE_X, CENTRED));
    judge_block_from(judge, block, &raw);
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
static void make_large(row_judge *judge, const conformance_task *task,
                       const struct large_shape *shape, arena *memory, large_tensors *large,
                       judge_block *block)
{
    const ln_convention convention =
        shape->bare ? bare_convention(&task->convention) : task->convention;
    const size_t hidden = shape->hidden, row_bytes = hidden * dtype_size(task->storage);
    size_t rows[LARGE_ROWS];
    char *period = arena_new(memory, char, LARGE_PERIOD *row_bytes);
    *large = (large_tensors){
        .problem = problem_dense(&convention, task->storage, task->param, shape->rows, hidden),
        .period = period,
        .seed = judge->settings.seed};
    problem_set_strides(&large->problem, shape->step * hidden);
    const size_t count = large_rows(&large->problem, large->seed, rows);
    operation_call raw = call_dense(&convention, task->storage, task->param, count, hidden);
    call_allocate(memory, &raw, shape->all);
    input_rows("normal", task->storage, large->seed, 0, LARGE_PERIOD, hidden, period);
    input_parameters("normal", &raw, large->seed);
    for (size_t i = 0; i < count; i++) {
        size_t row = large_row_of_block(&large->problem, rows[i]);
        memcpy(row_at(&raw, ROLE_X, i), period + row * row_bytes, row_bytes);
        if (shape->all)
            memcpy(row_at(&raw, ROLE_RESIDUAL, i),
                   period + (row + LARGE_RESIDUAL_ROW) % LARGE_PERIOD * row_bytes, row_bytes);
    }
    judge_block_from(judge, block, &raw);
}

void conformance_prepare(row_judge *judge, const conformance_task *task, conformance_blocks *made)
{
    const size_t count = count_blocks(task);
    *made = (conformance_blocks){.count = count};
    made->blocks = arena_new(&made->memory, judge_block, count);
    made->of = arena_new(&made->memory, combination, count);
    made->large = arena_new(&made->memory, large_tensors, count);
    for (size_t i = 0; i < count; i++) {
        judge_block *block = &made->blocks[i];
        made->of[i] = task->check == CHECK_COMBINATIONS
                          ? combinations_at(task->set, task->first + i)
                          : (combination){0};
        const struct plain_shape *plain = plain_shape_of(task, i);
        if (task->check == CHECK_COMBINATIONS)
            combination_block(judge, &made->of[i], task->storage, task->param, block);
        else if (plain) /* the rows that differ */
            judge_block_generate(judge, block,
                                 call_dense(&task->convention, task->storage, task->param,
                                            plain->rows < PLAIN_ROWS ? plain->rows : PLAIN_ROWS,
                                            plain->hidden),
                                 "normal", NULL, 0);
        else if (task->check == CHECK_LARGE)
            make_large(judge, task, large_shape_of(task, i), &made->memory, &made->large[i], block);
        else if (task->check == CHECK_EXACT)
            exact_make(judge, task, i, block);
        else
            make_called_rows(judge, task, &made->memory, block);
    }
}

void conformance_release(conformance_blocks *blocks)
{
    for (size_t i = 0; i < blocks->count; i++)
        judge_block_free(&blocks->blocks[i]);
    arena_free(&blocks->memory);
    *blocks = (conformance_blocks){0};
}

/* ---- a kernel on all blocks ---- */

/* One block's judgement into that of the check, where no other was judged before: the gravest verdict, the
 * metrics of the largest error. */
static void add_up(case_judgement *all, const case_judgement *one, const judge_block *block,
                   size_t *judged)
{
    const case_verdict *verdict = &one->verdict;
    if (verdict->kind == VERDICT_DECLINED) {
        if (*judged == 0)
            all->verdict = *verdict;
        return;
    }
    if ((*judged)++ == 0)
        all->verdict = (case_verdict){.kind = VERDICT_RIGHT};
    bool first = verdict_is_right(all->verdict.kind) && !verdict_is_right(verdict->kind);
    if (first || (!verdict_is_fault(all->verdict.kind) && verdict_is_fault(verdict->kind))) {
        all->verdict = *verdict;
        verdict_say(&all->verdict, "%zux%zu%s%s: %s", block->rows, block->hidden,
                    block->inputs[ROLE_RESIDUAL] ? " with a residual" : "",
                    block->inputs[ROLE_GAMMA] ? "" : " without gamma", verdict->detail);
    } else if (all->verdict.kind == VERDICT_RIGHT && verdict_is_right(verdict->kind)) {
        all->verdict.kind = verdict->kind;
    }
    if (one->metrics.elements > 0 && !(one->metrics.row_ulp_max <= all->metrics.row_ulp_max))
        all->metrics = one->metrics;
    if (!(one->bound_row_ulp <= all->bound_row_ulp))
        all->bound_row_ulp = one->bound_row_ulp;
    all->output_hash = hash_bytes(all->output_hash, &one->output_hash, sizeof one->output_hash);
}

/* x's rows behind all else in the worker's memory, and the shape that the call really has. */
static void place_large(row_judge *judge, const judge_block *block, const large_tensors *large,
                        work_order *order)
{
    const size_t bytes = LARGE_PERIOD * block->hidden * dtype_size(block->storage);
    order->problem = large->problem;
    order->seed = large->seed;
    if (!block->inputs[ROLE_RESIDUAL]) /* then y alone is asked for */
        order->at.tensors[ROLE_MEAN] = order->at.tensors[ROLE_RSTD] = -1;
    off_t x = order->at.tensors[ROLE_X] =
        order->at.bounds + (off_t)(block->rows * sizeof(ln_bound));
    judge_reach(judge, (size_t)x + bytes);
    memcpy(judge_memory(judge, x), large->period, bytes);
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

/* The worker makes all calls, or the one on large tensors; what came out first is judged here. */
static void examine_calls(row_judge *judge, const judge_block *block, const large_tensors *large,
                          const kernel_entry *kernel, case_judgement *judgement)
{
    static const double slow_element = 50e-9; /* seconds of a slow kernel on large tensors */
    work_order order = worker_order(large ? ORDER_CALL_LARGE : ORDER_GROW, kernel);
    row_findings findings = {.verdict.kind = VERDICT_RIGHT};
    const size_t result = operations[block->operation]->result;
    double more = 0;
    worker_reply answer;
    bool has_bound;
    judge_reserve(judge, block);
    if (!judge_bounds(judge, block, kernel, &has_bound, &judgement->verdict))
        return;
    judge_place(judge, block, &order);
    order.count = CALLS;
    order.seed = judge->settings.seed;
    if (large) {
        place_large(judge, block, large, &order);
        more = slow_element * (double)large->problem.rows * (double)large->problem.hidden;
    }
    if (!judge_ask(judge, &order, more, &answer, &judgement->verdict))
        return;
    memcpy(judge->computed, judge_memory(judge, order.at.tensors[result]), judge_bytes(block));
    judged_kind kind = judged_kind_of(kernel, has_bound);
    if (block->inputs[ROLE_RESIDUAL])
        judge_read_beside(judge, block, kernel, &order, ~0u, &findings.verdict);
    judge_call(judge, block, judge->computed, &kind, block->inputs[ROLE_RESIDUAL], &findings,
               judgement);
    if (verdict_is_right(judgement->verdict.kind)) /* what it says of slow calls */
        verdict_say(&judgement->verdict, "%s", answer.text);
    judgement->output_hash = hash_bytes(HASH_START, judge->computed, judge_bytes(block));
}

/* All rows of a plain shape, in its layout; *shown: the block with them. */
static void examine_plain(row_judge *judge, const struct plain_shape *shape,
                          const kernel_entry *kernel, judge_block *shown, case_judgement *judgement)
{
    row_findings findings = {.verdict.kind = VERDICT_RIGHT};
    const judge_block head = *shown;
    bool has_bound, in_place = !(kernel->facts.traits & LN_TRAIT_NOT_IN_PLACE);
    layout_name layout =
        shape->layout != LAYOUT_IN_PLACE || in_place ? shape->layout : LAYOUT_TIMED;
    shown->memory = (arena){0};
    judge_block_repeat(shown, shape->rows);
    judge_reserve(judge, shown);
    if (judge_bounds(judge, &head, kernel, &has_bound, &judgement->verdict) &&
        judge_run(judge, shown, kernel, layout, judge->computed, &judgement->verdict)) {
        const judged_kind kind = judged_kind_of(kernel, has_bound);
        for (size_t row = head.rows; row < shown->rows; row++)
            judge->bounds[row] = judge->bounds[row % head.rows];
        judge_rows(judge, shown, judge->computed, &kind, &findings);
        judge_measure(judge, &head, judge->computed, has_bound, false, judgement);
        judge_conclude(judge, &head, has_bound, &findings, judgement);
        judgement->output_hash = hash_bytes(HASH_START, judge->computed, judge_bytes(&head));
    }
    judge->placed = NULL;
    arena_free(&shown->memory);
}

/* One block after the other, up to the first fault. A check of which a block is lost is lost, unless another
 * block has shown a fault. */
static void run_blocks(row_judge *judge, const conformance_task *task,
                       const conformance_blocks *blocks, const kernel_entry *kernel,
                       case_judgement *judgement)
{
    case_verdict lost = {0};
    size_t judged = 0;
    bool over = false;
    for (size_t i = 0; !over && i < blocks->count && !interrupted(); i++) {
        const large_tensors *large = blocks->large[i].period ? &blocks->large[i] : NULL;
        judge_block shown = blocks->blocks[i];
        case_judgement one = {.bound_row_ulp = NAN, .output_hash = HASH_START};
        one.metrics.row_ulp_max = NAN;
        one.verdict.kind = VERDICT_RIGHT;
        if (plain_shape_of(task, i))
            examine_plain(judge, plain_shape_of(task, i), kernel, &shown, &one);
        else if (task->check == CHECK_EXACT)
            exact_judge(judge, &blocks->blocks[i], i, kernel, &one);
        else
            examine_calls(judge, &blocks->blocks[i], large, kernel, &one);
        if (large) {
            shown.rows = large->problem.rows;
            name_row(large, &one.verdict);
        }
        if (one.verdict.kind == VERDICT_LOST)
            lost = one.verdict;
        else
            add_up(judgement, &one, &shown, &judged);
        over = verdict_is_fault(one.verdict.kind);
    }
    if (lost.kind == VERDICT_LOST && !over)
        judgement->verdict = lost;
}

void conformance_examine(row_judge *judge, const conformance_task *task,
                         const conformance_blocks *blocks, const kernel_entry *kernel,
                         case_judgement *judgement)
{
    *judgement = (case_judgement){.bound_row_ulp = NAN, .output_hash = HASH_START};
    judgement->metrics.row_ulp_max = NAN;
    judgement->verdict.kind = VERDICT_RIGHT;
    if (task->check == CHECK_COMBINATIONS)
        run_combinations(judge, task, blocks, kernel, judgement);
    else
        run_blocks(judge, task, blocks, kernel, judgement);
    blame_load(kernel, judgement);
    judgement->by_row = NULL; /* the judge's, and gone with its next call */
    judgement->computed = NULL;
}

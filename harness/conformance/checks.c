/* The conformance tests: makes the rows of each check, runs a kernel on them, and combines the judgements. The covering
 * array's problems have files of their own (problems.c, covering_run.c). */
#include "base/program.h"
#include "base/hash.h"
#include "conformance/internal.h"
#include "domain/operation.h"
#include "inputs/inputs.h"
#include "metrics/storage.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    CALLS = 75000,
    CALL_ROWS = 5,
    CALL_HIDDEN = 68,
    CALL_CENTRED = CALL_ROWS / 2, /* the other rows have a mean of three standard deviations */
    /* The fixed cost of a block, and the cost of all calls, in elements. */
    BLOCK_ELEMENTS = 2500,
    CALLS_ELEMENTS = 3000000,
};

/* The shapes of CHECK_LARGE, pack by pack.
 *
 * Large tensors, of which few rows are judged: 1031 rows with a stride that reaches beyond element 2^32; more than 2^16
 * rows, with all inputs and outputs and without parameters, and more than 2^23; more than 8 MiB of rows with an odd
 * hidden size, dense and with a stride; and, only in the full plan, dense rows beyond element 2^32.
 *
 * Plain shapes, at sizes where kernels switch to another algorithm: near the sizes of the caches, 32 and 64 MiB, and a
 * row that is too long for the stack. Few rows are repeated, so that every row is compared with an exact answer. */
static const struct shape {
    size_t rows, hidden, step; /* step: the stride in rows; 0: a plain shape */
    bool all, bare;            /* all: every input and output; bare: only x and y */
    layout_name layout;        /* of a plain shape */
} shapes[] = {{1031, 513, 8197, false, false, 0},
              {1031, 513, 8197, true, false, 0},
              {(1 << 16) + 1031, 5, 1, true, false, 0},
              {(1 << 16) + 1031, 5, 1, false, true, 0},
              {((size_t)1 << 23) + 7, 3, 1, false, false, 0},
              {4099, 1031, 1, false, false, 0},
              {4099, 1031, 2, true, false, 0},
              {256, 1024, .layout = LAYOUT_BEFORE},
              {256, 2048, .layout = LAYOUT_TIMED},
              {256, 4096, .layout = LAYOUT_IN_PLACE},
              {2560, 64, .layout = LAYOUT_TIMED},
              {2560, 96, .layout = LAYOUT_TIMED},
              {2560, 1024, .layout = LAYOUT_TIMED},
              {2560, 4096, .layout = LAYOUT_TIMED},
              {8209, 1027, .layout = LAYOUT_TIMED},
              {16384, 96, .layout = LAYOUT_IN_PLACE},
              {((size_t)1 << 23) + 7, 513, 1, false, false, 0},
              {2560, 2048, .layout = LAYOUT_BEFORE},
              {16640, 1024, .layout = LAYOUT_TIMED},
              {1, ((size_t)1 << 22) + 5, .layout = LAYOUT_TIMED}};
static const size_t first_of_pack[LARGE_PACKS + 1] = {0, 16, 17, sizeof shapes / sizeof *shapes};
enum { PLAIN_ROWS = 31 };

/* ---- the shape of each block ---- */

/* Returns the shape of a block; NULL for another check than CHECK_LARGE. */
static const struct shape *shape_of(const conformance_task *task, size_t index)
{
    return task->check == CHECK_LARGE ? &shapes[first_of_pack[task->first] + index] : NULL;
}

static size_t count_blocks(const conformance_task *task)
{
    return task->check == CHECK_COMBINATIONS ? task->last - task->first
           : task->check == CHECK_LARGE
               ? first_of_pack[task->first + 1] - first_of_pack[task->first]
               : 1;
}

static ln_problem problem_of(const conformance_task *task, size_t index)
{
    const struct shape *shape = shape_of(task, index);
    if (task->check == CHECK_COMBINATIONS) {
        combination of = combinations_at(task->set, task->first + index);
        return combination_problem(&of, task->storage, task->param);
    }
    return problem_dense(&task->convention, task->storage, task->param,
                         shape ? shape->rows : CALL_ROWS, shape ? shape->hidden : CALL_HIDDEN);
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
    /* Only few rows of large tensors are judged. */
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
        if (pack == LARGE_QUICK && shape_of(task, i) && shape_of(task, i)->step == 0)
            break;
        *rows = problem.rows > *rows ? problem.rows : *rows;
        *hidden = problem.hidden > *hidden ? problem.hidden : *hidden;
    }
    return true;
}

/* ---- rows ---- */

/* Returns a row of an input. */
static void *row_at(const operation_call *raw, size_t role, size_t row)
{
    return (char *)raw->inputs[role] + row * raw->problem.hidden * dtype_size(raw->problem.storage);
}

/* Makes the rows that a large tensor repeats, or shares those of the block before if it has the same hidden size. */
static void make_period(const conformance_task *task, uint64_t seed, size_t hidden, arena *memory,
                        const conformance_block *before, conformance_block *made)
{
    if (before && before->period && before->large.hidden == hidden) {
        made->period = before->period;
        return;
    }
    made->period = arena_new(memory, char, LARGE_PERIOD *hidden *dtype_size(task->storage));
    input_rows("normal", task->storage, seed, 0, LARGE_PERIOD, hidden, made->period);
}

/* Makes the block of a large tensor's judged rows. A bare shape has the convention without parameters, if there is
 * one, and the run's eps. */
static void make_large(row_judge *judge, const conformance_task *task, const struct shape *shape,
                       arena *memory, const conformance_block *before, conformance_block *made)
{
    const operation *what = operations[task->convention.operation];
    const size_t hidden = shape->hidden, row_bytes = hidden * dtype_size(task->storage);
    const uint64_t seed = judge->settings.seed;
    ln_convention convention = task->convention;
    size_t rows[LARGE_ROWS];
    bool bare = !shape->bare;
    for (size_t number = 0; !bare && number < convention_count(what); number++) {
        ln_convention found = convention_numbered(what, number);
        bare = found.eps_place == task->convention.eps_place;
        for (size_t i = 0; i < what->count; i++)
            bare = bare &&
                   !(role_is_parameter(&what->roles[i]) && role_is_needed(&what->roles[i], &found));
        found.eps = task->convention.eps;
        convention = bare ? found : convention;
    }
    made->large = problem_dense(&convention, task->storage, task->param, shape->rows, hidden);
    problem_set_strides(&made->large, shape->step * hidden);
    const size_t count = large_rows(&made->large, seed, rows);
    operation_call raw = call_dense(&convention, task->storage, task->param, count, hidden);
    call_allocate(memory, &raw, shape->all);
    make_period(task, seed, hidden, memory, before, made);
    const char *period = made->period;
    input_parameters("normal", &raw, seed);
    for (size_t i = 0; i < count; i++) {
        size_t row = large_row_of_block(&made->large, rows[i]);
        memcpy(row_at(&raw, ROLE_X, i), period + row * row_bytes, row_bytes);
        if (shape->all)
            memcpy(row_at(&raw, ROLE_RESIDUAL, i),
                   period + (row + LARGE_RESIDUAL_ROW) % LARGE_PERIOD * row_bytes, row_bytes);
    }
    judge_block_from(judge, &made->block, &raw);
}

void conformance_prepare(row_judge *judge, const conformance_task *task, conformance_blocks *made)
{
    *made = (conformance_blocks){.task = *task, .count = count_blocks(task)};
    made->blocks = arena_new(&made->memory, conformance_block, made->count);
    for (size_t i = 0; i < made->count; i++) {
        conformance_block *one = &made->blocks[i];
        const struct shape *shape = shape_of(task, i);
        operation_call call =
            call_dense(&task->convention, task->storage, task->param, CALL_ROWS, CALL_HIDDEN);
        switch (task->check) {
        case CHECK_COMBINATIONS:
            one->of = combinations_at(task->set, task->first + i);
            combination_block(judge, &one->of, task->storage, task->param, &one->block);
            break;
        case CHECK_LARGE:
            if (shape->step > 0) {
                make_large(judge, task, shape, &made->memory, i > 0 ? one - 1 : NULL, one);
                break;
            }
            call.problem = problem_of(task, i); /* the distinct rows, which are repeated later */
            call.problem.rows = shape->rows < PLAIN_ROWS ? shape->rows : PLAIN_ROWS;
            judge_block_generate(judge, &one->block, call, "normal", NULL, 0);
            break;
        default:
            call_allocate(&made->memory, &call, false);
            input_call("normal", NULL, &call, judge->settings.seed, 0);
            input_rows("offset:3", task->storage, judge->settings.seed, 0, CALL_ROWS - CALL_CENTRED,
                       CALL_HIDDEN, row_at(&call, ROLE_X, CALL_CENTRED));
            judge_block_from(judge, &one->block, &call);
        }
    }
}

void conformance_release(conformance_blocks *blocks)
{
    for (size_t i = 0; i < blocks->count; i++)
        judge_block_free(&blocks->blocks[i].block);
    arena_free(&blocks->memory);
    *blocks = (conformance_blocks){0};
}

/* ---- a kernel on all blocks ---- */

/* Has the worker make many calls, or one call on a large tensor, and judges the first output. */
static void examine_calls(row_judge *judge, const conformance_block *check,
                          const kernel_entry *kernel, case_judgement *judgement)
{
    static const double slow_element = 50e-9; /* seconds that a slow kernel takes for an element */
    const judge_block *block = &check->block;
    const bool all = block->inputs[ROLE_RESIDUAL];
    worker_message message = message_for(check->period ? MESSAGE_CALL_LARGE : MESSAGE_GROW, kernel);
    row_findings findings = {.verdict.kind = VERDICT_PASS};
    const size_t result = operations[block->operation]->result;
    double more = 0;
    worker_reply answer;
    bool has_bound;
    judge_reserve(judge, block);
    if (!judge_bounds(judge, block, kernel, &has_bound, &judgement->verdict))
        return;
    judge_place(judge, block, &message);
    message.count = CALLS;
    message.seed = judge->settings.seed;
    if (check->period) { /* x's rows go behind everything else; the call has the large shape */
        const size_t bytes = LARGE_PERIOD * block->hidden * dtype_size(block->storage);
        const off_t x = message.at.bounds + (off_t)(block->rows * sizeof(ln_bound));
        message.problem = check->large;
        message.at.tensors[ROLE_X] = x;
        if (!all) /* then only y is requested */
            message.at.tensors[ROLE_MEAN] = message.at.tensors[ROLE_RSTD] = -1;
        judge->runner->reserve(judge->runner, (size_t)x + bytes);
        memcpy(judge_memory(judge, x), check->period, bytes);
        more = slow_element * (double)message.problem.rows * (double)message.problem.hidden;
    }
    if (!judge_ask(judge, &message, more, &answer, &judgement->verdict))
        return;
    memcpy(judge->computed, judge_memory(judge, message.at.tensors[result]), judge_bytes(block));
    judged_kind kind = judged_kind_of(kernel, has_bound);
    if (all)
        judge_read_beside(judge, block, kernel, &message, ~0u, &findings.verdict);
    judge_call(judge, block, judge->computed, &kind, all, &findings, judgement);
    if (verdict_is_right(judgement->verdict.kind)) /* the worker's remark on slow calls */
        verdict_say(&judgement->verdict, "%s", answer.text);
    judgement->output_hash = hash_bytes(HASH_START, judge->computed, judge_bytes(block));
}

/* Judges all rows of a plain shape, in its layout. */
static void examine_plain(row_judge *judge, const struct shape *shape, const judge_block *head,
                          const kernel_entry *kernel, case_judgement *judgement)
{
    row_findings findings = {.verdict.kind = VERDICT_PASS};
    judge_block shown = *head;
    bool has_bound, in_place = !(kernel->facts.traits & LN_TRAIT_NOT_IN_PLACE);
    shown.memory = (arena){0};
    judge_block_repeat(&shown, shape->rows);
    worker_message message =
        judge_message(shape->layout != LAYOUT_IN_PLACE || in_place ? shape->layout : LAYOUT_TIMED,
                      &shown, kernel);
    judge_reserve(judge, &shown);
    if (judge_bounds(judge, head, kernel, &has_bound, &judgement->verdict) &&
        judge_run(judge, &shown, kernel, &message, judge->computed, &judgement->verdict)) {
        const judged_kind kind = judged_kind_of(kernel, has_bound);
        for (size_t row = head->rows; row < shown.rows; row++)
            judge->bounds[row] = judge->bounds[row % head->rows];
        judge_rows(judge, &shown, judge->computed, &kind, &findings);
        judge_measure(judge, head, judge->computed, has_bound, false, judgement);
        judge_conclude(judge, head, &kind, &findings, judgement);
        judgement->output_hash = hash_bytes(HASH_START, judge->computed, judge_bytes(head));
    }
    arena_free(&shown.memory);
}

/* Adds a block's judgement, on a call of `rows` rows; keeps the worst verdict and the metrics of the worst error. */
static void add_up(case_judgement *all, const case_judgement *one, const judge_block *block,
                   size_t rows, size_t *judged)
{
    const case_verdict *verdict = &one->verdict;
    if (verdict->kind == VERDICT_UNSUPPORTED) {
        if (*judged == 0)
            all->verdict = *verdict;
        return;
    }
    if ((*judged)++ == 0)
        all->verdict = (case_verdict){.kind = VERDICT_PASS};
    bool first = verdict_is_right(all->verdict.kind) && !verdict_is_right(verdict->kind);
    if (first || (!verdict_is_fault(all->verdict.kind) && verdict_is_fault(verdict->kind))) {
        all->verdict = *verdict;
        verdict_say(&all->verdict, "%zux%zu%s%s: %s", rows, block->hidden,
                    block->inputs[ROLE_RESIDUAL] ? " with a residual" : "",
                    block->inputs[ROLE_GAMMA] ? "" : " without gamma", verdict->detail);
    } else if (all->verdict.kind == VERDICT_PASS && verdict_is_right(verdict->kind)) {
        all->verdict.kind = verdict->kind;
    }
    judge_add_figures(all, one);
}

/* Runs the blocks up to the first fault. If a block is missing, so is the check, unless another block has a fault. */
static void run_blocks(row_judge *judge, const conformance_blocks *blocks,
                       const kernel_entry *kernel, case_judgement *judgement)
{
    case_verdict missing = {0};
    size_t judged = 0;
    bool over = false;
    for (size_t i = 0; !over && i < blocks->count && !interrupted(); i++) {
        const conformance_block *check = &blocks->blocks[i];
        const struct shape *shape = shape_of(&blocks->task, i);
        case_judgement one = {.bound_row_ulp = NAN, .output_hash = HASH_START};
        one.metrics.row_ulp_max = NAN;
        one.verdict.kind = VERDICT_PASS;
        if (shape && shape->step == 0)
            examine_plain(judge, shape, &check->block, kernel, &one);
        else
            examine_calls(judge, check, kernel, &one);
        if (check->period) { /* replace the row's index in the block by its index in the tensor */
            size_t rows[LARGE_ROWS], row;
            size_t count = large_rows(&check->large, judge->settings.seed, rows);
            int length;
            if (sscanf(one.verdict.detail, "row %zu%n", &row, &length) == 1 && row < count)
                verdict_say(&one.verdict, "row %zu%s", rows[row], one.verdict.detail + length);
        }
        if (one.verdict.kind == VERDICT_MISSING)
            missing = one.verdict;
        else
            add_up(judgement, &one, &check->block, shape ? shape->rows : check->block.rows,
                   &judged);
        over = verdict_is_fault(one.verdict.kind);
    }
    if (missing.kind == VERDICT_MISSING && !over)
        judgement->verdict = missing;
}

void conformance_examine(row_judge *judge, const conformance_blocks *blocks,
                         const kernel_entry *kernel, case_judgement *judgement)
{
    *judgement = (case_judgement){.bound_row_ulp = NAN, .output_hash = HASH_START};
    judgement->metrics.row_ulp_max = NAN;
    judgement->verdict.kind = VERDICT_PASS;
    (blocks->task.check == CHECK_COMBINATIONS ? run_combinations : run_blocks)(judge, blocks,
                                                                               kernel, judgement);
    report_change_at_load(kernel, judgement);
    judgement->by_row = NULL; /* it belongs to the judge, and is valid only until its next call */
    judgement->computed = NULL;
}

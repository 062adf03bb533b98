/* The conformance tests one by one: the rows of each check; and a kernel on all of them, summed up. The covering
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
    CALL_CENTRED = CALL_ROWS / 2, /* the other rows lie three deviations off zero */
    /* What a block costs beside its elements, and what all calls do, in elements. */
    BLOCK_ELEMENTS = 2500,
    CALLS_ELEMENTS = 3000000,
};

/* The shapes of CHECK_LARGE, pack by pack.
 *
 * Large tensors, of which few rows are looked at: a stride that takes 1031 rows beyond element 2^32; rows beyond
 * 2^16, with all there is and without parameters, and beyond 2^23; ragged rows of more than 8 MiB, dense and with a
 * stride; and, in the full plan alone, dense rows beyond element 2^32.
 *
 * Plain shapes, at sizes where kernels change their way: about the caches, 32 and 64 MiB, and a row that no stack
 * holds. Few rows come again and again, so that all of them are held to exact answers. */
static const struct shape {
    size_t rows, hidden, step; /* step: the stride in rows; 0: a plain shape */
    bool all, bare;            /* every input and output; x and y alone */
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

/* ---- kernels that claim to round correctly (LN_TRAIT_CORRECTLY_ROUNDED) ----
 *
 * Their bits are compared with those of the certified reference, on 100,000 elements of every operation, under
 * its conventions with several eps, of the input families and of rows aimed at midpoints of two numbers, with
 * and without a residual, short rows and long ones. Which blocks there are follows from the operation, and what
 * they hold from the seed. */

enum {
    EXACT_ELEMENTS = 100000, /* of all blocks, at least */
    EXACT_BLOCK = 1000,
    MOST_ROWS = 9,
    MOST_HIDDEN = 4099,
    AIMED_EACH = 4
};

/* One block. */
typedef struct exact_case {
    ln_convention convention;
    const char *input; /* NULL: aimed at midpoints */
    size_t rows, hidden;
    bool residual;
} exact_case;

static uint64_t below(uint64_t *state, uint64_t limit)
{
    return splitmix64(state) % limit;
}

static exact_case exact_case_at(ln_operation kind, size_t index)
{
    static const double eps[] = {1e-5, 1e-12, 1e-3, 1, 0x1p-1074, 1e300};
    static const size_t short_rows[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33};
    size_t families;
    const input_family *family = input_families(&families);
    const operation *what = operations[kind];
    uint64_t own = index, *state = &own;
    exact_case one = {
        .convention = convention_numbered(what, index % convention_count(what)),
        .input = family[below(state, families)].name,
    };
    uint64_t size = below(state, 4);
    one.hidden = size == 0   ? short_rows[below(state, sizeof short_rows / sizeof *short_rows)]
                 : size == 1 ? 64 + below(state, 200)
                 : size == 2 ? 768
                             : 1 + below(state, MOST_HIDDEN);
    if (one.convention.eps_place != LN_EPS_NONE)
        one.convention.eps = eps[below(state, below(state, 4) ? 2 : sizeof eps / sizeof *eps)];
    one.residual = below(state, 4) == 0;
    if (below(state, AIMED_EACH) == 0 && kind == LN_OPERATION_LAYERNORM) {
        one.input = NULL;
        one.residual = false;
        one.convention.ddof = 0;
        one.convention.affine = LN_AFFINE_VECTOR;
        one.hidden += one.hidden % 2;
        if (one.convention.eps_place != LN_EPS_NONE)
            one.convention.eps = ldexp(1, -30 - (int)below(state, 60));
    }
    one.rows = EXACT_BLOCK / one.hidden;
    one.rows = one.rows < 1 ? 1 : one.rows > MOST_ROWS ? MOST_ROWS : one.rows;
    return one;
}

/* Half of the elements are c, the others -c: without eps xhat is 1 and -1. y = gamma xhat + beta is
 * then a midpoint between two numbers of [2, 4), where gamma is in [1, 2) and beta is what is missing
 * (or next to it); an eps of 2^-30 or less moves it away from there by as little. */
static void aim(uint64_t *state, const exact_case *one, ln_type storage, ln_type param, void *x,
                void *gamma, void *beta)
{
    static const int digits_of[] = {[LN_F32] = 24, [LN_F64] = 53, [LN_BF16] = 8, [LN_F16] = 11};
    int digits = digits_of[storage], fine = digits_of[param] < 24 ? digits_of[param] : 24;
    double last = ldexp(1, 1 - fine), half = ldexp(1, 1 - digits);
    for (size_t r = 0; r < one->rows; r++) {
        double c = 1 + (double)below(state, 1u << (digits < 12 ? digits - 1 : 12)) *
                           ldexp(1, -(digits < 12 ? digits - 1 : 12));
        c = ldexp(c, (int)below(state, 9) - 4);
        for (size_t i = 0; i < one->hidden; i++)
            storage_store(storage, x, r * one->hidden + i, i % 2 ? -c : c);
    }
    for (size_t i = 0; i < one->hidden; i++) {
        double factor = 1 + (double)below(state, 1u << (fine - 1)) * last, sign = i % 2 ? -1 : 1;
        double target = 2 + (2 * (double)below(state, UINT64_C(1) << (digits - 2)) + 1) * half;
        double missing =
            target - factor +
            ((double)below(state, 3) - 1) * last * 0x1p-1 * (double)(below(state, 2) == 0);
        storage_store(param, gamma, i, factor);
        storage_store(param, beta, i, sign * missing);
    }
}

static void make_exact(row_judge *judge, const conformance_task *task, size_t index,
                       judge_block *block)
{
    exact_case one = exact_case_at(task->convention.operation, index);
    uint64_t state = judge->settings.seed ^ (uint64_t)(index + 1) << 32, seed = splitmix64(&state);
    operation_call call =
        call_dense(&one.convention, task->storage, task->param, one.rows, one.hidden);
    arena memory = {0};
    call_allocate(&memory, &call, one.residual);
    if (!one.input)
        aim(&state, &one, task->storage, task->param, call.inputs[ROLE_X], call.inputs[ROLE_GAMMA],
            call.inputs[ROLE_BETA]);
    else
        input_call(one.input, one.residual ? one.input : NULL, &call, seed, 0);
    judge_block_from(judge, block, &call);
    arena_free(&memory);
}

/* Whether element i has the right bits; a NaN has to be the canonical quiet one. */
static bool has_right_bits(ln_type type, const void *computed, const void *right, size_t i)
{
    const double value = storage_load(type, right, i);
    const size_t size = dtype_size(type);
    double wanted;
    storage_store(type, &wanted, 0, isnan(value) ? (double)NAN : value);
    return memcmp((const char *)computed + i * size, &wanted, size) == 0;
}

/* Says of what is not correctly rounded where it is, the first of all. */
static void say_inexact(case_verdict *verdict, size_t index, const judge_block *block,
                        const char *what, size_t row, size_t column, double given, double right)
{
    char label[CONVENTION_MAX_LENGTH];
    const char *input = exact_case_at(block->operation, index).input;
    if (!verdict_is_right(verdict->kind))
        return;
    verdict->kind = VERDICT_INACCURATE;
    verdict_say(
        verdict,
        "not correctly rounded, as it claims to be: %s of row %zu, column %zu is %a, and %a is "
        "right (%s, %s)",
        what, row, column, given, right, input ? input : "aimed at midpoints",
        convention_label(&block->convention, label));
}

/* y, and mean and rstd, which are rounded to f32. */
static void examine_exact(row_judge *judge, const judge_block *block, size_t index,
                          const kernel_entry *kernel, case_judgement *judgement)
{
    case_verdict *verdict = &judgement->verdict;
    const operation *what = operations[block->operation];
    const ln_type type = block->storage;
    judge_kernel(judge, block, kernel, judgement);
    for (size_t i = 0; verdict_is_right(verdict->kind) && i < block->rows * block->hidden; i++)
        if (!has_right_bits(type, judge->computed, block->rounded, i))
            say_inexact(verdict, index, block, "y", i / block->hidden, i % block->hidden,
                        storage_load(type, judge->computed, i),
                        storage_load(type, block->rounded, i));
    for (size_t i = 0; verdict_is_right(verdict->kind) && i < what->count; i++) {
        if (!role_is_statistic(&what->roles[i]) || kernel->facts.accumulator != LN_F32)
            continue;
        for (size_t row = 0; row < block->rows; row++) {
            const ln_reference_result *result = &block->results[row];
            const double given = judge->given[i][row];
            const float rounded = (float)given,
                        right = i == ROLE_MEAN ? result->mean_rounded : result->rstd_rounded;
            const bool exact = isnan(given) || (double)rounded == given;
            if (judge_is_given(&given) && !(exact && has_right_bits(LN_F32, &rounded, &right, 0)))
                say_inexact(verdict, index, block, what->roles[i].name, row, 0, given,
                            (double)right);
        }
    }
}

/* ---- what each block is ---- */

/* NULL: of another check. */
static const struct shape *shape_of(const conformance_task *task, size_t index)
{
    return task->check == CHECK_LARGE ? &shapes[first_of_pack[task->first] + index] : NULL;
}

static size_t count_blocks(const conformance_task *task)
{
    size_t elements = 0, count = 0;
    switch (task->check) {
    case CHECK_COMBINATIONS:
        return task->last - task->first;
    case CHECK_LARGE:
        return first_of_pack[task->first + 1] - first_of_pack[task->first];
    case CHECK_EXACT:
        while (elements < EXACT_ELEMENTS) {
            exact_case one = exact_case_at(task->convention.operation, count++);
            elements += one.rows * one.hidden;
        }
        return count;
    default:
        return 1;
    }
}

static ln_problem problem_of(const conformance_task *task, size_t index)
{
    size_t rows = CALL_ROWS, hidden = CALL_HIDDEN;
    ln_convention convention = task->convention;
    const struct shape *shape = shape_of(task, index);
    if (task->check == CHECK_COMBINATIONS) {
        combination of = combinations_at(task->set, task->first + index);
        return combination_problem(&of, task->storage, task->param);
    }
    if (task->check == CHECK_EXACT) {
        exact_case one = exact_case_at(convention.operation, index);
        convention = one.convention;
        rows = one.rows;
        hidden = one.hidden;
    } else if (shape) {
        rows = shape->rows;
        hidden = shape->hidden;
    }
    return problem_dense(&convention, task->storage, task->param, rows, hidden);
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
        if (pack == LARGE_QUICK && shape_of(task, i) && shape_of(task, i)->step == 0)
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

/* The block has the rows that are looked at. Where a shape is bare it is under the convention that has no
 * parameters, with the eps of that of the run, if the operation has such a one. */
static void make_large(row_judge *judge, const conformance_task *task, const struct shape *shape,
                       arena *memory, conformance_block *made)
{
    const operation *what = operations[task->convention.operation];
    const size_t hidden = shape->hidden, row_bytes = hidden * dtype_size(task->storage);
    const uint64_t seed = judge->settings.seed;
    ln_convention convention = task->convention;
    size_t rows[LARGE_ROWS];
    char *period = made->period = arena_new(memory, char, LARGE_PERIOD *row_bytes);
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
    input_rows("normal", task->storage, seed, 0, LARGE_PERIOD, hidden, period);
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
                make_large(judge, task, shape, &made->memory, one);
                break;
            }
            call.problem = problem_of(task, i); /* the rows that differ */
            call.problem.rows = shape->rows < PLAIN_ROWS ? shape->rows : PLAIN_ROWS;
            judge_block_generate(judge, &one->block, call, "normal", NULL, 0);
            break;
        case CHECK_EXACT:
            make_exact(judge, task, i, &one->block);
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

/* The worker makes all calls, or the one on large tensors; what came out first is judged here. */
static void examine_calls(row_judge *judge, const conformance_block *asked,
                          const kernel_entry *kernel, case_judgement *judgement)
{
    static const double slow_element = 50e-9; /* seconds of a slow kernel on large tensors */
    const judge_block *block = &asked->block;
    const bool all = block->inputs[ROLE_RESIDUAL];
    work_order order = worker_order(asked->period ? ORDER_CALL_LARGE : ORDER_GROW, kernel);
    row_findings findings = {.verdict.kind = VERDICT_PASS};
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
    if (asked->period) { /* x's rows behind all else, and the shape that the call really has */
        const size_t bytes = LARGE_PERIOD * block->hidden * dtype_size(block->storage);
        const off_t x = order.at.bounds + (off_t)(block->rows * sizeof(ln_bound));
        order.problem = asked->large;
        order.at.tensors[ROLE_X] = x;
        if (!all) /* then y alone is asked for */
            order.at.tensors[ROLE_MEAN] = order.at.tensors[ROLE_RSTD] = -1;
        judge->runner->reserve(judge->runner, (size_t)x + bytes);
        memcpy(judge_memory(judge, x), asked->period, bytes);
        more = slow_element * (double)order.problem.rows * (double)order.problem.hidden;
    }
    if (!judge_ask(judge, &order, more, &answer, &judgement->verdict))
        return;
    memcpy(judge->computed, judge_memory(judge, order.at.tensors[result]), judge_bytes(block));
    judged_kind kind = judged_kind_of(kernel, has_bound);
    if (all)
        judge_read_beside(judge, block, kernel, &order, ~0u, &findings.verdict);
    judge_call(judge, block, judge->computed, &kind, all, &findings, judgement);
    if (verdict_is_right(judgement->verdict.kind)) /* what it says of slow calls */
        verdict_say(&judgement->verdict, "%s", answer.text);
    judgement->output_hash = hash_bytes(HASH_START, judge->computed, judge_bytes(block));
}

/* All rows of a plain shape, in its layout. */
static void examine_plain(row_judge *judge, const struct shape *shape, const judge_block *head,
                          const kernel_entry *kernel, case_judgement *judgement)
{
    row_findings findings = {.verdict.kind = VERDICT_PASS};
    judge_block shown = *head;
    bool has_bound, in_place = !(kernel->facts.traits & LN_TRAIT_NOT_IN_PLACE);
    shown.memory = (arena){0};
    judge_block_repeat(&shown, shape->rows);
    work_order order =
        judge_order(shape->layout != LAYOUT_IN_PLACE || in_place ? shape->layout : LAYOUT_TIMED,
                    &shown, kernel);
    judge_reserve(judge, &shown);
    if (judge_bounds(judge, head, kernel, &has_bound, &judgement->verdict) &&
        judge_run(judge, &shown, kernel, &order, judge->computed, &judgement->verdict)) {
        const judged_kind kind = judged_kind_of(kernel, has_bound);
        for (size_t row = head->rows; row < shown.rows; row++)
            judge->bounds[row] = judge->bounds[row % head->rows];
        judge_rows(judge, &shown, judge->computed, &kind, &findings);
        judge_measure(judge, head, judge->computed, has_bound, false, judgement);
        judge_conclude(judge, head, has_bound, &findings, judgement);
        judgement->output_hash = hash_bytes(HASH_START, judge->computed, judge_bytes(head));
    }
    arena_free(&shown.memory);
}

/* One block's judgement into that of the check: the gravest verdict, the metrics of the largest error. `rows`:
 * of the call. */
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

/* One block after the other, up to the first fault. Where a block is lost the check is, unless another has a fault. */
static void run_blocks(row_judge *judge, const conformance_blocks *blocks,
                       const kernel_entry *kernel, case_judgement *judgement)
{
    case_verdict lost = {0};
    size_t judged = 0;
    bool over = false;
    for (size_t i = 0; !over && i < blocks->count && !interrupted(); i++) {
        const conformance_block *asked = &blocks->blocks[i];
        const struct shape *shape = shape_of(&blocks->task, i);
        case_judgement one = {.bound_row_ulp = NAN, .output_hash = HASH_START};
        one.metrics.row_ulp_max = NAN;
        one.verdict.kind = VERDICT_PASS;
        if (shape && shape->step == 0)
            examine_plain(judge, shape, &asked->block, kernel, &one);
        else if (blocks->task.check == CHECK_EXACT)
            examine_exact(judge, &asked->block, i, kernel, &one);
        else
            examine_calls(judge, asked, kernel, &one);
        if (asked->period) { /* the row's number in the tensor, for that among those looked at */
            size_t rows[LARGE_ROWS], row;
            size_t count = large_rows(&asked->large, judge->settings.seed, rows);
            int length;
            if (sscanf(one.verdict.detail, "row %zu%n", &row, &length) == 1 && row < count)
                verdict_say(&one.verdict, "row %zu%s", rows[row], one.verdict.detail + length);
        }
        if (one.verdict.kind == VERDICT_MISSING)
            lost = one.verdict;
        else
            add_up(judgement, &one, &asked->block, shape ? shape->rows : asked->block.rows,
                   &judged);
        over = verdict_is_fault(one.verdict.kind);
    }
    if (lost.kind == VERDICT_MISSING && !over)
        judgement->verdict = lost;
}

void conformance_examine(row_judge *judge, const conformance_blocks *blocks,
                         const kernel_entry *kernel, case_judgement *judgement)
{
    *judgement = (case_judgement){.bound_row_ulp = NAN, .output_hash = HASH_START};
    judgement->metrics.row_ulp_max = NAN;
    judgement->verdict.kind = VERDICT_PASS;
    (blocks->task.check == CHECK_COMBINATIONS ? run_combinations : run_blocks)(judge, blocks,
                                                                               kernel, judgement);
    blame_load(kernel, judgement);
    judgement->by_row = NULL; /* the judge's, and gone with its next call */
    judgement->computed = NULL;
}

/* A judge, blocks of rows with their exact answers and with what each row may be off, and an output against a
 * block. */
#include "base/allocate.h"
#include "base/die.h"
#include "exact/scale.h"
#include "inputs/inputs.h"
#include "judge/judging.h"
#include <math.h>
#include <stdio.h>

row_judge *judge_create(kernel_runner *runner, const judge_settings *settings)
{
    row_judge *made = allocate_zeroed(1, sizeof *made);
    made->runner = runner;
    made->settings = *settings;
    made->reference = ln_reference_create();
    if (!made->reference)
        memory_is_out(0);
    return made;
}

row_judge *judge_create_another(const row_judge *judge, kernel_runner *runner)
{
    return judge_create(runner, &judge->settings);
}

void judge_destroy(row_judge *judge)
{
    if (!judge)
        return;
    ln_reference_destroy(judge->reference);
    free(judge->book.terms);
    free(judge->values);
    free(judge->batch);
    free(judge->computed);
    free(judge->by_row);
    free(judge);
}

ln_reference_counts judge_reference_counts(const row_judge *judge)
{
    return ln_reference_count(judge->reference);
}

const char *judge_describe_counts(const ln_reference_counts *counts, char *buffer, size_t size)
{
    const struct {
        uint64_t count;
        const char *how;
    } ways[] = {{counts->fast, "in double-double"},
                {counts->first_try, "at the first precision"},
                {counts->raised, "at a raised one"},
                {counts->exact, "by exact comparison"},
                {counts->special, "NaN or infinite by definition"}};
    size_t length =
        (size_t)snprintf(buffer, size, "%llu elements", (unsigned long long)counts->elements);
    const char *before = ": ";
    for (size_t i = 0; i < sizeof ways / sizeof *ways && length < size; i++) {
        if (ways[i].count == 0)
            continue;
        length += (size_t)snprintf(buffer + length, size - length, "%s%llu %s", before,
                                   (unsigned long long)ways[i].count, ways[i].how);
        before = ", ";
    }
    return buffer;
}

/* What was there before need not be kept. */
void judge_reserve(row_judge *judge, const judge_block *block)
{
    const size_t bytes = judge_bytes(block), rows = block->rows;
    judge->placed = NULL;
    if (bytes > judge->bytes) {
        free(judge->computed);
        judge->computed = allocate(2 * bytes);
        judge->other = judge->computed + bytes;
        judge->bytes = bytes;
    }
    if (rows <= judge->rows)
        return;
    free(judge->by_row);
    judge->by_row = allocate(rows * (sizeof *judge->by_row + sizeof *judge->bounds +
                                     2 * ROLES_MOST * sizeof(double) + sizeof(bool)));
    judge->bounds = (ln_bound *)(judge->by_row + rows);
    double *numbers = (double *)(judge->bounds + rows);
    for (size_t i = 0; i < ROLES_MOST; i++) { /* of any operation */
        judge->given[i] = numbers + 2 * i * rows;
        judge->rounded[i] = numbers + (2 * i + 1) * rows;
    }
    judge->wrong_rows = (bool *)(numbers + 2 * ROLES_MOST * rows);
    judge->rows = rows;
}

/* ---- blocks ---- */

/* What each row may be off without a bound is found once, for all kernels that are judged on the block. By
 * accumulator, since no two types of sums are off alike: f32 and f64, which are the usual ones, each have a
 * place, and any other takes that of f32. */
enum { KINDS = 2 };

struct block_limits {
    arena memory; /* its own, since blocks are copied */
    struct kind_limits {
        judged_kind kind;
        row_limits *rows;
        bool *made;
    } kinds[KINDS];
};

/* Of an empty block whose convention, types and size are those of the call. */
static void block_begin(judge_block *block, const operation_call *call)
{
    const ln_problem *problem = &call->problem;
    const size_t size = dtype_size(problem->storage);
    size_t elements;
    *block = (judge_block){.convention = problem->convention,
                           .storage = problem->storage,
                           .param = problem->param,
                           .rows = problem->rows,
                           .hidden = problem->hidden,
                           .operation = call->operation};
    if (__builtin_mul_overflow(block->rows, block->hidden, &elements) || elements > SIZE_MAX / 16)
        die(EXIT_CODE_USAGE, "%zu rows of %zu elements are too many", block->rows, block->hidden);
    /* exact, rest; rounded, x, residual; gamma, beta; results; and 1 KiB for what is small. */
    arena_expect(&block->memory,
                 elements * (sizeof(double) * (block->storage == LN_F64 ? 2 : 1) + 3 * size) +
                     2 * block->hidden * dtype_size(block->param) +
                     block->rows * sizeof *block->results + 1024);
    block->exact = arena_new(&block->memory, double, elements);
    block->rest = block->storage == LN_F64 ? arena_new(&block->memory, double, elements) : NULL;
    block->rounded = arena_new(&block->memory, char, elements *size);
    block->limits = arena_new(&block->memory, struct block_limits, 1);
    block->results = arena_new(&block->memory, ln_reference_result, block->rows);
    for (size_t row = 0; row < block->rows; row++) {
        size_t at = row * block->hidden;
        block->results[row].rounded = (char *)block->rounded + at * size;
        block->results[row].exact = block->exact + at;
        block->results[row].rest = block->rest ? block->rest + at : NULL;
    }
}

/* The end of making a block. */
static void block_answer(row_judge *judge, judge_block *block)
{
    for (size_t row = 0; row < block->rows; row++) {
        if (judge->settings.stop && *judge->settings.stop)
            die(EXIT_CODE_INTERRUPTED, "stopped");
        if (!judgings[block->operation]->answer(judge->reference, block, row))
            memory_is_out(block->hidden);
    }
}

operation_call judge_block_call(const judge_block *block)
{
    operation_call call =
        call_dense(&block->convention, block->storage, block->param, block->rows, block->hidden);
    memcpy(call.inputs, block->inputs, sizeof call.inputs);
    return call;
}

void judge_block_generate(row_judge *judge, judge_block *block, operation_call call,
                          const char *input, const char *residual, size_t first)
{
    block_begin(block, &call);
    call_allocate(&block->memory, &call, residual);
    input_call(input, residual, &call, judge->settings.seed, first);
    call_drop_unneeded(&call);
    memcpy(block->inputs, call.inputs, sizeof call.inputs);
    block_answer(judge, block);
}

void judge_block_from(row_judge *judge, judge_block *block, const operation_call *call)
{
    const operation *what = operations[call->operation];
    block_begin(block, call);
    for (size_t i = 0; i < what->count; i++) {
        const tensor_role *role = &what->roles[i];
        role_extent extent = role_extent_of(role, &call->problem, call->problem.storage);
        if (role->output || !call->inputs[i] || !role_is_needed(role, &block->convention))
            continue;
        char *to = block->inputs[i] =
            arena_new(&block->memory, char, extent.rows *extent.row_bytes);
        for (size_t row = 0; row < extent.rows; row++)
            memcpy(to + row * extent.row_bytes,
                   (const char *)call->inputs[i] + row * extent.stride_bytes, extent.row_bytes);
    }
    block_answer(judge, block);
}

/* Parts of a tensor, `distinct` of them, over and over, in place of them. */
static void repeat(arena *memory, void **of, size_t bytes, size_t distinct, size_t rows)
{
    char *made = *of ? arena_take(memory, rows, bytes) : NULL;
    for (size_t row = 0; made && row < rows; row++)
        memcpy(made + row * bytes, (const char *)*of + row % distinct * bytes, bytes);
    *of = made;
}

void judge_block_repeat(judge_block *block, size_t rows)
{
    const operation *what = operations[block->operation];
    const size_t row_bytes = block->hidden * dtype_size(block->storage);
    void *results = block->results;
    if (rows <= block->rows)
        return;
    arena_expect(&block->memory, rows * (sizeof *block->results + 2 * row_bytes) + 64);
    for (size_t i = 0; i < what->count; i++)
        if (what->roles[i].shape == SHAPE_TABLE)
            repeat(&block->memory, &block->inputs[i], row_bytes, block->rows, rows);
    repeat(&block->memory, &results, sizeof *block->results, block->rows, rows);
    block->results = results;
    block->distinct = block->rows;
    block->rows = rows;
}

void judge_block_free(judge_block *block)
{
    if (block->limits)
        arena_free(&block->limits->memory);
    arena_free(&block->memory);
    *block = (judge_block){0};
}

judged_kind judged_kind_unknown(const judge_block *block)
{
    ln_type sums = block->storage == LN_F64 ? LN_F64 : LN_F32;
    return (judged_kind){.accumulator = sums, .given = sums};
}

double judge_right_sum(const judge_block *block, size_t i)
{
    return judgings[block->operation]->sum(block, i);
}

void judge_load_row(row_judge *judge, const judge_block *block, size_t row)
{
    const operation_judging *judging = judgings[block->operation];
    const size_t hidden = block->hidden;
    if (hidden > judge->hidden) {
        free(judge->values);
        judge->values = allocate(hidden * (sizeof *judge->values + sizeof(bool)));
        judge->wrong_columns = (bool *)(judge->values + hidden);
        judge->hidden = hidden;
    }
    for (size_t i = 0; i < hidden; i++)
        judge->values[i] = block->inputs[ROLE_RESIDUAL]
                               ? judging->added(block, row * hidden + i)
                               : load(block->storage, block->inputs[ROLE_X], row * hidden + i);
}

const row_limits *judge_limits(row_judge *judge, const judge_block *block, const judged_kind *kind,
                               size_t row)
{
    const order_question asked = {.storage = block->storage,
                                  .accumulator = kind->accumulator,
                                  .hidden = block->hidden,
                                  .convention = &block->convention,
                                  .flushes = kind->flushes};
    const metrics_row judged = judge_metrics_row(block, row);
    const size_t rows = block->distinct ? block->distinct : block->rows;
    struct kind_limits *place = &block->limits->kinds[kind->accumulator == LN_F64];
    if (!place->rows) {
        place->rows = arena_new(&block->limits->memory, row_limits, rows);
        place->made = arena_new(&block->limits->memory, bool, rows);
    }
    if (place->kind.accumulator != kind->accumulator || place->kind.flushes != kind->flushes)
        memset(place->made, 0, rows * sizeof *place->made);
    place->kind = *kind;
    judge_load_row(judge, block, row);
    row %= rows;
    if (!place->made[row])
        limits_of_row(judgings[block->operation], &judge->book, &asked, &judged, judge->values,
                      &place->rows[row]);
    place->made[row] = true;
    return &place->rows[row];
}

/* ---- outputs ---- */

void judge_output(row_judge *judge, const judge_block *block, const void *computed,
                  case_judgement *judgement)
{
    judged_kind kind = judged_kind_unknown(block);
    row_findings findings = {.verdict.kind = VERDICT_RIGHT};
    *judgement = (struct case_judgement){.bound_row_ulp = NAN, .probable_row_ulp = NAN};
    judge_reserve(judge, block);
    judge_call(judge, block, computed, &kind, false, &findings, judgement);
    judgement->by_row = judge->by_row;
    /* There is no kernel that could excuse itself: a wrong class is one, and where not one digit is
     * right and nothing is known, nothing can be said. */
    if (judgement->verdict.kind == VERDICT_LIMIT)
        judgement->verdict = (case_verdict){.kind = VERDICT_RIGHT_NO_BOUND};
    if (judgement->verdict.kind == VERDICT_LIMIT_CLASS)
        judgement->verdict.kind = VERDICT_WRONG_CLASS;
    /* A limit that was given is an answer where nothing else is known. */
    if (judgement->verdict.kind == VERDICT_RIGHT_NO_BOUND && findings.untold > 0 &&
        isinf(judge->settings.max_row_ulp)) {
        judgement->verdict.kind = VERDICT_NOT_JUDGED;
        snprintf(judgement->verdict.detail, sizeof judgement->verdict.detail,
                 "%zu of %zu rows: sums in another order may cost every digit there; "
                 "--max-row-ulp X sets a limit",
                 findings.untold, block->rows);
    }
}

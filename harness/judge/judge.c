/* A judge, blocks of rows with their exact answers and with what each row may be off, and an output against a
 * block. */
#include "base/allocate.h"
#include "exact/scale.h"
#include "inputs/inputs.h"
#include "judge/internal.h"
#include <math.h>
#include <stdio.h>

row_judge *judge_create(kernel_runner *runner, const judge_settings *settings)
{
    whole_judge *made = allocate_zeroed(1, sizeof *made);
    made->judge.runner = runner;
    made->judge.settings = *settings;
    made->reference = ln_reference_create();
    if (!made->reference)
        memory_is_out(0);
    return &made->judge;
}

row_judge *judge_create_another(const row_judge *judge, kernel_runner *runner)
{
    return judge_create(runner, &judge->settings);
}

void judge_destroy(row_judge *judge)
{
    if (!judge)
        return;
    ln_reference_destroy(judge_whole(judge)->reference);
    free(judge_whole(judge)->book.terms);
    free(judge->values);
    free(judge->batch);
    free(judge_whole(judge)->wrong_columns);
    free(judge_whole(judge)->wrong_rows);
    free(judge->computed);
    free(judge->other);
    for (size_t i = 0; i < ROLES_MOST; i++) {
        free(judge->given[i]);
        free(judge->rounded[i]);
    }
    free(judge->bounds);
    free(judge->by_row);
    free(judge_whole(judge));
}

ln_reference_counts judge_reference_counts(const row_judge *judge)
{
    return ln_reference_count(((const whole_judge *)judge)->reference);
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

void judge_reserve(row_judge *judge, const judge_block *block)
{
    whole_judge *own = judge_whole(judge);
    size_t bytes = judge_bytes(block), rows = block->rows;
    judge->placed = NULL;
    if (bytes > own->bytes) {
        judge->computed = reallocate(judge->computed, bytes);
        judge->other = reallocate(judge->other, bytes);
        own->bytes = bytes;
    }
    if (rows <= own->rows)
        return;
    for (size_t i = 0; i < ROLES_MOST; i++) { /* of any operation */
        judge->given[i] = reallocate(judge->given[i], rows * sizeof(double));
        judge->rounded[i] = reallocate(judge->rounded[i], rows * sizeof(double));
    }
    judge->bounds = reallocate(judge->bounds, rows * sizeof *judge->bounds);
    own->wrong_rows = reallocate(own->wrong_rows, rows * sizeof *own->wrong_rows);
    judge->by_row = reallocate(judge->by_row, rows * sizeof *judge->by_row);
    own->rows = rows;
}

/* ---- blocks ---- */

/* What each row may be off without a bound is found once, for all kernels that are judged on the block. By
 * accumulator, since no two types of sums are off alike: f32 and f64, which are the usual ones, each have a
 * place, and any other takes that of f32. */
enum { KINDS = 2 };

struct block_limits {
    struct kind_limits {
        judged_kind kind;
        row_limits *rows;
        bool *made;
    } kinds[KINDS];
};

/* Of an empty block whose convention, types and size are those of the call. */
static bool block_begin(judge_block *block, const operation_call *call, error *err)
{
    const ln_problem *problem = &call->problem;
    size_t elements, size = dtype_size(problem->storage);
    *block = (judge_block){.convention = problem->convention,
                           .storage = problem->storage,
                           .param = problem->param,
                           .rows = problem->rows,
                           .hidden = problem->hidden,
                           .operation = call->operation};
    if (__builtin_mul_overflow(block->rows, block->hidden, &elements) || elements > SIZE_MAX / 16)
        return fail(err, EXIT_CODE_USAGE, "%zu rows of %zu elements are too many", block->rows,
                    block->hidden);
    block->limits = allocate_zeroed(1, sizeof *block->limits);
    block->rounded = allocate(elements * size);
    block->exact = allocate(elements * sizeof *block->exact);
    block->rest = block->storage == LN_F64 ? allocate(elements * sizeof *block->rest) : NULL;
    block->results = allocate_zeroed(block->rows, sizeof *block->results);
    for (size_t row = 0; row < block->rows; row++) {
        size_t at = row * block->hidden;
        block->results[row].rounded = (char *)block->rounded + at * size;
        block->results[row].exact = block->exact + at;
        block->results[row].rest = block->rest ? block->rest + at : NULL;
    }
    return true;
}

/* The end of making a block. */
static bool block_answer(row_judge *judge, judge_block *block, bool fine, error *err)
{
    for (size_t row = 0; fine && row < block->rows; row++) {
        if (judge->settings.stop && *judge->settings.stop)
            fine = fail(err, EXIT_CODE_INTERRUPTED, "stopped");
        else if (!judgings[block->operation]->answer(judge_whole(judge)->reference, block, row))
            memory_is_out(block->hidden);
    }
    if (!fine)
        judge_block_free(block);
    return fine;
}

operation_call judge_block_call(const judge_block *block)
{
    operation_call call =
        call_dense(&block->convention, block->storage, block->param, block->rows, block->hidden);
    memcpy(call.inputs, block->inputs, sizeof call.inputs);
    return call;
}

bool judge_block_generate(row_judge *judge, judge_block *block, operation_call call,
                          const char *input, const char *residual, size_t first, error *err)
{
    bool fine = block_begin(block, &call, err);
    if (fine && !call_allocate(&call, residual))
        memory_is_out(block->rows * block->hidden);
    fine = fine && input_call(input, residual, &call, judge->settings.seed, first, err);
    call_drop_unneeded(&call);
    memcpy(block->inputs, call.inputs, sizeof call.inputs);
    return block_answer(judge, block, fine, err);
}

bool judge_block_from(row_judge *judge, judge_block *block, const operation_call *call, error *err)
{
    const operation *what = operations[call->operation];
    bool fine = block_begin(block, call, err);
    for (size_t i = 0; fine && i < what->count; i++) {
        const tensor_role *role = &what->roles[i];
        role_extent extent = role_extent_of(role, &call->problem, call->problem.storage);
        if (role->output || !call->inputs[i] || !role_is_needed(role, &block->convention))
            continue;
        char *to = block->inputs[i] = allocate(extent.rows * extent.row_bytes);
        for (size_t row = 0; row < extent.rows; row++)
            memcpy(to + row * extent.row_bytes,
                   (const char *)call->inputs[i] + row * extent.stride_bytes, extent.row_bytes);
    }
    return block_answer(judge, block, fine, err);
}

void judge_block_free(judge_block *block)
{
    for (size_t i = 0; i < sizeof block->inputs / sizeof *block->inputs; i++)
        free(block->inputs[i]);
    free(block->rounded);
    free(block->exact);
    free(block->rest);
    free(block->results);
    for (size_t i = 0; block->limits && i < KINDS; i++) {
        free(block->limits->kinds[i].rows);
        free(block->limits->kinds[i].made);
    }
    free(block->limits);
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

const char *judge_rounded_otherwise(const judge_block *block, const void *y)
{
    const operation_judging *judging = judgings[block->operation];
    return judging->rounded_otherwise ? judging->rounded_otherwise(block, y) : NULL;
}

void judge_load_row(row_judge *judge, const judge_block *block, size_t row)
{
    const operation_judging *judging = judgings[block->operation];
    whole_judge *own = judge_whole(judge);
    if (block->hidden > own->hidden) {
        judge->values = reallocate(judge->values, block->hidden * sizeof *judge->values);
        own->wrong_columns =
            reallocate(own->wrong_columns, block->hidden * sizeof *own->wrong_columns);
        own->hidden = block->hidden;
    }
    for (size_t i = 0; i < block->hidden; i++)
        judge->values[i] =
            block->inputs[ROLE_RESIDUAL]
                ? judging->added(block, row * block->hidden + i)
                : load(block->storage, block->inputs[ROLE_X], row * block->hidden + i);
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
    struct kind_limits *place = &block->limits->kinds[kind->accumulator == LN_F64];
    const size_t rows = block->distinct ? block->distinct : block->rows;
    if (!place->rows)
        place->rows = allocate(rows * sizeof *place->rows);
    if (!place->made || place->kind.accumulator != kind->accumulator ||
        place->kind.flushes != kind->flushes) {
        free(place->made);
        place->made = allocate_zeroed(rows, sizeof *place->made);
    }
    place->kind = *kind;
    judge_load_row(judge, block, row);
    row %= rows;
    if (!place->made[row])
        limits_of_row(judgings[block->operation], &judge_whole(judge)->book, &asked, &judged,
                      judge->values, &place->rows[row]);
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

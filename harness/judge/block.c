/* Blocks of rows with their exact answers. */
#include "inputs/inputs.h"
#include "judge/internal.h"
#include <stdlib.h>
#include <string.h>

/* Of an empty block whose convention, types and size are set. */
static bool block_allocate(judge_block *block, error *err)
{
    size_t elements, size = dtype_size(block->storage);
    if (__builtin_mul_overflow(block->rows, block->hidden, &elements) || elements > SIZE_MAX / 16)
        return fail(err, EXIT_CODE_USAGE, "%zu rows of %zu elements are too many", block->rows,
                    block->hidden);
    block->rounded = malloc(elements * size);
    block->exact = malloc(elements * sizeof *block->exact);
    block->rest = block->storage == LN_F64 ? malloc(elements * sizeof *block->rest) : NULL;
    block->results = calloc(block->rows, sizeof *block->results);
    if (!block_limits_create(block) || !block->rounded || !block->exact || !block->results ||
        (block->storage == LN_F64 && !block->rest))
        return fail_memory(err, "the rows to judge");
    for (size_t row = 0; row < block->rows; row++) {
        size_t at = row * block->hidden;
        block->results[row].rounded = (char *)block->rounded + at * size;
        block->results[row].exact = block->exact + at;
        block->results[row].rest = block->rest ? block->rest + at : NULL;
    }
    return true;
}

static bool block_answer(row_judge *judge, judge_block *block, error *err)
{
    for (size_t row = 0; row < block->rows; row++) {
        if (judge->settings.stop && *judge->settings.stop)
            return fail(err, EXIT_CODE_INTERRUPTED, "stopped");
        if (!judgings[block->operation]->answer(judge_whole(judge)->reference, block, row))
            return fail_memory(err, "the reference");
    }
    return true;
}

static judge_block block_begin(const operation_call *call)
{
    const ln_problem *problem = &call->problem;
    return (judge_block){.convention = problem->convention,
                         .storage = problem->storage,
                         .param = problem->param,
                         .rows = problem->rows,
                         .hidden = problem->hidden,
                         .operation = call->operation};
}

operation_call judge_block_call(const judge_block *block)
{
    operation_call call =
        call_dense(&block->convention, block->storage, block->param, block->rows, block->hidden);
    memcpy(call.inputs, block->inputs, sizeof call.inputs);
    return call;
}

/* A copy of each input that is given and that a call under the convention has. */
static bool take_inputs(judge_block *block, const operation_call *call, error *err)
{
    const operation *what = operations[call->operation];
    for (size_t i = 0; i < what->count; i++) {
        const tensor_role *role = &what->roles[i];
        role_extent extent = role_extent_of(role, &call->problem, call->problem.storage);
        if (role->output || !call->inputs[i] || !role_is_needed(role, &block->convention))
            continue;
        char *to = block->inputs[i] = malloc(extent.rows * extent.row_bytes);
        if (!to)
            return fail_memory(err, "the rows to judge");
        for (size_t row = 0; row < extent.rows; row++)
            memcpy(to + row * extent.row_bytes,
                   (const char *)call->inputs[i] + row * extent.stride_bytes, extent.row_bytes);
    }
    return true;
}

bool judge_block_generate(row_judge *judge, judge_block *block, operation_call call,
                          const char *input, const char *residual, size_t first, error *err)
{
    *block = block_begin(&call);
    bool fine = block_allocate(block, err) &&
                (call_allocate(&call, residual) || fail_memory(err, "the rows to judge")) &&
                input_call(input, residual, &call, judge->settings.seed, first, err);
    call_drop_unneeded(&call);
    memcpy(block->inputs, call.inputs, sizeof call.inputs);
    fine = fine && block_answer(judge, block, err);
    if (!fine)
        judge_block_free(block);
    return fine;
}

bool judge_block_from(row_judge *judge, judge_block *block, const operation_call *call, error *err)
{
    *block = block_begin(call);
    bool fine = block_allocate(block, err) && take_inputs(block, call, err) &&
                block_answer(judge, block, err);
    if (!fine)
        judge_block_free(block);
    return fine;
}

void judge_block_free(judge_block *block)
{
    for (size_t i = 0; i < sizeof block->inputs / sizeof *block->inputs; i++)
        free(block->inputs[i]);
    free(block->rounded);
    free(block->exact);
    free(block->rest);
    free(block->results);
    block_limits_free(block);
    *block = (judge_block){0};
}

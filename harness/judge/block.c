/* Blocks of rows with their exact answers. */
#include "inputs/inputs.h"
#include "judge/internal.h"
#include <stdlib.h>
#include <string.h>

static void *copy_of(const void *from, size_t bytes)
{
    void *to = malloc(bytes);
    if (to)
        memcpy(to, from, bytes);
    return to;
}

/* Of an empty block whose convention, types and size are set. */
static bool block_allocate(judge_block *block, error *err)
{
    size_t elements, size = dtype_size(block->storage);
    if (__builtin_mul_overflow(block->rows, block->hidden, &elements) || elements > SIZE_MAX / 16)
        return fail(err, EXIT_CODE_USAGE, "%zu rows of %zu elements are too many", block->rows,
                    block->hidden);
    block->x = malloc(elements * size);
    block->rounded = malloc(elements * size);
    block->exact = malloc(elements * sizeof *block->exact);
    block->rest = block->storage == LN_F64 ? malloc(elements * sizeof *block->rest) : NULL;
    block->results = calloc(block->rows, sizeof *block->results);
    if (!block_limits_create(block) || !block->x || !block->rounded || !block->exact ||
        !block->results || (block->storage == LN_F64 && !block->rest))
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
        const void *residual = block->residual ? judge_row_of(block, block->residual, row) : NULL;
        if (judge->settings.stop && *judge->settings.stop)
            return fail(err, EXIT_CODE_INTERRUPTED, "stopped");
        if (!ln_reference_row(judge->reference, &block->convention, block->storage, block->param,
                              block->hidden, judge_row_of(block, block->x, row), residual,
                              block->gamma, block->beta, &block->results[row]))
            return fail_memory(err, "the reference");
    }
    return true;
}

static bool make_parameters(row_judge *judge, judge_block *block, const char *input, error *err)
{
    const ln_convention *convention = &block->convention;
    const operation *what = &operations[block->operation];
    for (size_t i = 0; i < what->count; i++) {
        const tensor_role *role = &what->roles[i];
        if (role->output || !role_is_parameter(role) || !role_is_needed(role, convention))
            continue;
        block->inputs[i] = malloc(block->hidden * dtype_size(block->param));
        if (!block->inputs[i])
            return fail_memory(err, "gamma and beta");
    }
    return input_parameters(input, convention, block->param, judge->settings.seed, block->hidden,
                            block->gamma, block->beta, err);
}

bool judge_block_generate(row_judge *judge, judge_block *block, const ln_convention *convention,
                          ln_type storage, ln_type param, const char *input, size_t first,
                          size_t rows, size_t hidden, error *err)
{
    *block = (judge_block){.convention = *convention,
                           .storage = storage,
                           .param = param,
                           .rows = rows,
                           .hidden = hidden};
    bool fine =
        block_allocate(block, err) &&
        input_rows(input, storage, judge->settings.seed, first, rows, hidden, block->x, err) &&
        make_parameters(judge, block, input, err) && block_answer(judge, block, err);
    if (!fine)
        judge_block_free(block);
    return fine;
}

bool judge_block_from(row_judge *judge, judge_block *block, const ln_convention *convention,
                      ln_type storage, ln_type param, size_t rows, size_t hidden, const void *x,
                      const void *residual, const void *gamma, const void *beta, error *err)
{
    *block = (judge_block){.convention = *convention,
                           .storage = storage,
                           .param = param,
                           .rows = rows,
                           .hidden = hidden};
    bool fine = block_allocate(block, err);
    if (fine) {
        const void *const given[] = {x, residual, gamma, beta};
        const operation *what = &operations[block->operation];
        ln_problem problem = problem_dense(convention, storage, param, rows, hidden);
        for (size_t i = 0; fine && i < what->count; i++) {
            const tensor_role *role = &what->roles[i];
            if (role->output || !given[i] || !role_is_needed(role, convention))
                continue;
            role_extent extent = role_extent_of(role, &problem, storage);
            free(block->inputs[i]); /* of x */
            block->inputs[i] = copy_of(given[i], extent_bytes(&extent));
            fine = block->inputs[i] || fail_memory(err, "the rows to judge");
        }
    }
    fine = fine && block_answer(judge, block, err);
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

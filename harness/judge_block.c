/* Blocks of rows with their exact answers. */
#include "convention.h"
#include "inputs.h"
#include "judge_inside.h"
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
static bool block_allocate(judge_block *block, error *error)
{
    size_t elements, size = dtype_size(block->storage);
    if (__builtin_mul_overflow(block->rows, block->hidden, &elements) || elements > SIZE_MAX / 16)
        return fail(error, EXIT_CODE_USAGE, "%zu rows of %zu elements are too many", block->rows,
                    block->hidden);
    block->x = malloc(elements * size);
    block->rounded = malloc(elements * size);
    block->exact = malloc(elements * sizeof *block->exact);
    block->rest = block->storage == LN_F64 ? malloc(elements * sizeof *block->rest) : NULL;
    block->results = calloc(block->rows, sizeof *block->results);
    if (!block->x || !block->rounded || !block->exact || !block->results ||
        (block->storage == LN_F64 && !block->rest))
        return fail_memory(error, "the rows to judge");
    for (size_t row = 0; row < block->rows; row++) {
        size_t at = row * block->hidden;
        block->results[row].rounded = (char *)block->rounded + at * size;
        block->results[row].exact = block->exact + at;
        block->results[row].rest = block->rest ? block->rest + at : NULL;
    }
    return true;
}

static bool block_answer(judge *judge, judge_block *block, error *error)
{
    for (size_t row = 0; row < block->rows; row++) {
        const void *residual = block->residual ? judge_row_of(block, block->residual, row) : NULL;
        if (!ln_reference_row_typed(judge->reference, &block->convention, block->storage,
                                    block->param, block->hidden, judge_row_of(block, block->x, row),
                                    residual, block->gamma, block->beta, &block->results[row]))
            return fail_memory(error, "the reference");
    }
    return true;
}

static bool make_parameters(judge *judge, judge_block *block, const char *input, error *error)
{
    const ln_convention *convention = &block->convention;
    size_t bytes = block->hidden * dtype_size(block->param);
    if (convention_has_gamma(convention))
        block->gamma = malloc(bytes);
    if (convention_has_beta(convention))
        block->beta = malloc(bytes);
    if (convention_has_gamma(convention) != (block->gamma != NULL) ||
        convention_has_beta(convention) != (block->beta != NULL))
        return fail_memory(error, "gamma and beta");
    return input_parameters_typed(input, convention, block->param, judge->settings.seed,
                                  block->hidden, block->gamma, block->beta, error);
}

bool judge_block_generate_typed(judge *judge, judge_block *block, const ln_convention *convention,
                                ln_type storage, ln_type param, const char *input, size_t first,
                                size_t rows, size_t hidden, error *error)
{
    *block = (judge_block){.convention = *convention,
                           .storage = storage,
                           .param = param,
                           .rows = rows,
                           .hidden = hidden};
    bool fine = block_allocate(block, error) &&
                input_rows_typed(input, storage, judge->settings.seed, first, rows, hidden,
                                 block->x, error) &&
                make_parameters(judge, block, input, error) && block_answer(judge, block, error);
    if (!fine)
        judge_block_free(block);
    return fine;
}

bool judge_block_generate(judge *judge, judge_block *block, const ln_convention *convention,
                          const char *input, size_t first, size_t rows, size_t hidden, error *error)
{
    return judge_block_generate_typed(judge, block, convention, LN_F32, LN_F32, input, first, rows,
                                      hidden, error);
}

bool judge_block_from_typed(judge *judge, judge_block *block, const ln_convention *convention,
                            ln_type storage, ln_type param, size_t rows, size_t hidden,
                            const void *x, const void *residual, const void *gamma,
                            const void *beta, error *error)
{
    *block = (judge_block){.convention = *convention,
                           .storage = storage,
                           .param = param,
                           .rows = rows,
                           .hidden = hidden};
    bool fine = block_allocate(block, error);
    if (fine) {
        size_t bytes = judge_bytes(block), parameters = judge_parameters(block) * dtype_size(param);
        memcpy(block->x, x, bytes);
        block->residual = residual ? copy_of(residual, bytes) : NULL;
        block->gamma = gamma ? copy_of(gamma, parameters) : NULL;
        block->beta = beta ? copy_of(beta, parameters) : NULL;
        fine = !residual == !block->residual && !gamma == !block->gamma && !beta == !block->beta;
        fine = fine || fail_memory(error, "the rows to judge");
    }
    fine = fine && block_answer(judge, block, error);
    if (!fine)
        judge_block_free(block);
    return fine;
}

bool judge_block_from(judge *judge, judge_block *block, const ln_convention *convention,
                      size_t rows, size_t hidden, const float *x, const float *residual,
                      const float *gamma, const float *beta, error *error)
{
    return judge_block_from_typed(judge, block, convention, LN_F32, LN_F32, rows, hidden, x,
                                  residual, gamma, beta, error);
}

void judge_block_free(judge_block *block)
{
    free(block->x);
    free(block->residual);
    free(block->gamma);
    free(block->beta);
    free(block->rounded);
    free(block->exact);
    free(block->rest);
    free(block->results);
    *block = (judge_block){0};
}

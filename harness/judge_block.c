/* Blocks of rows with their exact answers. */
#include "convention.h"
#include "inputs.h"
#include "judge_inside.h"
#include <stdlib.h>
#include <string.h>

static float *copy_of(const float *from, size_t count)
{
    float *to = malloc(count * sizeof *to);
    if (to)
        memcpy(to, from, count * sizeof *to);
    return to;
}

static bool block_allocate(judge_block *block, const ln_convention *convention, size_t rows,
                           size_t hidden, error *error)
{
    *block = (judge_block){.convention = *convention, .rows = rows, .hidden = hidden};
    size_t elements;
    if (__builtin_mul_overflow(rows, hidden, &elements) || elements > SIZE_MAX / 16)
        return fail(error, EXIT_CODE_USAGE, "%zu rows of %zu elements are too many", rows, hidden);
    block->x = malloc(elements * sizeof *block->x);
    block->rounded = malloc(elements * sizeof *block->rounded);
    block->exact = malloc(elements * sizeof *block->exact);
    block->results = calloc(rows, sizeof *block->results);
    if (!block->x || !block->rounded || !block->exact || !block->results)
        return fail_memory(error, "the rows to judge");
    for (size_t row = 0; row < rows; row++) {
        block->results[row].rounded = block->rounded + row * hidden;
        block->results[row].exact = block->exact + row * hidden;
    }
    return true;
}

static bool block_answer(judge *judge, judge_block *block, error *error)
{
    for (size_t row = 0; row < block->rows; row++) {
        const float *residual = block->residual ? block->residual + row * block->hidden : NULL;
        if (!ln_reference_row(judge->reference, &block->convention, block->hidden,
                              block->x + row * block->hidden, residual, block->gamma, block->beta,
                              &block->results[row]))
            return fail_memory(error, "the reference");
    }
    return true;
}

bool judge_block_generate(judge *judge, judge_block *block, const ln_convention *convention,
                          const char *input, size_t first, size_t rows, size_t hidden, error *error)
{
    bool fine = block_allocate(block, convention, rows, hidden, error) &&
                input_rows(input, judge->settings.seed, first, rows, hidden, block->x, error);
    if (fine && convention->affine != LN_AFFINE_NONE) {
        block->gamma = malloc(hidden * sizeof *block->gamma);
        block->beta = malloc(hidden * sizeof *block->beta);
        fine = (block->gamma && block->beta) || fail_memory(error, "gamma and beta");
        if (fine)
            input_parameters(input, convention, judge->settings.seed, hidden, block->gamma,
                             block->beta);
        if (!convention_has_beta(convention)) {
            free(block->beta);
            block->beta = NULL;
        }
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
    bool fine = block_allocate(block, convention, rows, hidden, error);
    size_t parameters = convention->affine == LN_AFFINE_SCALAR ? 1 : hidden;
    if (fine) {
        memcpy(block->x, x, rows * hidden * sizeof *x);
        block->residual = residual ? copy_of(residual, rows * hidden) : NULL;
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

void judge_block_free(judge_block *block)
{
    free(block->x);
    free(block->residual);
    free(block->gamma);
    free(block->beta);
    free(block->rounded);
    free(block->exact);
    free(block->results);
    *block = (judge_block){0};
}

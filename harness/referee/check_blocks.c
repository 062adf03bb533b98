/* The rows of each check. */
#include "base/random.h"
#include "domain/convention.h"
#include "inputs/inputs.h"
#include "metrics/storage.h"
#include "referee/internal.h"
#include "referee/checks.h"
#include "worker/large_rows.h"
#include <stdlib.h>
#include <string.h>

enum {
    ROWS_OF_SIZE = 4, /* two about zero, two three deviations off */
    BATCH_ROWS = 8,   /* distinct rows of a batch */
    BATCH_HIDDEN = 68,
    CALL_ROWS = 5,
};

static const size_t packs[REFEREE_PACKS][2] = {{1, 256},   {257, 512},  {513, 768},
                                               {769, 960}, {961, 1100}, {0, 16385}};

/* 2^k - 1, 2^k, 2^k + 1; primes; multiples of 16, 32 and 64 and 1, 7 or 13 more; and from the seed
 * one in each octave. */
static const size_t sample[] = {1151,  1201,  1280,  1297,  1415,  1536,  1543, 1613, 1933, 2047,
                                2048,  2049,  2063,  2311,  2567,  3001,  3072, 3085, 3111, 4093,
                                4095,  4096,  4097,  4109,  5003,  5120,  5133, 6151, 6157, 7919,
                                8191,  8192,  8193,  8205,  9973,  10247, 0,    0,    0,    11264,
                                12288, 12301, 14341, 16381, 16384, 16385};
enum { SAMPLE = sizeof sample / sizeof *sample };

static const size_t batches[] = {
    1,  2,  3,  4,  5,  6,  7,  8,  9,   10,  11,  12,  13,  14,  15,  16,  17,  18,   19,
    20, 21, 22, 23, 24, 25, 26, 27, 28,  29,  30,  31,  32,  33,  34,  35,  36,  37,   38,
    39, 40, 48, 56, 63, 64, 65, 96, 100, 127, 128, 192, 255, 256, 257, 384, 512, 1000, 1024};
enum { BATCHES = sizeof batches / sizeof *batches };

typedef struct judged_form {
    const char *input;
    bool residual;
    bool overflows; /* a third of gamma is near the end of the range, so that results lie beyond */
    bool zero;      /* the last gamma is 0: NaN and infinity times 0 are NaN */
} judged_form;

static const judged_form forms[] = {
    {.input = "normal", .residual = true},
    {.input = "normal"},
    {.input = "normal", .overflows = true},
    {.input = "nan", .residual = true, .zero = true},
    {.input = "inf", .zero = true},
    {.input = "signed-zeros"},
    {.input = "subnormal-out"},
    {.input = "offset:3", .residual = true},
    {.input = "wide-gamma"},
    {.input = "constant"},
};
static const size_t form_sizes[] = {1, 2, 3, 13, 64, 117, 1029};
/* Rows beyond 2^23; a stride that takes 1031 rows beyond element 2^32; and both. */
static const struct large_shape {
    size_t rows, hidden, step; /* step: the stride in rows */
} large_shapes[] = {
    {1031, 513, 8197}, {((size_t)1 << 23) + 7, 3, 1}, {((size_t)1 << 23) + 7, 513, 1}};

enum {
    FORMS = sizeof forms / sizeof *forms,
    FORM_SIZES = sizeof form_sizes / sizeof *form_sizes,
    FORM_ROWS = 5,
};

void referee_pack(size_t pack, size_t *first, size_t *last)
{
    *first = packs[pack][0];
    *last = packs[pack][1];
}

const char *referee_check_name(referee_check check)
{
    static const char *const names[CHECK_COUNT] = {"",      "sizes", "batches",
                                                   "forms", "calls", "large"};
    return names[check];
}

/* ---- what each block is ---- */

static const struct large_shape *large_shape_of(const referee_task *task, size_t index)
{
    return &large_shapes[task->first ? 2 : index];
}

static size_t count_blocks(const referee_task *task)
{
    switch (task->check) {
    case CHECK_SIZES:
        return task->first ? task->last - task->first + 1 : SAMPLE;
    case CHECK_BATCHES:
        return BATCHES;
    case CHECK_FORMS:
        return FORMS * FORM_SIZES;
    case CHECK_LARGE:
        return task->first ? 1 : 2;
    default:
        return 1;
    }
}

/* Places of the sample that the seed fills: one size from each octave above 1100. */
static size_t drawn_size(uint64_t seed, size_t place)
{
    uint32_t words[4];
    philox4x32(seed, place, 0x73697a6573, words);
    size_t octave = (size_t)2048 << place % 3;
    return octave + words[0] % octave;
}

static size_t hidden_of(const referee_task *task, uint64_t seed, size_t index)
{
    switch (task->check) {
    case CHECK_SIZES:
        if (task->first)
            return task->first + index;
        return sample[index] ? sample[index] : drawn_size(seed, index);
    case CHECK_FORMS:
        return form_sizes[index % FORM_SIZES];
    case CHECK_LARGE:
        return large_shape_of(task, index)->hidden;
    default:
        return BATCH_HIDDEN;
    }
}

static size_t rows_of(const referee_task *task, size_t index)
{
    switch (task->check) {
    case CHECK_SIZES:
        return ROWS_OF_SIZE;
    case CHECK_BATCHES:
        return batches[index];
    case CHECK_FORMS:
        return FORM_ROWS;
    case CHECK_LARGE:
        return large_shape_of(task, index)->rows;
    default:
        return CALL_ROWS;
    }
}

size_t referee_elements(const referee_task *task)
{
    size_t elements = 0;
    for (size_t i = 0; i < count_blocks(task); i++)
        elements += rows_of(task, i) * hidden_of(task, 0, i);
    /* Of large tensors few rows are judged. */
    return task->check == CHECK_LARGE ? elements / 16 : elements;
}

void referee_shape(const referee_task *task, size_t *rows, size_t *hidden)
{
    *rows = *hidden = 0;
    for (size_t i = 0; i < count_blocks(task); i++) {
        size_t here = rows_of(task, i), length = hidden_of(task, 0, i);
        *rows = here > *rows ? here : *rows;
        *hidden = length > *hidden ? length : *hidden;
    }
}

/* ---- rows ---- */

/* Everything that one block is made from. */
typedef struct raw_rows {
    char *x, *residual, *gamma, *beta;
} raw_rows;

static void free_raw(raw_rows *raw)
{
    free(raw->x);
    free(raw->residual);
    free(raw->gamma);
    free(raw->beta);
}

static bool allocate_raw(const referee_task *task, size_t rows, size_t hidden, raw_rows *raw,
                         error *err)
{
    size_t tensor = rows * hidden * dtype_size(task->storage);
    size_t parameters = hidden * dtype_size(task->param);
    *raw = (raw_rows){malloc(tensor), malloc(tensor), malloc(parameters), malloc(parameters)};
    return (raw->x && raw->residual && raw->gamma && raw->beta) ||
           fail_memory(err, "the referee's rows");
}

static bool make_block(row_judge *judge, const referee_task *task, const raw_rows *raw,
                       bool residual, size_t rows, size_t hidden, judge_block *block, error *err)
{
    const ln_convention *convention = &task->convention;
    return judge_block_from(judge, block, convention, task->storage, task->param, rows, hidden,
                            raw->x, residual ? raw->residual : NULL,
                            ln_has_gamma(convention->affine) ? raw->gamma : NULL,
                            ln_has_beta(convention->affine) ? raw->beta : NULL, err);
}

/* `centred` rows about zero, then as many three deviations off it. */
static bool fill_two_kinds(row_judge *judge, const referee_task *task, size_t rows, size_t centred,
                           size_t hidden, raw_rows *raw, error *err)
{
    uint64_t seed = judge->settings.seed;
    size_t row_bytes = hidden * dtype_size(task->storage);
    return input_rows("normal", task->storage, seed, 0, centred, hidden, raw->x, err) &&
           input_rows("offset:3", task->storage, seed, 0, rows - centred, hidden,
                      raw->x + centred * row_bytes, err) &&
           input_parameters("normal", &task->convention, task->param, seed, hidden, raw->gamma,
                            raw->beta, err);
}

static bool make_size(row_judge *judge, const referee_task *task, size_t hidden, judge_block *block,
                      error *err)
{
    raw_rows raw;
    bool fine = allocate_raw(task, ROWS_OF_SIZE, hidden, &raw, err) &&
                fill_two_kinds(judge, task, ROWS_OF_SIZE, ROWS_OF_SIZE / 2, hidden, &raw, err) &&
                make_block(judge, task, &raw, false, ROWS_OF_SIZE, hidden, block, err);
    free_raw(&raw);
    return fine;
}

/* 2/5 of the largest number: what lies 2.5 deviations off overflows. gamma * rstd does not in rows of
 * 64 elements and more, so that kernels may compute it first. */
static void overflow_gamma(const referee_task *task, size_t hidden, void *gamma)
{
    double most = task->storage == LN_F64 ? 0x1p1023 : task->storage == LN_F16 ? 0x1p15 : 0x1p127;
    for (size_t i = 0; hidden >= 64 && i < hidden; i += 3)
        storage_store(task->param, gamma, i, 0.8 * most);
}

static bool make_form(row_judge *judge, const referee_task *task, const judged_form *form,
                      size_t hidden, judge_block *block, error *err)
{
    uint64_t seed = judge->settings.seed;
    raw_rows raw;
    bool fine = allocate_raw(task, FORM_ROWS, hidden, &raw, err) &&
                input_rows(form->input, task->storage, seed, 0, FORM_ROWS, hidden, raw.x, err) &&
                input_rows("normal", task->storage, seed, FORM_ROWS, FORM_ROWS, hidden,
                           raw.residual, err) &&
                input_parameters(form->input, &task->convention, task->param, seed, hidden,
                                 raw.gamma, raw.beta, err);
    if (fine && form->overflows)
        overflow_gamma(task, hidden, raw.gamma);
    if (fine && form->zero && task->convention.affine != LN_AFFINE_SCALAR)
        storage_store(task->param, raw.gamma, hidden - 1, 0);
    fine = fine && make_block(judge, task, &raw, form->residual, FORM_ROWS, hidden, block, err);
    free_raw(&raw);
    return fine;
}

/* A few distinct rows over and over: their answers are found once. */
static bool make_batch(const judge_block *base, size_t rows, judge_block *block, error *err)
{
    size_t row_bytes = base->hidden * dtype_size(base->storage);
    *block = *base;
    block->rows = rows;
    block->limits = NULL;
    block->x = malloc(rows * row_bytes);
    block->results = malloc(rows * sizeof *block->results);
    if (!block->x || !block->results || !block_limits_create(block)) {
        free(block->x);
        free(block->results);
        return fail_memory(err, "the referee's rows");
    }
    for (size_t row = 0; row < rows; row++) {
        memcpy((char *)block->x + row * row_bytes, (char *)base->x + row % base->rows * row_bytes,
               row_bytes);
        block->results[row] = base->results[row % base->rows];
    }
    return true;
}

/* The block has the rows that are looked at. */
static bool make_large(row_judge *judge, const referee_task *task, const struct large_shape *shape,
                       large_tensors *large, judge_block *block, error *err)
{
    size_t hidden = shape->hidden, row_bytes = hidden * dtype_size(task->storage);
    size_t rows[LARGE_ROWS], count;
    raw_rows raw;
    *large = (large_tensors){.problem = {.rows = shape->rows,
                                         .hidden = hidden,
                                         .x_stride = shape->step * hidden,
                                         .y_stride = shape->step * hidden,
                                         .storage = task->storage,
                                         .param = task->param,
                                         .convention = task->convention},
                             .period = malloc(LARGE_PERIOD * row_bytes),
                             .seed = judge->settings.seed};
    count = large_rows(&large->problem, large->seed, rows);
    bool fine = allocate_raw(task, LARGE_ROWS, hidden, &raw, err) &&
                (large->period || fail_memory(err, "the referee's rows")) &&
                input_rows("normal", task->storage, large->seed, 0, LARGE_PERIOD, hidden,
                           large->period, err) &&
                input_parameters("normal", &task->convention, task->param, large->seed, hidden,
                                 raw.gamma, raw.beta, err);
    for (size_t i = 0; fine && i < count; i++)
        memcpy(raw.x + i * row_bytes,
               (char *)large->period + large_row_of_block(&large->problem, rows[i]) * row_bytes,
               row_bytes);
    fine = fine && make_block(judge, task, &raw, false, count, hidden, block, err);
    free_raw(&raw);
    if (!fine)
        free(large->period);
    return fine;
}

/* The last block is the one whose answers the others use. */
static bool make_batches(row_judge *judge, const referee_task *task, referee_blocks *blocks,
                         error *err)
{
    raw_rows raw;
    judge_block *base = &blocks->blocks[BATCHES];
    bool fine = allocate_raw(task, BATCH_ROWS, BATCH_HIDDEN, &raw, err) &&
                fill_two_kinds(judge, task, BATCH_ROWS, BATCH_ROWS / 2, BATCH_HIDDEN, &raw, err) &&
                make_block(judge, task, &raw, false, BATCH_ROWS, BATCH_HIDDEN, base, err);
    free_raw(&raw);
    for (; fine && blocks->count < BATCHES; blocks->count += fine)
        fine = make_batch(base, batches[blocks->count], &blocks->blocks[blocks->count], err);
    return fine;
}

bool referee_prepare(row_judge *judge, const referee_task *task, referee_blocks *blocks, error *err)
{
    size_t count = count_blocks(task);
    *blocks = (referee_blocks){.blocks = calloc(count + 1, sizeof *blocks->blocks),
                               .shared = task->check == CHECK_BATCHES,
                               .large = calloc(count, sizeof *blocks->large)};
    bool fine = (blocks->blocks && blocks->large) || fail_memory(err, "the referee's rows");
    if (fine && task->check == CHECK_BATCHES) {
        fine = make_batches(judge, task, blocks, err);
    } else {
        for (; fine && blocks->count < count; blocks->count += fine) {
            judge_block *block = &blocks->blocks[blocks->count];
            size_t hidden = hidden_of(task, judge->settings.seed, blocks->count);
            if (task->check == CHECK_LARGE)
                fine = make_large(judge, task, large_shape_of(task, blocks->count),
                                  &blocks->large[blocks->count], block, err);
            else if (task->check == CHECK_FORMS)
                fine =
                    make_form(judge, task, &forms[blocks->count / FORM_SIZES], hidden, block, err);
            else
                fine = make_size(judge, task, hidden, block, err);
        }
    }
    if (!fine)
        referee_release(blocks);
    return fine;
}

void referee_release(referee_blocks *blocks)
{
    for (size_t i = 0; i < blocks->count; i++) {
        judge_block *block = &blocks->blocks[i];
        if (blocks->shared) { /* the rest is that of the last block */
            free(block->x);
            free(block->results);
            block_limits_free(block);
        } else {
            judge_block_free(block);
        }
        free(blocks->large[i].period);
    }
    if (blocks->shared && blocks->blocks)
        judge_block_free(&blocks->blocks[BATCHES]);
    free(blocks->blocks);
    free(blocks->large);
    *blocks = (referee_blocks){0};
}

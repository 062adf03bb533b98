/* The rows of each check. */
#include "base/random.h"
#include "inputs/inputs.h"
#include "metrics/storage.h"
#include "referee/internal.h"
#include "referee/cells.h"
#include "worker/large_rows.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS_OF_SIZE = 4, /* two about zero, two three deviations off */
    SIZE_STEP = 7,    /* every so many sizes also with a residual */
    BATCH_ROWS = 31,  /* distinct rows of a batch: rows a power of two apart differ */
    BATCH_HIDDEN = 68,
    CALL_ROWS = 5,
    /* What a block costs beside its elements, and what all calls do, in elements. */
    BLOCK_ELEMENTS = 2500,
    CALLS_ELEMENTS = 10000000,
};

static const size_t packs[REFEREE_PACKS][2] = {{1, 256},   {257, 512},  {513, 768},
                                               {769, 960}, {961, 1100}, {0, 16385}};

/* 2^k - 1, 2^k, 2^k + 1; primes; multiples of 16, 32 and 64 and 1, 7 or 13 more; sizes of models; a
 * size beyond 2^15; and from the seed one in each octave. */
static const size_t sample[] = {
    1151, 1201, 1280, 1297, 1415, 1536, 1543, 1600, 1613, 1792, 1933, 2047, 2048, 2049, 2063, 2311,
    2560, 2567, 3001, 3072, 3085, 3111, 4093, 4095, 4096, 4097, 4109, 5003, 5120, 5133, 6144, 6151,
    6157, 7168, 7919, 8191, 8192, 8193, 8205, 9973, 10240, 10247, 0, 0, 0, 11264, 12288, 12301,
    14336, 14341, 16381, 16384, 16385, 40961,
    /* Ragged, and beyond what 16 bits count; the last ones as single rows. */
    20001, 24601, 50257, 65537, 131101, 4097, 12301};
enum { SAMPLE = sizeof sample / sizeof *sample, SINGLE = 2, TWO_ROWS_FROM = 65536 };

/* All up to SMALL_BATCHES, these, and from the seed DRAWN_BATCHES more; and some with a residual. */
enum { SMALL_BATCHES = 68, DRAWN_BATCHES = 4, DRAWN_LARGEST = 2048 };
static const size_t batches[] = {96,  100, 127, 128,  192,  255,  256,
                                 257, 384, 512, 1000, 1024, 1025, 2047};
static const size_t residual_batches[] = {6, 7, 8, 9, 12, 17, 31, 33, 40, 100, 257};
enum {
    LARGE_BATCHES = sizeof batches / sizeof *batches,
    RESIDUAL_BATCHES = sizeof residual_batches / sizeof *residual_batches,
    PLAIN_BATCHES = SMALL_BATCHES + LARGE_BATCHES + DRAWN_BATCHES,
    BATCHES = PLAIN_BATCHES + RESIDUAL_BATCHES,
};

typedef struct judged_form {
    const char *input;
    bool residual;
    bool overflows;  /* a third of gamma is near the end of the range, so that results lie beyond */
    bool zero;       /* the last gamma is 0: NaN and infinity times 0 are NaN */
    bool not_finite; /* a gamma is NaN, another parameter infinite */
    bool nan;        /* an element of the first row is a NaN all of whose payload is set */
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
    {.input = "normal", .not_finite = true, .nan = true},
};
static const size_t form_sizes[] = {1, 2, 3, 13, 64, 117, 1029};
/* Every tail of 32 without and with a residual, and longer rows: each convention may have code of
 * its own for them. */
enum { FIRST_TAIL = 17, TAILS = 64, TAIL_ROWS = 3 };
static const size_t long_forms[] = {768, 2049, 4100};
static const judged_form tail_forms[] = {{.input = "normal"},
                                         {.input = "normal", .residual = true}};
/* A stride that takes 1031 rows beyond element 2^32; rows beyond 2^16 and 2^23; ragged rows of more than
 * 8 MiB; and, in the full plan alone, dense rows beyond element 2^32. */
static const struct large_shape {
    size_t rows, hidden, step; /* step: the stride in rows */
    bool all;                  /* every input and output */
} large_shapes[] = {{1031, 513, 8197, false},       {1031, 513, 8197, true},
                    {(1 << 16) + 1031, 5, 1, true}, {((size_t)1 << 23) + 7, 3, 1, false},
                    {4099, 1031, 1, false},         {((size_t)1 << 23) + 7, 513, 1, false}};
enum { LARGE_SHAPES = sizeof large_shapes / sizeof *large_shapes };

enum {
    FORMS = sizeof forms / sizeof *forms,
    FORM_SIZES = sizeof form_sizes / sizeof *form_sizes,
    FORM_BLOCKS = FORMS * FORM_SIZES,
    LONG_FORMS = sizeof long_forms / sizeof *long_forms,
    FORM_ROWS = 5,
    CONVENTION_SIZES = 3,
};

void referee_task_pack(referee_task *task, size_t pack)
{
    static const size_t cells[REFEREE_PACKS] = {64, 768, 4096, 256, 1024, 12288};
    bool large = task->check == CHECK_LARGE, has_packs = !large && task->check != CHECK_CELLS;
    task->first = large ? pack : has_packs ? packs[pack][0] : cells[pack];
    task->last = has_packs ? packs[pack][1] : 0;
}

const char *referee_check_name(referee_check check)
{
    _Static_assert((int)CHECK_NAMES == (int)CHECK_COUNT, "a check without a name");
    return check_names[check];
}

/* ---- what each block is ---- */

static const struct large_shape *large_shape_of(const referee_task *task, size_t index)
{
    return &large_shapes[task->first ? LARGE_SHAPES - 1 : index];
}

/* The sizes that are multiples of SIZE_STEP and 3, which have a residual too: those up to `most`. */
static size_t sizes_with_residual(size_t most)
{
    return (most + SIZE_STEP - 3) / SIZE_STEP;
}

static size_t plain_sizes(const referee_task *task)
{
    return task->first ? task->last - task->first + 1 : SAMPLE;
}

static size_t count_blocks(const referee_task *task)
{
    switch (task->check) {
    case CHECK_SIZES:
        return plain_sizes(task) +
               (task->first ? sizes_with_residual(task->last) - sizes_with_residual(task->first - 1)
                            : sizes_with_residual(SAMPLE));
    case CHECK_BATCHES:
        return BATCHES;
    case CHECK_FORMS:
        return FORM_BLOCKS + TAILS + LONG_FORMS;
    case CHECK_CONVENTIONS:
        return convention_count(operations[OPERATION_LAYERNORM]) * CONVENTION_SIZES;
    case CHECK_CELLS:
        return cells_blocks();
    case CHECK_LARGE:
        return task->first ? 1 : LARGE_SHAPES - 1;
    default:
        return 1;
    }
}

static bool has_residual(const referee_task *task, size_t index)
{
    switch (task->check) {
    case CHECK_SIZES:
        return index >= plain_sizes(task);
    case CHECK_BATCHES:
        return index >= PLAIN_BATCHES;
    case CHECK_FORMS:
        return index < FORM_BLOCKS ? forms[index / FORM_SIZES].residual
                                   : (index - FORM_BLOCKS + FIRST_TAIL) / 32 % 2 == 1;
    case CHECK_CONVENTIONS:
        return index % CONVENTION_SIZES == 1;
    default:
        return false;
    }
}

/* A size from the octave that begins at `least`. */
static size_t drawn_size(uint64_t seed, size_t place, size_t least)
{
    uint32_t words[4];
    philox4x32(seed, place, 0x73697a6573, words);
    return least + words[0] % least;
}

static size_t size_of(const referee_task *task, uint64_t seed, size_t index)
{
    size_t plain = plain_sizes(task);
    if (task->first)
        return index < plain
                   ? task->first + index
                   : (sizes_with_residual(task->first - 1) + index - plain) * SIZE_STEP + 3;
    size_t place = index < plain ? index : (index - plain) * SIZE_STEP + 2;
    return sample[place] ? sample[place] : drawn_size(seed, place, (size_t)2048 << place % 3);
}

static size_t hidden_of(const referee_task *task, uint64_t seed, size_t index)
{
    switch (task->check) {
    case CHECK_SIZES:
        return size_of(task, seed, index);
    case CHECK_FORMS:
        return index < FORM_BLOCKS           ? form_sizes[index % FORM_SIZES]
               : index < FORM_BLOCKS + TAILS ? index - FORM_BLOCKS + FIRST_TAIL
                                             : long_forms[index - FORM_BLOCKS - TAILS];
    case CHECK_CONVENTIONS:
        return index % CONVENTION_SIZES == 0   ? 24
               : index % CONVENTION_SIZES == 1 ? 71
                                               : drawn_size(seed, index, 32);
    case CHECK_CELLS:
        return task->first;
    case CHECK_LARGE:
        return large_shape_of(task, index)->hidden;
    default:
        return BATCH_HIDDEN;
    }
}

static size_t batch_of(uint64_t seed, size_t index)
{
    if (index < SMALL_BATCHES)
        return index + 1;
    if (index < SMALL_BATCHES + LARGE_BATCHES)
        return batches[index - SMALL_BATCHES];
    if (index < PLAIN_BATCHES)
        return SMALL_BATCHES + drawn_size(seed, index, DRAWN_LARGEST / 2) - DRAWN_LARGEST / 2;
    return residual_batches[index - PLAIN_BATCHES];
}

static size_t size_rows(const referee_task *task, uint64_t seed, size_t index)
{
    size_t plain = plain_sizes(task);
    if (!task->first && index < plain && index + SINGLE >= plain)
        return 1;
    return size_of(task, seed, index) < TWO_ROWS_FROM ? ROWS_OF_SIZE : 2;
}

static size_t rows_of(const referee_task *task, uint64_t seed, size_t index)
{
    switch (task->check) {
    case CHECK_SIZES:
        return size_rows(task, seed, index);
    case CHECK_BATCHES:
        return batch_of(seed, index);
    case CHECK_FORMS:
        return index < FORM_BLOCKS ? FORM_ROWS : TAIL_ROWS;
    case CHECK_CONVENTIONS:
        return FORM_ROWS;
    case CHECK_CELLS:
        return CELLS_ROWS;
    case CHECK_LARGE:
        return large_shape_of(task, index)->rows;
    default:
        return CALL_ROWS;
    }
}

size_t referee_elements(const referee_task *task)
{
    size_t elements = 0;
    if (task->check == CHECK_CALLS)
        return CALLS_ELEMENTS;
    for (size_t i = 0; i < count_blocks(task); i++)
        elements += rows_of(task, 0, i) * hidden_of(task, 0, i) + BLOCK_ELEMENTS;
    /* Of large tensors few rows are judged. */
    return task->check == CHECK_LARGE ? elements / 16 : elements;
}

void referee_shape(const referee_task *task, size_t *rows, size_t *hidden)
{
    *rows = *hidden = 0;
    for (size_t i = 0; i < count_blocks(task); i++) {
        size_t here = rows_of(task, 0, i), length = hidden_of(task, 0, i);
        *rows = here > *rows ? here : *rows;
        *hidden = length > *hidden ? length : *hidden;
    }
}

/* ---- rows ---- */

/* Everything that one block is made from, a residual too. */
static bool call_make(const referee_task *task, size_t rows, size_t hidden, operation_call *raw,
                      error *err)
{
    *raw = call_dense(&task->convention, task->storage, task->param, rows, hidden);
    return call_allocate(raw, true) || fail_memory(err, "the referee's rows");
}

/* The block, with or without the residual. Frees what it was made from. */
static bool make_block(row_judge *judge, operation_call *raw, bool residual, bool fine,
                       judge_block *block, error *err)
{
    operation_call wanted = *raw;
    if (!residual)
        wanted.inputs[ROLE_RESIDUAL] = NULL;
    fine = fine && judge_block_from(judge, block, &wanted, err);
    call_free(raw);
    return fine;
}

/* The row of an input. */
static void *row_at(const operation_call *raw, size_t role, size_t row)
{
    return (char *)raw->inputs[role] + row * raw->problem.hidden * dtype_size(raw->problem.storage);
}

/* `centred` rows about zero, then as many three deviations off it. */
static bool make_size(row_judge *judge, const referee_task *task, size_t rows, size_t centred,
                      bool residual, size_t hidden, judge_block *block, error *err)
{
    uint64_t seed = judge->settings.seed;
    operation_call raw;
    bool fine = call_make(task, rows, hidden, &raw, err) &&
                input_call("normal", residual ? "normal" : NULL, &raw, seed, 0, err) &&
                input_rows("offset:3", task->storage, seed, 0, rows - centred, hidden,
                           row_at(&raw, ROLE_X, centred), err);
    return make_block(judge, &raw, residual, fine, block, err);
}

/* 2/5 of the largest number: what lies 2.5 deviations off overflows. gamma * rstd does not in rows of
 * 64 elements and more, so that kernels may compute it first. */
static void overflow_gamma(const referee_task *task, size_t hidden, void *gamma)
{
    double most = task->storage == LN_F64 ? 0x1p1023 : task->storage == LN_F16 ? 0x1p15 : 0x1p127;
    for (size_t i = 0; hidden >= 64 && i < hidden; i += 3)
        storage_store(task->param, gamma, i, 0.8 * most);
}

/* A NaN all of whose payload is set: rounded to a shorter type by an addition it becomes a zero. */
static void full_nan(ln_type type, void *tensor, size_t at)
{
    size_t size = dtype_size(type);
    char *place = (char *)tensor + at * size;
    memset(place, 0xff, size);
    place[size - 1] = 0x7f;
}

/* What kernels look at to see that there is nothing to multiply with, or to add. */
static void neutral_first(const referee_task *task, const operation_call *raw)
{
    storage_store(task->param, raw->inputs[ROLE_GAMMA], 0,
                  task->convention.affine != LN_AFFINE_GAMMA1);
    storage_store(task->param, raw->inputs[ROLE_BETA], 0, 0);
}

static bool make_form(row_judge *judge, const referee_task *task, const judged_form *form,
                      size_t rows, size_t hidden, judge_block *block, error *err)
{
    bool scalar = task->convention.affine == LN_AFFINE_SCALAR;
    operation_call raw;
    bool fine = call_make(task, rows, hidden, &raw, err) &&
                input_call(form->input, "normal", &raw, judge->settings.seed, 0, err);
    if (fine && form->overflows)
        overflow_gamma(task, hidden, raw.inputs[ROLE_GAMMA]);
    if (fine && form->nan)
        full_nan(task->storage, raw.inputs[ROLE_X], hidden / 2);
    if (fine && form->zero && !scalar)
        storage_store(task->param, raw.inputs[ROLE_GAMMA], hidden - 1, 0);
    if (fine && form->not_finite && !scalar) {
        full_nan(task->param, raw.inputs[ROLE_GAMMA], hidden / 2);
        storage_store(task->param, raw.inputs[ROLE_BETA], 0, INFINITY);
    }
    if (fine && rows == TAIL_ROWS && hidden % 2 == 0)
        neutral_first(task, &raw);
    return make_block(judge, &raw, form->residual, fine, block, err);
}

/* Of each number of the product; eps as people have it, but with digits of its own, and larger where
 * less of it shows. */
static ln_convention drawn_convention(uint64_t seed, size_t number)
{
    static const double most[] = {
        [LN_EPS_NONE] = 0, [LN_EPS_VAR] = 1e-3, [LN_EPS_STD] = 1e-2, [LN_EPS_QUOTIENT] = 0.5};
    uint32_t words[4];
    philox4x32(seed, number, 0x657073, words);
    ln_convention drawn = convention_numbered(operations[OPERATION_LAYERNORM], number);
    double decades = 2 * (words[0] + words[1] * 0x1p-32) * 0x1p-32;
    drawn.eps = most[drawn.eps_place] *
                pow(10, drawn.eps_place == LN_EPS_QUOTIENT ? -decades / 4 : -decades);
    return drawn;
}

/* Rows of which the first and fourth (off centre) have a std of 1, the others one near that at which
 * eps and the rest weigh the same. */
static void scale_rows(const ln_convention *convention, ln_type type, size_t hidden, void *tensor)
{
    bool var = convention->eps_place == LN_EPS_VAR;
    if (!var && convention->eps_place != LN_EPS_STD)
        return;
    double even = exp2(round(log2(var ? sqrt(convention->eps) : convention->eps)));
    const double scales[FORM_ROWS] = {1, even, even / 2, 1, 2 * even};
    for (size_t i = 0; i < FORM_ROWS * hidden; i++)
        storage_store(type, tensor, i, scales[i / hidden] * storage_load(type, tensor, i));
}

static bool make_convention(row_judge *judge, const referee_task *task, size_t index,
                            judge_block *block, error *err)
{
    uint64_t seed = judge->settings.seed;
    size_t hidden = hidden_of(task, seed, index);
    referee_task own = *task;
    operation_call raw;
    own.convention = drawn_convention(seed, index / CONVENTION_SIZES);
    bool fine =
        call_make(&own, FORM_ROWS, hidden, &raw, err) &&
        input_call("normal", "normal", &raw, seed, 0, err) &&
        input_rows("offset:3", own.storage, seed, 3, 1, hidden, row_at(&raw, ROLE_X, 3), err);
    if (fine) {
        scale_rows(&own.convention, own.storage, hidden, raw.inputs[ROLE_X]);
        scale_rows(&own.convention, own.storage, hidden, raw.inputs[ROLE_RESIDUAL]);
    }
    return make_block(judge, &raw, has_residual(task, index), fine, block, err);
}

/* The rest is that of the block whose answers it uses. */
static void free_batch(judge_block *block)
{
    free(block->inputs[ROLE_X]);
    free(block->inputs[ROLE_RESIDUAL]);
    free(block->results);
}

/* Parts of a tensor, `distinct` of them, over and over. */
static void *over_and_over(const void *of, size_t bytes, size_t distinct, size_t rows)
{
    char *made = of ? malloc(rows * bytes) : NULL;
    for (size_t row = 0; made && row < rows; row++)
        memcpy(made + row * bytes, (const char *)of + row % distinct * bytes, bytes);
    return made;
}

/* A few distinct rows over and over: their answers are found once, and what they may be off. */
static bool make_batch(const judge_block *base, size_t rows, judge_block *block, error *err)
{
    size_t row_bytes = base->hidden * dtype_size(base->storage), distinct = base->rows;
    *block = *base;
    block->rows = rows;
    block->distinct = distinct;
    block->inputs[ROLE_X] = over_and_over(base->inputs[ROLE_X], row_bytes, distinct, rows);
    block->inputs[ROLE_RESIDUAL] =
        over_and_over(base->inputs[ROLE_RESIDUAL], row_bytes, distinct, rows);
    block->results = over_and_over(base->results, sizeof *base->results, distinct, rows);
    if (block->inputs[ROLE_X] && block->results &&
        !block->inputs[ROLE_RESIDUAL] == !base->inputs[ROLE_RESIDUAL])
        return true;
    free_batch(block);
    return fail_memory(err, "the referee's rows");
}

/* The block has the rows that are looked at. */
static bool make_large(row_judge *judge, const referee_task *task, const struct large_shape *shape,
                       large_tensors *large, judge_block *block, error *err)
{
    size_t hidden = shape->hidden, row_bytes = hidden * dtype_size(task->storage);
    size_t rows[LARGE_ROWS], count;
    operation_call raw;
    *large = (large_tensors){.problem = problem_dense(&task->convention, task->storage, task->param,
                                                      shape->rows, hidden),
                             .period = malloc(LARGE_PERIOD * row_bytes),
                             .seed = judge->settings.seed};
    problem_set_strides(&large->problem, shape->step * hidden);
    count = large_rows(&large->problem, large->seed, rows);
    bool fine = call_make(task, LARGE_ROWS, hidden, &raw, err) &&
                (large->period || fail_memory(err, "the referee's rows")) &&
                input_rows("normal", task->storage, large->seed, 0, LARGE_PERIOD, hidden,
                           large->period, err) &&
                input_parameters("normal", &raw, large->seed, err);
    for (size_t i = 0; fine && i < count; i++) {
        const char *period = large->period;
        size_t row = large_row_of_block(&large->problem, rows[i]);
        memcpy(row_at(&raw, ROLE_X, i), period + row * row_bytes, row_bytes);
        memcpy(row_at(&raw, ROLE_RESIDUAL, i),
               period + (row + LARGE_RESIDUAL_ROW) % LARGE_PERIOD * row_bytes, row_bytes);
    }
    raw.problem.rows = count;
    fine = make_block(judge, &raw, shape->all, fine, block, err);
    if (!fine)
        free(large->period);
    return fine;
}

/* Behind the batches stand the two blocks whose answers they use. */
static bool make_batches(row_judge *judge, const referee_task *task, referee_blocks *blocks,
                         error *err)
{
    judge_block *bases = &blocks->blocks[BATCHES];
    bool fine = true;
    for (size_t i = 0; fine && i < 2; i++)
        fine = make_size(judge, task, BATCH_ROWS, BATCH_ROWS / 2, i == 1, BATCH_HIDDEN, &bases[i],
                         err);
    for (; fine && blocks->count < BATCHES; blocks->count += fine)
        fine = make_batch(&bases[has_residual(task, blocks->count)],
                          batch_of(judge->settings.seed, blocks->count),
                          &blocks->blocks[blocks->count], err);
    return fine;
}

static const judged_form *form_of(const referee_task *task, size_t index)
{
    return index < FORM_BLOCKS ? &forms[index / FORM_SIZES]
                               : &tail_forms[has_residual(task, index)];
}

bool referee_prepare(row_judge *judge, const referee_task *task, referee_blocks *blocks, error *err)
{
    size_t count = count_blocks(task);
    *blocks = (referee_blocks){.blocks = calloc(count + 2, sizeof *blocks->blocks),
                               .shared = task->check == CHECK_BATCHES,
                               .large = calloc(count, sizeof *blocks->large)};
    bool fine = (blocks->blocks && blocks->large) || fail_memory(err, "the referee's rows");
    if (fine && task->check == CHECK_BATCHES) {
        fine = make_batches(judge, task, blocks, err);
    } else {
        for (; fine && blocks->count < count; blocks->count += fine) {
            judge_block *block = &blocks->blocks[blocks->count];
            size_t hidden = hidden_of(task, judge->settings.seed, blocks->count);
            size_t rows = rows_of(task, judge->settings.seed, blocks->count);
            if (task->check == CHECK_LARGE)
                fine = make_large(judge, task, large_shape_of(task, blocks->count),
                                  &blocks->large[blocks->count], block, err);
            else if (task->check == CHECK_CONVENTIONS)
                fine = make_convention(judge, task, blocks->count, block, err);
            else if (task->check == CHECK_CELLS)
                fine = cells_make(judge, task, blocks->count, block, err);
            else if (task->check == CHECK_FORMS)
                fine =
                    make_form(judge, task, form_of(task, blocks->count), rows, hidden, block, err);
            else
                fine = make_size(judge, task, rows, rows / 2, has_residual(task, blocks->count),
                                 hidden, block, err);
        }
    }
    for (size_t i = 0; fine && i < count; i++)
        blocks->blocks[i].draw = drawn_size(judge->settings.seed, i, (size_t)1 << 31);
    if (!fine)
        referee_release(blocks);
    return fine;
}

void referee_release(referee_blocks *blocks)
{
    for (size_t i = 0; i < blocks->count; i++) {
        judge_block *block = &blocks->blocks[i];
        if (blocks->shared)
            free_batch(block);
        else
            judge_block_free(block);
        free(blocks->large[i].period);
    }
    for (size_t i = 0; blocks->shared && blocks->blocks && i < 2; i++)
        judge_block_free(&blocks->blocks[BATCHES + i]);
    free(blocks->blocks);
    free(blocks->large);
    *blocks = (referee_blocks){0};
}

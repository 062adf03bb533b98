/* A block's rows and what each may be off without a bound: found once, for all kernels that are
 * judged on the block. */
#include "judge/internal.h"
#include "exact/scale.h"
#include <stdlib.h>

/* By accumulator, since no two types of sums are off alike: f32 and f64, which are the usual ones,
 * each have a place, and any other takes that of f32. */
enum { KINDS = 2 };

typedef struct kind_limits {
    judged_kind kind;
    row_limits *rows;
    bool *made;
} kind_limits;

typedef struct block_limits {
    kind_limits kinds[KINDS];
} block_limits;

bool block_limits_create(judge_block *block)
{
    block->limits = calloc(1, sizeof *block->limits);
    return block->limits != NULL;
}

void block_limits_free(judge_block *block)
{
    for (size_t i = 0; block->limits && i < KINDS; i++) {
        free(block->limits->kinds[i].rows);
        free(block->limits->kinds[i].made);
    }
    free(block->limits);
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

bool judge_load_row(row_judge *judge, const judge_block *block, size_t row)
{
    const operation_judging *judging = judgings[block->operation];
    if (block->hidden > judge_whole(judge)->hidden) {
        double *grown = realloc(judge->values, block->hidden * sizeof *grown);
        judge->values = grown ? grown : judge->values;
        bool *wrong = realloc(judge_whole(judge)->wrong_columns, block->hidden * sizeof *wrong);
        judge_whole(judge)->wrong_columns = wrong ? wrong : judge_whole(judge)->wrong_columns;
        if (!grown || !wrong)
            return false;
        judge_whole(judge)->hidden = block->hidden;
    }
    for (size_t i = 0; i < block->hidden; i++)
        judge->values[i] =
            block->inputs[ROLE_RESIDUAL]
                ? judging->added(block, row * block->hidden + i)
                : load(block->storage, block->inputs[ROLE_X], row * block->hidden + i);
    return true;
}

static kind_limits *place_of(const judge_block *block, const judged_kind *kind)
{
    kind_limits *place = &block->limits->kinds[kind->accumulator == LN_F64];
    bool same =
        place->kind.accumulator == kind->accumulator && place->kind.flushes == kind->flushes;
    size_t rows = block->distinct ? block->distinct : block->rows;
    if (!place->rows)
        place->rows = malloc(rows * sizeof *place->rows);
    if (!same || !place->made) {
        free(place->made);
        place->made = calloc(rows, sizeof *place->made);
    }
    place->kind = *kind;
    return place->rows && place->made ? place : NULL;
}

const row_limits *judge_limits(row_judge *judge, const judge_block *block, const judged_kind *kind,
                               size_t row)
{
    order_question asked = {.storage = block->storage,
                            .accumulator = kind->accumulator,
                            .hidden = block->hidden,
                            .convention = &block->convention,
                            .flushes = kind->flushes};
    metrics_row judged = judge_metrics_row(block, row);
    kind_limits *place = place_of(block, kind);
    if (!place || !judge_load_row(judge, block, row))
        return NULL;
    if (block->distinct)
        row %= block->distinct;
    if (!place->made[row])
        place->made[row] = limits_of_row(judgings[block->operation], &judge_whole(judge)->book,
                                         &asked, &judged, judge->values, &place->rows[row]);
    return place->made[row] ? &place->rows[row] : NULL;
}

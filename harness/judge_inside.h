/* What the judge's files share. */
#ifndef LNBENCH_JUDGE_INSIDE_H
#define LNBENCH_JUDGE_INSIDE_H

#include "judge.h"

struct judge {
    worker *worker;
    judge_settings settings;
    ln_reference *reference;
    metrics_gather *gather;
    /* Grown as needed and kept, since a run judges thousands of cases of few sizes. */
    char *computed, *other;
    /* All bits set where the kernel left none: as metrics take them, rounded to f32 but for f64
     * rows, and as they were given. */
    double *mean, *rstd, *given_mean, *given_rstd;
    ln_bound *bounds;
    judged_row *by_row;
    size_t bytes, rows;
};

/* Room for a block's outputs. */
bool judge_reserve(judge *judge, const judge_block *block, error *error);

/* Writes a block's inputs into the worker's arena and fills the order's problem and offsets. */
bool judge_place(judge *judge, const judge_block *block, order *order, error *error);

/* Runs one placement; outputs in `computed`. False with error.code FINE: the kernel failed, see
 * verdict. */
bool judge_run(judge *judge, const judge_block *block, const kernel_entry *kernel,
               placement placement, void *computed, verdict *verdict, error *error);

/* The kernel's bounds for the block's rows into judge->bounds; *has tells whether it claims any.
 * False with error.code FINE: bound() itself failed, see verdict. */
bool judge_bounds(judge *judge, const judge_block *block, const kernel_entry *kernel, bool *has,
                  verdict *verdict, error *error);

/* What is known of a block's output while its rows are gone through. */
typedef struct row_findings {
    verdict verdict;
    size_t unclaimed; /* rows without a claim */
} row_findings;

void judge_find(row_findings *findings, verdict_kind kind, bool declared, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Holds y, which came out as row `row`, against its answer and bound. */
void judge_row(const judge *judge, const judge_block *block, const void *y, size_t row,
               bool has_bound, row_findings *findings);
/* The metrics of all rows, and each row's part in judge->by_row. */
bool judge_measure(judge *judge, const judge_block *block, const void *computed, bool has_bound,
                   bool has_statistics, judgement *judgement, error *error);
void judge_conclude(const judge *judge, const judge_block *block, bool has_bound,
                    row_findings *findings, judgement *judgement);

/* Whether every element of a row has the class (NaN, +Inf, -Inf, finite) of the exact answer;
 * *column: the first that does not. */
bool judge_classes_match(const judge_block *block, size_t row, const void *y, size_t *column);

metrics_row judge_metrics_row(const judge_block *block, size_t row);

/* Bytes of x, and of y. */
static inline size_t judge_bytes(const judge_block *block)
{
    return block->rows * block->hidden * dtype_size(block->storage);
}

/* Elements of gamma and of beta. */
static inline size_t judge_parameters(const judge_block *block)
{
    return block->convention.affine == LN_AFFINE_SCALAR ? 1 : block->hidden;
}

/* Row `row` of a dense tensor like y. */
static inline const void *judge_row_of(const judge_block *block, const void *y, size_t row)
{
    return (const char *)y + row * block->hidden * dtype_size(block->storage);
}

/* Whether all bits are set: what stands where nothing was written. */
static inline bool judge_is_poison(const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    while (size > 0 && *byte == 0xff) {
        byte++;
        size--;
    }
    return size == 0;
}

#endif

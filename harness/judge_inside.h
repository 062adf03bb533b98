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
    float *computed, *other;
    float *mean, *rstd; /* with room for the kernel's own, which may be f64 */
    ln_bound *bounds;
    judged_row *by_row;
    size_t elements, rows;
};

/* Room for a block's outputs. */
bool judge_reserve(judge *judge, const judge_block *block, error *error);

/* Writes a block's inputs into the worker's arena and fills the order's problem and offsets. */
bool judge_place(judge *judge, const judge_block *block, order *order, error *error);

/* Runs one placement; outputs in `computed`. False with error.code FINE: the kernel failed, see
 * verdict. */
bool judge_run(judge *judge, const judge_block *block, const kernel_entry *kernel,
               placement placement, float *computed, verdict *verdict, error *error);

/* The kernel's bounds for the block's rows into judge->bounds; *has tells whether it claims any.
 * False with error.code FINE: bound() itself failed, see verdict. */
bool judge_bounds(judge *judge, const judge_block *block, const kernel_entry *kernel, bool *has,
                  verdict *verdict, error *error);

/* Whether every element of a row has the class (NaN, +Inf, -Inf, finite) of the exact answer;
 * *column: the first that does not. */
bool judge_classes_match(const ln_reference_result *result, size_t hidden, const float *computed,
                         size_t *column);

#endif

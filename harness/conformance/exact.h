/* The check of kernels that claim to round correctly (LN_TRAIT_CORRECTLY_ROUNDED): their bits are compared
 * with those of the certified reference. Inside of harness/conformance/.
 *
 * The blocks: 100,000 elements of every operation, under its conventions with several eps, of the input
 * families and of rows aimed at midpoints of two numbers, with and without a residual, short rows and long
 * ones. Which blocks there are follows from the operation, and what they hold from the seed.
 */
#ifndef LNBENCH_EXACT_H
#define LNBENCH_EXACT_H

#include "conformance/checks.h"

size_t exact_blocks(ln_operation kind);
/* Rows and hidden size of a block. */
ln_problem exact_problem(const conformance_task *task, size_t index);
bool exact_make(row_judge *judge, const conformance_task *task, size_t index, judge_block *block,
                error *err);
/* As judge_kernel(). What is not the correctly rounded value is inaccurate. */
bool exact_judge(row_judge *judge, const judge_block *block, size_t index,
                 const kernel_entry *kernel, case_judgement *judgement, error *err);

#endif

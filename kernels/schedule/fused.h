/* fused: row after row like plain, but x and residual are read from memory once: the sum is written
 * by the sweep that takes the statistics, and y is made while the row is still in registers or L1.
 */
#ifndef LN_SCHEDULE_H
#define LN_SCHEDULE_H

#include "schedule/rows.h"

LN_INLINE void schedule_run(const ln_problem *problem, const ln_tensors *tensors, ln_affine affine,
                            residual_form form)
{
    run_rows(problem, tensors, affine, form, 1);
}

#endif

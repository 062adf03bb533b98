/* plain: row after row: its statistics, then y (and the sum, where one is wanted). */
#ifndef LN_SCHEDULE_H
#define LN_SCHEDULE_H

#include "schedule/call.h"

LN_INLINE void schedule_run(const ln_problem *problem, const ln_tensors *tensors, ln_affine affine,
                            residual_form form)
{
    const call run = call_of(problem, tensors, affine, form);
    run_rows(&run);
}

#endif

/* plain: row after row: its statistics, then y (and the sum, where one is wanted). */
#ifndef LN_SCHEDULE_H
#define LN_SCHEDULE_H

#include "schedule/rows.h"

LN_INLINE void schedule_run(const ln_problem *problem, const ln_tensors *tensors, ln_affine affine,
                            residual_form form)
{
    const convention convention = convention_prepare(problem, tensors, affine);
    const statistics statistics = statistics_prepare(problem);
    for (size_t r = 0; r < problem->rows; r++) {
        const row row = row_at(problem, tensors, r, form, 0);
        moments moments = statistics_of(&statistics, &row, statistics_pivot(&statistics, &row));
        factor rstd = convention_rstd(&convention, moments);
        apply_row(&row, &convention, centre_of(moments, rstd, convention.quotient));
        keep_moments(tensors, r, moments, rstd);
    }
}

#endif

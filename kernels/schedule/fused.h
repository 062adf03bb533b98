/* fused: x and residual are read from memory once: the sum is written by the sweep that takes the
 * statistics, and y is made while the row is still in L1.
 *
 * A short row is little work and a long chain of latencies: pivot, sums over lanes, quotient, root,
 * reciprocal. So as many rows as fit in a part of L1 are taken together, stage by stage: within a
 * stage no row waits for another. Each row is computed as if it were alone. */
#ifndef LN_SCHEDULE_H
#define LN_SCHEDULE_H

#include "schedule/rows.h"

#ifndef LN_GROUP_BYTES
#define LN_GROUP_BYTES 16384
#endif
enum { GROUP_ROWS = 8, GROUP_BYTES = LN_GROUP_BYTES };

LN_INLINE void fused_group(const ln_problem *problem, const ln_tensors *tensors,
                           const statistics *statistics, const convention *convention, size_t first,
                           size_t count, residual_form form)
{
    real pivots[GROUP_ROWS];
    factor rstds[GROUP_ROWS];
    moments found[GROUP_ROWS];
    for (size_t g = 0; g < count; g++) {
        const row row = row_at(problem, tensors, first + g, form, 1);
        pivots[g] = statistics_pivot(statistics, &row);
    }
    for (size_t g = 0; g < count; g++) {
        const row row = row_at(problem, tensors, first + g, form, 1);
        found[g] = statistics_of(statistics, &row, pivots[g]);
    }
    for (size_t g = 0; g < count; g++) {
        rstds[g] = convention_rstd(convention, found[g]);
        keep_moments(tensors, first + g, found[g], rstds[g]);
    }
    for (size_t g = 0; g < count; g++) {
        const row row = row_at(problem, tensors, first + g, form, 1);
        apply_row(&row, convention, centre_of(found[g], rstds[g], convention->quotient));
    }
}

LN_INLINE void schedule_run(const ln_problem *problem, const ln_tensors *tensors, ln_affine affine,
                            residual_form form)
{
    const convention convention = convention_prepare(problem, tensors, affine);
    const statistics statistics = statistics_prepare(problem);
    size_t fit = GROUP_BYTES / sizeof(storage) / problem->hidden;
    size_t group = fit < 1 ? 1 : (fit < GROUP_ROWS ? fit : GROUP_ROWS);
    for (size_t r = 0; r < problem->rows; r += group) {
        size_t count = problem->rows - r < group ? problem->rows - r : group;
        fused_group(problem, tensors, &statistics, &convention, r, count, form);
    }
}

#endif

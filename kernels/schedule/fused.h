/* fused: x and residual are read from memory once: the sum is written by the sweep that takes the
 * statistics, and y is made while the row is still in L1.
 *
 * A short row is little work and a long chain of latencies: pivot, sums over lanes, quotient, root,
 * reciprocal. So as many rows as fit in a part of L1 are taken together, stage by stage: within a
 * stage no row waits for another. Each row is computed as if it were alone. */
#ifndef LN_SCHEDULE_H
#define LN_SCHEDULE_H

#include "schedule/call.h"

#ifndef LN_GROUP_BYTES
#define LN_GROUP_BYTES 16384
#endif
enum { GROUP_ROWS = 8, GROUP_BYTES = LN_GROUP_BYTES };

LN_INLINE void fused_group(const call *call, size_t first, size_t count)
{
    real pivots[GROUP_ROWS];
    factor rstds[GROUP_ROWS];
    moments found[GROUP_ROWS];
    for (size_t g = 0; g < count; g++) {
        const row row = call_row(call, first + g);
        pivots[g] = statistics_pivot(&call->statistics, &row);
    }
    for (size_t g = 0; g < count; g++) {
        const row row = call_row(call, first + g);
        found[g] = statistics_of(&call->statistics, &row, pivots[g]);
    }
    for (size_t g = 0; g < count; g++) {
        rstds[g] = convention_rstd(&call->convention, found[g]);
        keep_moments(call->tensors, first + g, found[g], rstds[g]);
    }
    for (size_t g = 0; g < count; g++) {
        const row row = call_row(call, first + g);
        apply_row(&row, &call->convention,
                  centre_of(found[g], rstds[g], call->convention.quotient));
    }
}

LN_INLINE void schedule_run(const ln_problem *problem, const ln_tensors *tensors, ln_affine affine,
                            residual_form form)
{
    const call call = call_of(problem, tensors, affine, form, SUM_EARLY);
    size_t fit = GROUP_BYTES / sizeof(storage) / problem->hidden;
    size_t group = fit < 1 ? 1 : (fit < GROUP_ROWS ? fit : GROUP_ROWS);
    for (size_t r = 0; r < problem->rows; r += group) {
        size_t left = problem->rows - r;
        fused_group(&call, r, left < group ? left : group);
    }
}

#endif

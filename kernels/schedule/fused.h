/* fused: x and residual are read from memory once: the sweep for the statistics writes the sum, and y is computed while
 * the row is still in L1.
 *
 * A short row has little work but a long chain of latencies: pivot, sums over lanes, quotient, root, reciprocal. So as
 * many rows as fit into a part of L1 are processed together, stage by stage: within a stage no row waits for another.
 * The bits of each row do not depend on the others. If y is stored around the caches, groups have at most 2 KiB, so
 * that memory is written to again soon (at hidden 256, groups of 8 rows are a tenth slower than single rows). */
#ifndef LN_SCHEDULE_H
#define LN_SCHEDULE_H

#include "schedule/call.h"

/* A single row of RMSNorm has its own code (kernel.h). */
#if defined(SWEEP_SQUARES) && STORES_F32 && LN_LANES > 1 && !LN_NONTEMPORAL
#define STATISTICS_OF_ONE
#endif

enum { GROUP_ROWS = 8, GROUP_BYTES = LN_NONTEMPORAL ? 2048 : 16384 };

LN_INLINE void fused_apply(ln_affine affine, const call *run, size_t first, size_t count,
                           const moments found[], const factor rstds[])
{
    for (size_t g = 0; g < count; g++) {
        const row view = call_row(run, first + g);
        apply_row_as(affine, &view, &run->convention,
                     centre_of(found[g], rstds[g], run->convention.quotient));
    }
}

LN_INLINE void fused_group(const call *run, size_t first, size_t count)
{
    real pivots[GROUP_ROWS];
    factor rstds[GROUP_ROWS];
    moments found[GROUP_ROWS];
    for (size_t g = 0; g < count; g++) {
        const row view = call_row(run, first + g);
        pivots[g] = statistics_pivot(&run->statistics, &view);
    }
    for (size_t g = 0; g < count; g++) {
        const row view = call_row(run, first + g);
        found[g] = statistics_of(&run->statistics, &view, pivots[g]);
    }
    for (size_t g = 0; g < count; g++) {
        rstds[g] = convention_rstd(&run->convention, found[g]);
        keep_moments(run->tensors, first + g, found[g], rstds[g]);
    }
    LN_BY_AFFINE(&run->convention, fused_apply, run, first, count, found, rstds);
}

LN_INLINE void schedule_run(const ln_problem *problem, const ln_tensors *tensors, ln_affine affine,
                            residual_form form)
{
    const call run = call_of(problem, tensors, affine, form);
    size_t fit = GROUP_BYTES / sizeof(storage) / problem->hidden;
    size_t set = fit < 1 ? 1 : (fit < GROUP_ROWS ? fit : GROUP_ROWS);
    for (size_t r = 0; r < problem->rows; r += set) {
        size_t left = problem->rows - r;
        fused_group(&run, r, left < set ? left : set);
    }
}

#endif

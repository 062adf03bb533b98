/* blocked: rows in groups: first the statistics of all of them, then y by blocks of columns, whose gamma and beta stay
 * in L1 for all rows of the group.
 *
 * This is for long rows that stay in a cache. From hidden 4096 on, x, y, gamma and beta of a row together exceed L1,
 * and the time depends on the cache lines that each vector loads into it: one of x for the statistics, and one of x and
 * one of y for apply. Without blocks there would be those of gamma and beta too. Statistics (shifted) take 1.1 to 1.3
 * cycles for a vector from L2, a copy 2.05 (Zen 5, 48 KiB of L1).
 *
 * apply is a loop of one vector, not unrolled. Its blocks go from the last column to the first, since L1 still holds
 * the end of the last row that was read. Measured: docs/lab/experiments.md, "blocked". */
#ifndef LN_SCHEDULE_H
#define LN_SCHEDULE_H

#include "schedule/call.h"

enum { GROUP_ROWS = 32, GROUP_ROWS_LEAST = 4, GROUP_BYTES = 1 << 18, BLOCK_COLUMNS = 2048 };

/* Rows whose statistics are known. */
typedef struct group {
    size_t first;
    size_t count;
    moments found[GROUP_ROWS];
    factor rstds[GROUP_ROWS];
} group;

LN_INLINE void group_sweep(const call *run, group *set)
{
    for (size_t g = 0; g < set->count; g++) {
        const row view = call_row(run, set->first + g);
        real pivot = statistics_pivot(&run->statistics, &view);
        moments found = statistics_of(&run->statistics, &view, pivot);
        factor rstd = convention_rstd(&run->convention, found);
        keep_moments(run->tensors, set->first + g, found, rstd);
        set->found[g] = found;
        set->rstds[g] = rstd;
    }
}

/* Computes y of columns `begin` to `end` of one row, beginning with the last. */
LN_INLINE void apply_columns(ln_affine affine, const row *view, const convention *rules, centre by,
                             size_t begin, size_t end)
{
    size_t i = begin + (end - begin) / LANES * LANES;
    if (i < end)
        apply_stored(affine, view, rules, by, i, end - i);
    while (i > begin) {
        i -= LANES;
        apply_stored(affine, view, rules, by, i, LANES);
    }
}

LN_INLINE void group_apply(const call *run, const group *set)
{
    size_t begin = run->problem->hidden, end;
    do {
        end = begin;
        begin = (end - 1) / BLOCK_COLUMNS * BLOCK_COLUMNS;
        for (size_t g = 0; g < set->count; g++) {
            const row view = call_row(run, set->first + g);
            const centre by = centre_of(set->found[g], set->rstds[g], run->convention.quotient);
            LN_BY_AFFINE(&run->convention, apply_columns, &view, &run->convention, by, begin, end);
        }
    } while (begin > 0);
}

LN_INLINE void schedule_run(const ln_problem *problem, const ln_tensors *tensors, ln_affine affine,
                            residual_form form)
{
    const call run = call_of(problem, tensors, affine, form);
    size_t fit = GROUP_BYTES / sizeof(storage) / problem->hidden;
    size_t most = fit < GROUP_ROWS_LEAST ? GROUP_ROWS_LEAST : (fit < GROUP_ROWS ? fit : GROUP_ROWS);
    group set;
    for (size_t r = 0; r < problem->rows; r += set.count) {
        size_t left = problem->rows - r;
        set.first = r;
        set.count = left < most ? left : most;
        group_sweep(&run, &set);
        group_apply(&run, &set);
    }
}

#endif

/* blocked: rows in groups, the statistics of all of them first; then y by blocks of columns, whose
 * gamma and beta stay in L1 while the group's rows go by.
 *
 * For long rows that stay in a cache: from hidden 4096 on x, y, gamma and beta of a row together
 * overflow L1, and what counts is how many lines a vector brings into it: one of x for the
 * statistics, one of x and one of y for the apply, where rows one by one bring gamma and beta too.
 * Statistics (shifted) take 1.1 to 1.3 cycles a vector from L2, a copy 2.05 (Zen 5, 48 KiB of L1).
 *
 * What the apply takes beside the copy is in how streams begin and end. The hardware fetches ahead
 * of each load instruction by that instruction's own stride: where a stream ends, what was fetched
 * beyond is lost, the more the longer the stride. So the apply is a loop of one vector, not
 * unrolled, and as long a block as L1 holds gamma and beta of beside x and y. In cycles a vector
 * (rows of 4096 in L2, busy machine):
 *     2.05  a copy; the apply too, if its rows are 2048 long and whole
 *     2.7   blocks of 2048 columns, from the last back; forwards 3.0 to 3.3
 *     2.9   blocks of 1024, forwards 3.0; of 3072 2.8 (gamma and beta: 24 KiB)
 *     3.8   any of those unrolled by 2, 4.2 by 4
 *     2.8   forwards, with the next row's first 8 lines of x and y fetched; backwards no better
 *     3.2   two or four rows side by side, by such blocks
 *     3.7   four rows side by side, whole, from the last column back
 *     4.8   one row, whole
 * Blocks from the last back, since L1 still holds the end of the last row swept. Together with the
 * statistics, as share of the copy: .47 at hidden 4096 to 12288, where four rows side by side
 * reached .41, .46 and .46; in L3 .66 and .63 instead of .58 and .56. The loop of pipelined.h,
 * which sweeps one row while it makes y of another, has .37 to .38. Gamma and beta fetched with the
 * non-temporal hint, so that they leave L1 first, gain 6 % with four rows whole and lose 3 % with
 * one or two. */
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
    int done[GROUP_ROWS]; /* y too */
} group;

/* Where y is not for items (apply/guarded.h), it is made at once, by rows. */
LN_INLINE int apply_if_strange(const row *row, const convention *convention, centre centre)
{
#ifdef CENTRE_GUARDED
    if (__builtin_expect(centre.strange, 0)) {
        apply_row(row, convention, centre);
        return 1;
    }
#endif
    (void)row, (void)convention, (void)centre;
    return 0;
}

LN_INLINE void group_sweep(const call *call, group *group)
{
    for (size_t g = 0; g < group->count; g++) {
        const row row = call_row(call, group->first + g);
        real pivot = statistics_pivot(&call->statistics, &row);
        moments found = statistics_of(&call->statistics, &row, pivot);
        factor rstd = convention_rstd(&call->convention, found);
        keep_moments(call->tensors, group->first + g, found, rstd);
        group->found[g] = found;
        group->rstds[g] = rstd;
        group->done[g] = apply_if_strange(&row, &call->convention,
                                          centre_of(found, rstd, call->convention.quotient));
    }
}

/* y of columns `begin` to `end` of one row, from the last back. */
LN_INLINE void apply_columns(const row *row, const convention *convention, centre centre,
                             size_t begin, size_t end)
{
    size_t i = begin + (end - begin) / LANES * LANES;
    if (i < end)
        row_store(row->y + i, apply_vector(row, convention, centre, i, end - i), end - i);
    while (i > begin) {
        i -= LANES;
        row_store(row->y + i, apply_vector(row, convention, centre, i, LANES), LANES);
    }
}

LN_INLINE void group_apply(const call *call, const group *group)
{
    size_t begin = call->problem->hidden, end;
    do {
        end = begin;
        begin = (end - 1) / BLOCK_COLUMNS * BLOCK_COLUMNS;
        for (size_t g = 0; g < group->count; g++) {
            const row row = call_row(call, group->first + g);
            if (group->done[g])
                continue;
            apply_columns(&row, &call->convention,
                          centre_of(group->found[g], group->rstds[g], call->convention.quotient),
                          begin, end);
        }
    } while (begin > 0);
}

LN_INLINE void schedule_run(const ln_problem *problem, const ln_tensors *tensors, ln_affine affine,
                            residual_form form)
{
    const call call = call_of(problem, tensors, affine, form, SUM_LATE);
    size_t fit = GROUP_BYTES / sizeof(storage) / problem->hidden;
    size_t most = fit < GROUP_ROWS_LEAST ? GROUP_ROWS_LEAST : (fit < GROUP_ROWS ? fit : GROUP_ROWS);
    group group;
    for (size_t r = 0; r < problem->rows; r += group.count) {
        size_t left = problem->rows - r;
        group.first = r;
        group.count = left < most ? left : most;
        group_sweep(&call, &group);
        group_apply(&call, &group);
    }
}

#endif

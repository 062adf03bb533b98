/* Rows one by one: row r + 2 is swept while y of row r is made, block by block in the same loop;
 * then the sums of row r + 2 are taken over its lanes, and beside that the rest of row r + 1's chain
 * of latencies is walked, from these sums to what apply needs of it (pipelined.h says why). What
 * pipelined and transposed share; for statistics of one sweep. */
#ifndef LN_SCHEDULE_ONE_BY_ONE_H
#define LN_SCHEDULE_ONE_BY_ONE_H

#include "schedule/call.h"

#ifndef STATISTICS_ONE_SWEEP
#error "this schedule is for statistics of one sweep (statistics/one_sweep.h)"
#endif

/* y of the first min(left, BLOCK) elements from i on. */
LN_INLINE void call_block(ln_affine affine, const call *run, const row *view, centre by, size_t i,
                          size_t left)
{
#if LN_NONTEMPORAL
    if (run->streams) {
        stream_block(affine, view, &run->convention, by, i, left);
        return;
    }
#endif
    apply_block(affine, view, &run->convention, by, i, left);
}

/* The whole blocks of two rows. Returns how many columns they are. */
LN_INLINE size_t sweep_and_apply_blocks(ln_affine affine, const call *run, sweep_sums *sums,
                                        const row *later, acc pivots, const row *this, centre by)
{
    size_t i = 0;
    for (; later->hidden - i >= BLOCK; i += BLOCK) {
        sweep_chunk(sums, run->is_long, i);
        sweep_add(sums, later, pivots, i, BLOCK, 0);
        call_block(affine, run, this, by, i, BLOCK);
    }
    return i;
}

/* Sweeps `later` while y of `this` is made. */
LN_INLINE void sweep_and_apply(const call *run, sweep_sums *sums, const row *later, real pivot,
                               const row *this, centre by)
{
    const ln_affine affine = run->convention.affine;
    acc pivots = acc_set(pivot);
    size_t hidden = later->hidden, i;
    sweep_clear(sums);
    i = LN_BY_AFFINE(affine, sweep_and_apply_blocks, run, sums, later, pivots, this, by);
    sweep_chunk(sums, run->is_long, i);
    sweep_add(sums, later, pivots, i, hidden - i, 0);
    call_block(affine, run, this, by, i, hidden - i);
}

/* A row that has been swept. */
typedef struct swept {
    real pivot;
    real sum;
    real square;
} swept;

/* Of rows that are not there: 0. */
LN_INLINE real row_pivot(const call *run, size_t r)
{
    if (!LN_PIVOT || r >= run->problem->rows)
        return 0;
    const row view = call_row(run, r);
    row_fetch(&view);
    return sweep_pivot(&run->statistics, &view, run->is_long);
}

LN_INLINE swept swept_of(const call *run, const sweep_sums *sums, real pivot)
{
    acc x, square;
    real lanes[2];
    sweep_sums_of(sums, run->is_long, &x, &square);
    acc_sum_two(x, square, lanes);
    return (swept){pivot, lanes[0], lanes[1]};
}

LN_INLINE swept swept_alone(const call *run, size_t r)
{
    sweep_sums sums;
    const row view = call_row(run, r);
    real pivot = row_pivot(run, r);
    sweep_alone(&sums, &view, run->is_long, pivot, 0);
    return swept_of(run, &sums, pivot);
}

LN_INLINE centre swept_finish(const call *run, swept total, size_t r)
{
    moments found = statistics_found(&run->statistics, total.pivot, total.sum, total.square);
    return call_centre(run, r, sweep_final(&run->statistics, call_row(run, r), found));
}

LN_INLINE void run_one_by_one(const call *run)
{
    size_t rows = run->problem->rows, r = 0;
    if (rows == 0)
        return;
    swept first = swept_alone(run, 0), between = rows > 1 ? swept_alone(run, 1) : first;
    centre by = swept_finish(run, first, 0);
    real pivot = row_pivot(run, 2);
    for (; r + 2 < rows; r++) {
        sweep_sums sums;
        real next_pivot = row_pivot(run, r + 3);
        const row to_sweep = call_row(run, r + 2), to_apply = call_row(run, r);
        sweep_and_apply(run, &sums, &to_sweep, pivot, &to_apply, by);
        by = swept_finish(run, between, r + 1);
        between = swept_of(run, &sums, pivot);
        pivot = next_pivot;
    }
    for (; r < rows; r++) {
        const row to_apply = call_row(run, r);
        apply_row(&to_apply, &run->convention, by);
        if (r + 1 < rows)
            by = swept_finish(run, between, r + 1);
    }
}

#endif

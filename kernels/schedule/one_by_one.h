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
LN_INLINE void call_block(const call *call, const row *row, centre centre, size_t i, size_t left)
{
#ifdef LN_NONTEMPORAL
    if (call->streams) {
        stream_block(row, &call->convention, centre, i, left);
        return;
    }
#endif
    apply_block(row, &call->convention, centre, i, left);
}

/* Sweeps `later` while y of `this` is made. */
LN_INLINE void sweep_and_apply(const call *call, sweep_sums *sums, const row *later, real pivot,
                               const row *this, centre centre)
{
    acc pivots = acc_set(pivot);
    size_t i = 0, hidden = later->hidden;
    sweep_clear(sums);
    for (; hidden - i >= BLOCK; i += BLOCK) {
        sweep_chunk(sums, call->is_long, i);
        sweep_add(sums, later, pivots, i, BLOCK, 0);
        call_block(call, this, centre, i, BLOCK);
    }
    sweep_chunk(sums, call->is_long, i);
    sweep_add(sums, later, pivots, i, hidden - i, 0);
    call_block(call, this, centre, i, hidden - i);
}

/* A row that has been swept. */
typedef struct swept {
    real pivot;
    real sum;
    real square;
} swept;

/* Of rows that are not there: 0. */
LN_INLINE real row_pivot(const call *call, size_t r)
{
    if (!SWEEP_SHIFTED || r >= call->problem->rows)
        return 0;
    const row row = call_row(call, r);
    row_fetch(&row);
    return sweep_pivot(&call->statistics, &row, call->is_long);
}

LN_INLINE swept swept_of(const call *call, const sweep_sums *sums, real pivot)
{
    acc x, square;
    real lanes[2];
    sweep_sums_of(sums, call->is_long, &x, &square);
    acc_sum_two(x, square, lanes);
    return (swept){pivot, lanes[0], lanes[1]};
}

LN_INLINE swept swept_alone(const call *call, size_t r)
{
    sweep_sums sums;
    const row row = call_row(call, r);
    real pivot = row_pivot(call, r);
    sweep_alone(&sums, &row, call->is_long, pivot, 0);
    return swept_of(call, &sums, pivot);
}

LN_INLINE centre swept_finish(const call *call, swept swept, size_t r)
{
    moments found = statistics_found(&call->statistics, swept.pivot, swept.sum, swept.square);
    return call_centre(call, r, sweep_final(&call->statistics, call_row(call, r), found));
}

LN_INLINE void run_one_by_one(const call *call)
{
    size_t rows = call->problem->rows, r = 0;
    if (rows == 0)
        return;
    swept first = swept_alone(call, 0), between = rows > 1 ? swept_alone(call, 1) : first;
    centre centre = swept_finish(call, first, 0);
    real pivot = row_pivot(call, 2);
    for (; r + 2 < rows; r++) {
        sweep_sums sums;
        real next_pivot = row_pivot(call, r + 3);
        const row to_sweep = call_row(call, r + 2), to_apply = call_row(call, r);
        sweep_and_apply(call, &sums, &to_sweep, pivot, &to_apply, centre);
        centre = swept_finish(call, between, r + 1);
        between = swept_of(call, &sums, pivot);
        pivot = next_pivot;
    }
    for (; r < rows; r++) {
        const row to_apply = call_row(call, r);
        apply_row(&to_apply, &call->convention, centre);
        if (r + 1 < rows)
            centre = swept_finish(call, between, r + 1);
    }
}

#endif

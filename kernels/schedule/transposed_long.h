/* Rows that are too long for groups of LANES (transposed.h): one by one, as pipelined.h has it. Row
 * r + 2 is swept while y of row r is made; then comes the rest of row r + 1's chain. */
#ifndef LN_SCHEDULE_TRANSPOSED_LONG_H
#define LN_SCHEDULE_TRANSPOSED_LONG_H

/* One after the other: rows of several chunks (one_sweep.h), and those that may be strange. */
LN_INLINE void run_rows(const call *call)
{
    int is_long = sweep_is_long(call->problem->hidden);
    for (size_t r = 0; r < call->problem->rows; r++) {
        const row row = row_at(call->problem, call->tensors, r, call->form, 1);
        real pivot = sweep_pivot(call->statistics, &row, is_long);
        moments found = sweep_moments(call->statistics, &row, is_long, pivot);
        factor rstd = convention_rstd(call->convention, found);
        keep_moments(call->tensors, r, found, rstd);
        apply_row(&row, call->convention, centre_of(found, rstd, call->convention->quotient));
    }
}

#ifdef CENTRE_GUARDED
#define run_long run_rows
#else

/* y of the first min(left, BLOCK) elements from i on. */
LN_INLINE void long_block(const call *call, const row *row, centre centre, size_t i, size_t left)
{
#ifdef LN_NONTEMPORAL
    if (call->streams) {
        stream_block(row, call->convention, centre, i, left);
        return;
    }
#endif
    apply_block(row, call->convention, centre, i, left);
}

/* A row that has been swept. */
typedef struct swept {
    real pivot;
    real sum;
    real square;
} swept;

/* Of rows that are not there: of the first. */
LN_INLINE row long_row(const call *call, size_t r)
{
    return row_at(call->problem, call->tensors, r < call->problem->rows ? r : 0, call->form, 1);
}

LN_INLINE real long_pivot(const call *call, size_t r)
{
    const row row = long_row(call, r);
    row_fetch(&row);
    return sweep_pivot(call->statistics, &row, 0);
}

/* Sweeps `later` while y of `this` is made, if there is such a row. */
LN_INLINE swept long_sweep(const call *call, const row *later, real pivot, const row *this,
                           centre centre)
{
    sweep_sums sums;
    acc pivots = acc_set(pivot);
    size_t i = 0, hidden = later->hidden;
    sweep_clear(&sums);
    for (; hidden - i >= BLOCK; i += BLOCK) {
        sweep_add(&sums, later, pivots, i, BLOCK, 0);
        if (this)
            long_block(call, this, centre, i, BLOCK);
    }
    sweep_add(&sums, later, pivots, i, hidden - i, 0);
    if (this)
        long_block(call, this, centre, i, hidden - i);
    real lanes[2];
    acc_sum_two(parts_sum(sums.x), parts_sum(sums.square), lanes);
    return (swept){pivot, lanes[0], lanes[1]};
}

LN_INLINE swept long_sweep_alone(const call *call, size_t r)
{
    const row row = long_row(call, r);
    const centre none = {0};
    return long_sweep(call, &row, long_pivot(call, r), NULL, none);
}

LN_INLINE centre long_finish(const call *call, swept swept, size_t r)
{
    moments found = statistics_found(call->statistics, swept.pivot, swept.sum, swept.square);
    if (__builtin_expect(statistics_is_off(call->statistics, found), 0))
        found = sweep_again(*call->statistics, long_row(call, r), found);
    factor rstd = convention_rstd(call->convention, found);
    keep_moments(call->tensors, r, found, rstd);
    return centre_of(found, rstd, call->convention->quotient);
}

LN_INLINE void run_long(const call *call)
{
    size_t rows = call->problem->rows, r = 0;
    if (rows == 0)
        return;
    swept first = long_sweep_alone(call, 0);
    swept between = rows > 1 ? long_sweep_alone(call, 1) : first;
    centre centre = long_finish(call, first, 0);
    real pivot = long_pivot(call, 2);
    for (; r + 2 < rows; r++) {
        const row later = long_row(call, r + 2), this = long_row(call, r);
        real next_pivot = long_pivot(call, r + 3);
        swept swept = long_sweep(call, &later, pivot, &this, centre);
        centre = long_finish(call, between, r + 1);
        between = swept;
        pivot = next_pivot;
    }
    for (; r < rows; r++) {
        const row this = long_row(call, r);
        apply_row(&this, call->convention, centre);
        if (r + 1 < rows)
            centre = long_finish(call, between, r + 1);
    }
}

#endif
#endif

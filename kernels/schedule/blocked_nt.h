/* blocked_nt: for long rows in memory: while y of four rows is written, the statistics of the next four are computed,
 * in turn by blocks of UNROLL vectors.
 *
 * A vector of y takes as long as the transfer of a line of x and a line of y, about 11 cycles on Zen 5.
 * The rest (3.5 lines from L2 and 4 cycles of arithmetic) is hidden by that, if memory never has to
 * wait. It does wait if a row is first read and then written: that reaches only 0.70 to 0.77 of the speed of a
 * non-temporal copy at hidden 4096 to 12288, for any number of rows at a time. So
 *   - reads and writes alternate by blocks of 256 bytes, as in the copy. Blocks of 1 KiB are 4 % slower,
 *     2 KiB 8 %, and whole rows 20 %;
 *   - x is fetched into L1 2048 elements before the statistics need it, one line at a time. 1024 and
 *     4096 elements cost 5 %, 512 costs 25 %; fetching only into L2 (PREFETCHT1) costs 15 %, but
 *     gains a half on Zen 4 (fetches_to_l2()); the non-temporal hint halves the speed, since its lines are
 *     evicted before y is computed;
 *   - four rows share gamma and beta in blocks of 1024 columns, 8 KiB, which then come from L1. Two
 *     rows, or blocks of 2048, lose 10 %, since misses of L1 occupy the buffers that stores around
 *     the caches need; one row at a time loses 40 %.
 * The statistics must need one sweep, in steps (one_sweep.h). */
#ifndef LN_SCHEDULE_H
#define LN_SCHEDULE_H

#ifndef LN_NONTEMPORAL
#define LN_NONTEMPORAL 1
#endif

#include "schedule/call.h"

#ifndef STATISTICS_ONE_SWEEP
#error "the schedule blocked_nt needs statistics that come in steps: see statistics/one_sweep.h"
#endif

enum { GROUP_ROWS = 4, GROUP_COLUMNS = 1024 };

/* Rows whose statistics are known or are being computed. */
typedef struct group {
    size_t first;
    size_t count;
    moments found[GROUP_ROWS];
    factor rstds[GROUP_ROWS];
    size_t known;  /* the number of rows whose statistics are complete */
    size_t column; /* the next column of the row after them */
    real pivot;
    sweep_sums sums;
} group;

LN_INLINE void group_begin(const call *run, group *set, size_t first)
{
    size_t left = run->problem->rows - first;
    set->first = first;
    set->count = left < GROUP_ROWS ? left : GROUP_ROWS;
    set->known = set->column = 0;
}

LN_INLINE void group_keep(const call *run, group *set, const row *view)
{
    size_t g = set->known++;
    acc x, square;
    sweep_sums_of(&set->sums, sweep_is_long(view->hidden), &x, &square);
    moments found = statistics_found(&run->statistics, set->pivot, acc_sum(x), acc_sum(square));
    found = sweep_final(&run->statistics, *view, found);
    set->found[g] = found;
    set->rstds[g] = convention_rstd(&run->convention, found);
    keep_moments(run->tensors, set->first + g, found, set->rstds[g]);
    set->column = 0;
}

/* Adds the next block of the group's rows to their statistics, if one is left. */
LN_INLINE void group_step(const call *run, group *set)
{
    if (set->known == set->count)
        return;
    const row view = call_row(run, set->first + set->known);
    const int is_long = sweep_is_long(view.hidden);
    size_t i = set->column, left = view.hidden - i;
    if (i == 0) {
        const struct row next = call_row(run, set->first + set->known + 1);
        set->pivot = sweep_pivot(&run->statistics, &view, is_long);
        statistics_pivot_fetch(&next, is_long);
        sweep_clear(&set->sums);
    }
    sweep_chunk(&set->sums, is_long, i);
    const acc pivots = acc_set(set->pivot);
    fetch_block(&view, i + FETCH_AHEAD);
    if (left > BLOCK) {
        sweep_add(&set->sums, &view, pivots, i, BLOCK, 0);
        set->column += BLOCK;
        return;
    }
    sweep_add(&set->sums, &view, pivots, i, left, 0);
    group_keep(run, set, &view);
}

/* Returns the column near i where a block begins in this row: all blocks but the first begin with a cache line of y. */
LN_INLINE size_t block_begin(const row *view, size_t i)
{
    size_t begin = i == 0 ? 0 : i + columns_to_line(view, i);
    return begin < view->hidden ? begin : view->hidden;
}

/* Computes y of a block of columns of row number g, alternating with steps of the next group. */
LN_INLINE void group_apply(ln_affine affine, const call *run, const group *this, group *next,
                           size_t g, size_t i)
{
    const row view = call_row(run, this->first + g);
    const centre by = centre_of(this->found[g], this->rstds[g], run->convention.quotient);
    size_t begin = block_begin(&view, i), end = block_begin(&view, i + GROUP_COLUMNS);
    begin = apply_to_line(affine, &view, &run->convention, by, begin, end);
    for (; begin < end; begin += BLOCK) {
        group_step(run, next);
        if (end - begin >= BLOCK)
            stream_block(affine, &view, &run->convention, by, begin, BLOCK);
        else
            stream_block(affine, &view, &run->convention, by, begin, end - begin);
    }
}

LN_INLINE void schedule_run(const ln_problem *problem, const ln_tensors *tensors, ln_affine affine,
                            residual_form form)
{
    const call run = call_of(problem, tensors, affine, form);
    group groups[2];
    group_begin(&run, &groups[0], 0);
    for (size_t now = 0; groups[now].count > 0; now ^= 1) {
        group *this = &groups[now], *next = &groups[now ^ 1];
        while (this->known < this->count)
            group_step(&run, this);
        group_begin(&run, next, this->first + this->count);
        for (size_t i = 0; i < problem->hidden; i += GROUP_COLUMNS)
            for (size_t g = 0; g < this->count; g++)
                LN_BY_AFFINE(&run.convention, group_apply, &run, this, next, g, i);
    }
}

#endif

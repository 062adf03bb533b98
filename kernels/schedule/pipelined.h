/* pipelined: while y of one row is computed, a later row is swept, block by block in the same loop;
 * the statistics of a row are finished in between, long before they are needed. For statistics of one
 * sweep (one_sweep.h), and for rows that stay in a cache.
 *
 * Rows that are long or few are processed one by one, others in groups of 4 to 16. A row's chain of
 * latencies (sums over lanes, quotient, root, reciprocal: about 130 cycles) is divided into two parts, each of which
 * begins with numbers that have been known for some time, so that it does not fill the reorder buffer.
 * Measured: docs/lab/experiments.md, "pipelined".
 *
 * A row's bits depend only on that row: groups that are not full use the same code, and the results of their missing
 * rows are never used. */
#ifndef LN_SCHEDULE_H
#define LN_SCHEDULE_H

#include "schedule/call.h"

#ifndef STATISTICS_ONE_SWEEP
#error "this schedule is for statistics of one sweep (statistics/one_sweep.h)"
#endif

enum {
    GROUP_ROWS = 16,
    QUAD = 4, /* the rows of one acc_sum_rows() */
    GROUP_BYTES = 4096,
    LONG_ROW = 200,
    FEW_ROWS = 8, /* fewer rows form no group, since missing rows take time too */
};

/* ---- Short rows, in groups ---- */

typedef struct group {
    acc x[GROUP_ROWS]; /* before the sweep, the sums for the pivots */
    acc squares[GROUP_ROWS];
    real pivot[GROUP_ROWS];
    real sum[GROUP_ROWS];
    real square[GROUP_ROWS];
    real mean[GROUP_ROWS];
    real rest[GROUP_ROWS];
    factor rstd[GROUP_ROWS];
    size_t first;
    size_t count;
} group;

/* Sets all places to numbers, since those of missing rows are used in the computation too. */
LN_INLINE void group_clear(group *set)
{
    set->first = set->count = 0;
    for (size_t g = 0; g < GROUP_ROWS; g++) {
        set->x[g] = set->squares[g] = acc_set(0);
        set->pivot[g] = set->sum[g] = set->square[g] = 0;
    }
}

/* Begins a group with the rows from `first` on, and computes their pivots. */
LN_INLINE void group_take(const call *run, group *set, size_t first, size_t size)
{
    size_t rows = run->problem->rows, left = first < rows ? rows - first : 0;
    set->first = first;
    set->count = left < size ? left : size;
    if (!LN_PIVOT || set->count == 0)
        return;
    for (size_t g = 0; g < set->count; g++) {
        const row view = call_row(run, first + g);
        set->x[g] = statistics_pivot_sum(&view, 0);
    }
    for (size_t g = 0; g < set->count; g += QUAD)
        acc_sum_rows(set->x + g, set->pivot + g);
    for (size_t g = 0; g < GROUP_ROWS; g++)
        set->pivot[g] = statistics_pivot_of(&run->statistics, set->pivot[g]);
}

LN_INLINE void group_sum_up(group *set)
{
    for (size_t g = 0; g < set->count; g += QUAD) {
        acc_sum_rows(set->x + g, set->sum + g);
        acc_sum_rows(set->squares + g, set->square + g);
    }
}

LN_INLINE void group_keep(const call *run, group *set, size_t g, moments found)
{
    set->mean[g] = found.mean;
    set->rest[g] = found.rest;
    set->rstd[g] = convention_rstd(&run->convention, found);
}

/* Sweeps the rows again whose pivots were far from their means. */
LN_INLINE void group_again(const call *run, group *set)
{
    for (size_t g = 0; g < set->count; g++) {
        moments found =
            statistics_found(&run->statistics, set->pivot[g], set->sum[g], set->square[g]);
        if (statistics_is_off(&run->statistics, found))
            group_keep(run, set, g,
                       sweep_again(run->statistics, call_row(run, set->first + g), found));
    }
}

/* Computes rstd and the means from the sums. */
LN_INLINE void group_finish(const call *run, group *set)
{
    unsigned off = 0;
    for (size_t g = 0; g < GROUP_ROWS; g++) {
        moments found =
            statistics_found(&run->statistics, set->pivot[g], set->sum[g], set->square[g]);
        off |= (unsigned)statistics_is_off(&run->statistics, found);
        group_keep(run, set, g, found);
    }
    if (__builtin_expect(off != 0, 0))
        group_again(run, set);
    if (!run->tensors->mean && !run->tensors->rstd)
        return;
    for (size_t g = 0; g < set->count; g++) {
        moments found = {set->mean[g], set->rest[g], 0, 1};
        keep_moments(run->tensors, set->first + g, found, set->rstd[g]);
    }
}

LN_INLINE centre group_centre(const call *run, const group *set, size_t g)
{
    moments found = {set->mean[g], set->rest[g], 0, 1};
    return centre_of(found, set->rstd[g], run->convention.quotient);
}

/* The rows that are swept and applied next. */
typedef struct cursors {
    row to_sweep;
    row to_apply;
} cursors;

/* Sweeps row g of one group and applies row g of another; either may be missing. */
LN_INLINE void group_step(const call *run, cursors *next, group *later, const group *this, size_t g)
{
    if (g < later->count) {
        sweep_sums sums;
        real pivot = LN_PIVOT ? later->pivot[g] : 0;
        if (g < this->count) {
            sweep_and_apply(run, &sums, &next->to_sweep, pivot, &next->to_apply,
                            group_centre(run, this, g));
            row_advance(&next->to_apply, &run->strides);
        } else {
            sweep_alone(&sums, &next->to_sweep, 0, pivot, 0);
        }
        row_advance(&next->to_sweep, &run->strides);
        sweep_sums_of(&sums, 0, &later->x[g], &later->squares[g]);
    } else if (g < this->count) {
        apply_row(&next->to_apply, &run->convention, group_centre(run, this, g));
        row_advance(&next->to_apply, &run->strides);
    }
}

LN_INLINE void run_short(const call *run)
{
    size_t fit = GROUP_BYTES / sizeof(storage) / run->problem->hidden;
    size_t size = fit >= GROUP_ROWS ? GROUP_ROWS : (fit >= 8 ? 8 : QUAD);
    cursors next = {call_row(run, 0), call_row(run, 0)};
    group groups[3];
    for (int i = 0; i < 3; i++)
        group_clear(&groups[i]);
    group *this = &groups[0], *between = &groups[1], *later = &groups[2];
    group_take(run, later, 0, size);
    do {
        group_sum_up(between);
        for (size_t g = 0; g < size; g++) {
            if (g == size / 2 && between->count)
                group_finish(run, between);
            group_step(run, &next, later, this, g);
        }
        group *free = this;
        this = between, between = later, later = free;
        group_take(run, later, between->first + between->count, size);
    } while (this->count || between->count);
}

LN_INLINE void schedule_run(const ln_problem *problem, const ln_tensors *tensors, ln_affine affine,
                            residual_form form)
{
    const call run = call_of(problem, tensors, affine, form);
    if (problem->hidden >= LONG_ROW || problem->rows <= FEW_ROWS)
        run_one_by_one(&run);
    else
        run_short(&run);
}

/* Long rows, whose sums have several chunks, have their own function. */
#define SCHEDULE_LONG

LN_INLINE int schedule_is_long(const ln_problem *problem)
{
    return sweep_is_long(problem->hidden);
}

LN_INLINE void schedule_run_long(const ln_problem *problem, const ln_tensors *tensors,
                                 ln_affine affine, residual_form form)
{
    call run = call_of(problem, tensors, affine, form);
    run.is_long = 1;
    run_one_by_one(&run);
}

#endif

/* pipelined: while y of one row is made, a later row is swept, block by block in the same loop;
 * what is found of a row is computed in between, long before it is needed. For statistics of one
 * sweep (one_sweep.h), and for rows that stay in cache.
 *
 * What a vector of 16 floats costs here (AVX-512, shifted and offset): 4 loads (x twice, gamma,
 * beta), 1 store, 3 additions, 3 multiply-adds. A core with two 512-bit loads, one store, two
 * adders and two multipliers a cycle could do that in 2 cycles, bound by the loads; Zen 5 does it
 * in 1.9 from L1 and, since lines on their way from and to L2 use the same ports, in 2.7 from L2,
 * where a copy takes 2.2. So this loop alone can reach .8 of the copy. What was tried and is slower
 * from L2, in cycles a vector at hidden 768 (a copy: 2.2):
 *     2.7  one row swept, one applied, as here (sweep one row, then apply one: 2.8)
 *     2.9  two rows applied side by side, sharing loads of gamma and beta, one read stream
 *     3.9  and two read streams; 4.5 with four rows: more streams than L1 likes
 *     2.8  rows swept 3 ahead; 3.3 with 8 ahead: 24 KiB of rows wait in a L1 of 48
 *     2.7  with prefetches of x or y: the hardware's do
 *     2.8  squares by a product and a sum, which a store should hold up less than fused operations
 *     2.8  eight accumulators of each sum; two: 2.7
 *     3.0  at hidden 256 in groups of four instead of one by one (2.7)
 * Beside the loop stands a row's chain of latencies: sums over lanes, quotient, root, reciprocal,
 * about 130 cycles, as long as the loop itself at hidden 768. A chain fills the reorder buffer, of
 * 448 operations, with what waits for it, however early it begins, until its last step retires: so
 * it is cut in two, which go side by side, and each begins with what was known a while before:
 *     long rows    sweep of row r + 2 with y of row r; after that, the end of row r + 1's chain
 *                  (before it, 1 % slower; of row r: 2 % at hidden 256), and the sums over lanes
 *                  of row r + 2, the beginning of its chain
 *     few rows     as long rows: a group of 16 costs what it costs however empty it is. 5.5 times
 *                  as fast at 1 row of 64, 1.5 times at 8 (AVX2: 3.6 and 1.2)
 *     short rows   groups of 4 to 16 rows: sweep of group g + 2 with y of group g, the chains of
 *                  group g + 1 in the middle. The lanes of four rows are summed up together, and
 *                  quotient, root and reciprocal are loops over rows, of which the compiler makes
 *                  vectors; both round as they do for one row.
 * What is left of it where rows are long, as share of the copy from L2, by cycles that the core
 * counted:
 *     hidden                                                         256    768    1024
 *     as here                                                        .50    .64    .65
 *     not cut: all of a chain a turn after its row was swept         .455   .585   .615
 *     m2 found with the sums over lanes (from L3 2 % slower)         .495   .635   .655
 *     in three, the third before the reciprocal, three rows ahead    .515   .635   .62
 *     the same, four rows ahead: too much for L1                     .515   .60    .55
 *     in pieces between parts of the row, a loop each                .39    .53    .55
 *     the same in one loop, a piece after every second block         .335   .50    .51
 *     no chain at all (wrong results)                                .565   .69    .705
 * Parts of a row in loops of their own lose since each load's stream then leaps (blocked.h). What
 * the loop takes are 2 cycles a vector for its 4 loads, as from L1, and one more for two lines that
 * come from L2 and one that goes. At hidden 256 the ends of rows, 50 of 220 operations, take as
 * much again as what is left of the chain. Where y lies beside x modulo 4096 makes no difference.
 *
 * A row's bits depend on that row alone: groups that are not full go the same way, and what stands
 * in their empty places is never used. */
#ifndef LN_SCHEDULE_H
#define LN_SCHEDULE_H

#include "schedule/one_by_one.h"

enum {
    GROUP_ROWS = 16,
    QUAD = 4, /* rows that acc_sum_rows takes */
    GROUP_BYTES = 4096,
    LONG_ROW = 200,
    FEW_ROWS = 8, /* a group pays for its empty places too */
};

/* ---- Short rows, in groups ---- */

typedef struct group {
    acc x[GROUP_ROWS]; /* before the sweep, what the pivots are made of */
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

/* All places hold numbers, since those of rows that are not there are computed with too. */
LN_INLINE void group_clear(group *group)
{
    group->first = group->count = 0;
    for (size_t g = 0; g < GROUP_ROWS; g++) {
        group->x[g] = group->squares[g] = acc_set(0);
        group->pivot[g] = group->sum[g] = group->square[g] = 0;
    }
}

/* The next rows, from first on, and their pivots. */
LN_INLINE void group_take(const call *call, group *group, size_t first, size_t size)
{
    size_t rows = call->problem->rows, left = first < rows ? rows - first : 0;
    group->first = first;
    group->count = left < size ? left : size;
    if (!SWEEP_SHIFTED || group->count == 0)
        return;
    for (size_t g = 0; g < group->count; g++) {
        const row row = call_row(call, first + g);
        group->x[g] = statistics_pivot_sum(&row, 0);
    }
    for (size_t g = 0; g < group->count; g += QUAD)
        acc_sum_rows(group->x + g, group->pivot + g);
    for (size_t g = 0; g < GROUP_ROWS; g++)
        group->pivot[g] = statistics_pivot_of(&call->statistics, group->pivot[g]);
}

LN_INLINE void group_sum_up(group *group)
{
    for (size_t g = 0; g < group->count; g += QUAD) {
        acc_sum_rows(group->x + g, group->sum + g);
        acc_sum_rows(group->squares + g, group->square + g);
    }
}

LN_INLINE void group_keep(const call *call, group *group, size_t g, moments found)
{
    group->mean[g] = found.mean;
    group->rest[g] = found.rest;
    group->rstd[g] = convention_rstd(&call->convention, found);
}

/* Rows whose pivots were far off. */
LN_INLINE void group_again(const call *call, group *group)
{
    for (size_t g = 0; g < group->count; g++) {
        moments found =
            statistics_found(&call->statistics, group->pivot[g], group->sum[g], group->square[g]);
        if (statistics_is_off(&call->statistics, found))
            group_keep(call, group, g,
                       sweep_again(call->statistics, call_row(call, group->first + g), found));
    }
}

/* From sums to rstd. */
LN_INLINE void group_finish(const call *call, group *group)
{
    unsigned off = 0;
    for (size_t g = 0; g < GROUP_ROWS; g++) {
        moments found =
            statistics_found(&call->statistics, group->pivot[g], group->sum[g], group->square[g]);
        off |= (unsigned)statistics_is_off(&call->statistics, found);
        group_keep(call, group, g, found);
    }
    if (__builtin_expect(off != 0, 0))
        group_again(call, group);
    if (!call->tensors->mean && !call->tensors->rstd)
        return;
    for (size_t g = 0; g < group->count; g++) {
        moments found = {group->mean[g], group->rest[g], 0, 1};
        keep_moments(call->tensors, group->first + g, found, group->rstd[g]);
    }
}

LN_INLINE centre group_centre(const call *call, const group *group, size_t g)
{
    moments found = {group->mean[g], group->rest[g], 0, 1};
    return centre_of(found, group->rstd[g], call->convention.quotient);
}

/* The rows that are swept and applied next. */
typedef struct cursors {
    row to_sweep;
    row to_apply;
} cursors;

/* Row g of the group that is swept, and of the one that is applied: either may lack it. */
LN_INLINE void group_step(const call *call, cursors *cursors, group *later, const group *this,
                          size_t g)
{
    if (g < later->count) {
        sweep_sums sums;
        real pivot = SWEEP_SHIFTED ? later->pivot[g] : 0;
        if (g < this->count) {
            sweep_and_apply(call, &sums, &cursors->to_sweep, pivot, &cursors->to_apply,
                            group_centre(call, this, g));
            row_advance(&cursors->to_apply, &call->strides);
        } else {
            sweep_alone(&sums, &cursors->to_sweep, 0, pivot, 0);
        }
        row_advance(&cursors->to_sweep, &call->strides);
        sweep_sums_of(&sums, 0, &later->x[g], &later->squares[g]);
    } else if (g < this->count) {
        apply_row(&cursors->to_apply, &call->convention, group_centre(call, this, g));
        row_advance(&cursors->to_apply, &call->strides);
    }
}

LN_INLINE void run_short(const call *call)
{
    size_t fit = GROUP_BYTES / sizeof(storage) / call->problem->hidden;
    size_t size = fit >= GROUP_ROWS ? GROUP_ROWS : (fit >= 8 ? 8 : QUAD);
    cursors cursors = {call_row(call, 0), call_row(call, 0)};
    group groups[3];
    for (int i = 0; i < 3; i++)
        group_clear(&groups[i]);
    group *this = &groups[0], *between = &groups[1], *later = &groups[2];
    group_take(call, later, 0, size);
    do {
        group_sum_up(between);
        for (size_t g = 0; g < size; g++) {
            if (g == size / 2 && between->count)
                group_finish(call, between);
            group_step(call, &cursors, later, this, g);
        }
        group *free = this;
        this = between, between = later, later = free;
        group_take(call, later, between->first + between->count, size);
    } while (this->count || between->count);
}

LN_INLINE void schedule_run(const ln_problem *problem, const ln_tensors *tensors, ln_affine affine,
                            residual_form form)
{
    const call call = call_of(problem, tensors, affine, form, SUM_EARLY);
    if (problem->hidden >= LONG_ROW || problem->rows <= FEW_ROWS)
        run_one_by_one(&call);
    else
        run_short(&call);
}

/* Rows whose sums go by chunks. */
#define SCHEDULE_LONG

LN_INLINE int schedule_is_long(const ln_problem *problem)
{
    return sweep_is_long(problem->hidden);
}

LN_INLINE void schedule_run_long(const ln_problem *problem, const ln_tensors *tensors,
                                 ln_affine affine, residual_form form)
{
    call call = call_of(problem, tensors, affine, form, SUM_EARLY);
    call.is_long = 1;
    run_one_by_one(&call);
}

#endif

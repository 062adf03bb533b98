/* staged: while y of one row is made, a later row is swept, block by block in the same loop:
 * pipelined.h says why. For statistics that are not one sum of t and one of t^2 about one pivot
 * (lanewise.h), and an apply that may set rows apart.
 *
 * The chain from a row's sums to what apply needs is long here, since it is in double: sums over
 * lanes, quotient, root, reciprocal, some 130 cycles. It is walked between the row's sweep and the
 * turn in which its y is made, and in pieces: what waits for a piece must not fill the reorder
 * buffer (448 operations, less than two rows of 256).
 *
 * Measured: docs/lab/experiments.md, "staged". */
#ifndef LN_SCHEDULE_H
#define LN_SCHEDULE_H

#ifndef LN_ACCUMULATOR
#define LN_ACCUMULATOR f64
#define LN_ACCUMULATOR_FILE "lane/accumulator_f64_avx2.h"
#endif
#ifndef LN_STATISTICS_FILE
#define LN_STATISTICS_FILE "statistics/lanewise.h"
#endif
#ifndef LN_APPLY_FILE
#define LN_APPLY_FILE "apply/checked.h"
#endif

#include "schedule/call.h"

#ifndef CENTRE_CHECKED
#error "the schedule staged is for the apply checked"
#endif

enum { GROUP_ROWS = 8, GROUP_BYTES = 4096, LONG_ROW = 320 };

/* Of rows that are not there: of the first. */
LN_INLINE sweep_origin row_origin(const call *run, size_t r)
{
    const row view = call_row(run, r < run->problem->rows ? r : 0);
    return sweep_origin_of(&run->statistics, &view);
}

/* ---- One row swept while y of another is made ---- */

typedef struct turn {
    row later;
    sweep_origin origin;
    row this;
    centre centre;
} turn;

/* All of it. */
LN_INLINE void turn_sweep_and_apply(ln_affine affine, const call *run, const turn *now,
                                    sweep_sums *sums)
{
    size_t hidden = now->later.hidden, i = 0;
    while (hidden - i >= BLOCK) {
        if (i > 0)
            sweep_flush(sums);
        for (size_t end = sweep_chunk_end(i, hidden); i < end; i += BLOCK) {
            sweep_add(sums, &now->later, now->origin, i, BLOCK);
            apply_block(affine, &now->this, &run->convention, now->centre, i, BLOCK);
        }
    }
    sweep_add(sums, &now->later, now->origin, i, hidden - i);
    apply_block(affine, &now->this, &run->convention, now->centre, i, hidden - i);
}

/* A row of its own, where there is no other to make y of, or y is not for items: at a call's ends,
 * or rare, and much code in each of the places that might do it. */
LN_APART swept swept_alone(statistics stats, row view)
{
    sweep_sums sums;
    sweep_origin origin = sweep_origin_of(&stats, &view);
    sweep_row(&sums, &view, origin);
    return sweep_end(&stats, &sums, origin);
}

LN_INLINE swept turn_swept(const call *run, const turn *now)
{
    sweep_sums sums;
    sweep_clear(&sums);
    LN_BY_AFFINE(&run->convention, turn_sweep_and_apply, run, now, &sums);
    return sweep_end(&run->statistics, &sums, now->origin);
}

LN_INLINE swept turn_apart(const call *run, const turn *now)
{
    swept total = swept_alone(run->statistics, now->later);
    apply_in_double(now->this, run->convention, now->centre);
    return total;
}

/* ---- Long rows, one by one ---- */

/* The first piece of its chain: to its moments, by way of a second attempt if need be. */
LN_INLINE moments moments_of(const call *run, swept total, size_t r)
{
    const row view = call_row(run, r);
    return swept_moments(&run->statistics, &view, total);
}

/* Sweeps row r + 2 while y of row r is made; then come the second piece of row r + 1's chain, root
 * and reciprocal, and beside it the first of row r + 2's. */
LN_INLINE void run_long(const call *run)
{
    size_t rows = run->problem->rows, r = 0;
    moments between = moments_of(run, swept_alone(run->statistics, call_row(run, 0)), 0);
    centre by = call_centre(run, 0, between);
    if (rows > 1)
        between = moments_of(run, swept_alone(run->statistics, call_row(run, 1)), 1);
    sweep_origin origin = row_origin(run, 2);
    for (; r + 2 < rows; r++) {
        const turn now = {call_row(run, r + 2), origin, call_row(run, r), by};
        sweep_origin next_origin = row_origin(run, r + 3);
        swept later =
            __builtin_expect(by.strange, 0) ? turn_apart(run, &now) : turn_swept(run, &now);
        by = call_centre(run, r + 1, between);
        between = moments_of(run, later, r + 2);
        origin = next_origin;
    }
    for (; r < rows; r++) {
        const row to_apply = call_row(run, r);
        apply_row(&to_apply, &run->convention, by);
        if (r + 1 < rows)
            by = call_centre(run, r + 1, between);
    }
}

/* ---- Short rows, in groups ---- */

typedef struct group {
    size_t first;
    size_t count;
    swept_sum x[GROUP_ROWS];
    swept_sum squares[GROUP_ROWS];
    swept_sum raws[GROUP_ROWS];
    real pivot[GROUP_ROWS];
    real sum[GROUP_ROWS];
    real square[GROUP_ROWS];
    real raw[GROUP_ROWS];
    real mean[GROUP_ROWS];
    real rest[GROUP_ROWS];
    real m2[GROUP_ROWS];
    factor std[GROUP_ROWS];
    factor rstd[GROUP_ROWS];
    item parts[CENTRE_PARTS][GROUP_ROWS];
    int strange[GROUP_ROWS];
    unsigned off; /* some row's pivots were */
} group;

/* All places hold numbers, since those of rows that are not there are computed with too. */
LN_INLINE void group_clear(group *set)
{
    set->first = set->count = 0;
    for (size_t g = 0; g < GROUP_ROWS; g++) {
        set->x[g] = set->squares[g] = set->raws[g] = swept_sum_none();
        set->pivot[g] = set->raw[g] = 0;
    }
}

/* The next rows, from first on. */
LN_INLINE void group_begin(const call *run, group *set, size_t first, size_t size)
{
    size_t rows = run->problem->rows, left = first < rows ? rows - first : 0;
    set->first = first;
    set->count = left < size ? left : size;
}

LN_INLINE void group_sum_up(group *set)
{
    for (size_t q = 0; q < set->count; q += QUAD) {
        swept_sum_four(set->x + q, set->sum + q);
        swept_sum_four(set->squares + q, set->square + q);
        swept_sum_four(set->raws + q, set->raw + q);
    }
}

LN_INLINE moments group_moments(const group *set, size_t g)
{
    return (moments){set->mean[g], set->rest[g], set->m2[g], 1};
}

LN_INLINE void group_find(const call *run, group *set)
{
    set->off = 0;
    for (size_t q = 0; q < set->count; q += QUAD) {
        statistics_found_four(&run->statistics, set->pivot + q, set->sum + q, set->square + q,
                              set->mean + q, set->rest + q, set->m2 + q);
        LN_VECTORIZED
        for (size_t g = q; g < q + QUAD; g++)
            set->off |=
                (unsigned)swept_is_off(&run->statistics, group_moments(set, g), set->raw[g]);
    }
}

/* Rows whose pivots were far off. Rare, and given a copy of the call: what it is given it might
 * change, for all the compiler knows. */
LN_RARE void group_find_again(call run, group *set)
{
    for (size_t g = 0; g < set->count; g++) {
        moments found = group_moments(set, g);
        if (!swept_is_off(&run.statistics, found, set->raw[g]))
            continue;
        found = sweep_again(run.statistics, call_row(&run, set->first + g));
        set->mean[g] = found.mean;
        set->rest[g] = found.rest;
        set->m2[g] = found.m2;
    }
}

LN_INLINE void group_take_root(const call *run, group *set)
{
    if (__builtin_expect(set->off != 0, 0))
        group_find_again(*run, set);
    for (size_t q = 0; q < set->count; q += QUAD) {
        LN_VECTORIZED
        for (size_t g = q; g < q + QUAD; g++)
            set->std[g] = convention_std(&run->convention, group_moments(set, g));
    }
}

LN_INLINE void group_finish(const call *run, group *set)
{
    for (size_t q = 0; q < set->count; q += QUAD) {
        LN_VECTORIZED
        for (size_t g = q; g < q + QUAD; g++)
            set->rstd[g] = 1 / set->std[g];
        LN_VECTORIZED
        for (size_t g = q; g < q + QUAD; g++) {
            item parts[CENTRE_PARTS];
            moments found = group_moments(set, g);
            set->strange[g] = centre_is_strange(found, set->rstd[g], run->convention.quotient);
            centre_parts(found, set->rstd[g], run->convention.quotient, parts);
            LN_UNROLLED
            for (size_t p = 0; p < CENTRE_PARTS; p++)
                set->parts[p][g] = parts[p];
        }
    }
    if (!run->tensors->mean && !run->tensors->rstd)
        return;
    for (size_t g = 0; g < set->count; g++)
        keep_moments(run->tensors, set->first + g, group_moments(set, g), set->rstd[g]);
}

/* One of the pieces of the chain. */
LN_INLINE void group_piece(const call *run, group *set, size_t piece)
{
    if (piece == 0)
        group_sum_up(set);
    else if (piece == 1)
        group_find(run, set);
    else if (piece == 2)
        group_take_root(run, set);
    else if (piece == 3)
        group_finish(run, set);
}

LN_INLINE centre group_centre(const group *set, size_t g)
{
    item parts[CENTRE_PARTS];
    LN_UNROLLED
    for (size_t p = 0; p < CENTRE_PARTS; p++)
        parts[p] = set->parts[p][g];
    return centre_of_checked(parts, set->strange[g], group_moments(set, g), set->rstd[g]);
}

/* Row g of the group that is swept, and of the one that is applied: either may lack it. */
LN_INLINE void group_step(const call *run, group *later, const group *this, size_t g,
                          sweep_origin *origin)
{
    const turn now = {call_row(run, later->first + g), *origin, call_row(run, this->first + g),
                      group_centre(this, g)};
    if (g < later->count) {
        swept total;
        *origin = row_origin(run, later->first + g + 1);
        if (g >= this->count)
            total = swept_alone(run->statistics, now.later);
        else if (__builtin_expect(now.centre.strange, 0))
            total = turn_apart(run, &now);
        else
            total = turn_swept(run, &now);
        later->pivot[g] = total.pivot;
        later->x[g] = total.x;
        later->squares[g] = total.square;
        later->raws[g] = total.raw;
    } else if (g < this->count) {
        apply_row(&now.this, &run->convention, now.centre);
    }
}

LN_INLINE void run_short(const call *run)
{
    size_t hidden = run->problem->hidden;
    size_t size = hidden * sizeof(storage) * GROUP_ROWS <= GROUP_BYTES ? GROUP_ROWS : QUAD;
    group groups[3];
    for (int i = 0; i < 3; i++)
        group_clear(&groups[i]);
    group *this = &groups[0], *between = &groups[1], *later = &groups[2];
    sweep_origin origin = row_origin(run, 0);
    group_begin(run, later, 0, size);
    do {
        for (size_t g = 0; g < size; g++) {
            group_piece(run, between, g);
            group_step(run, later, this, g, &origin);
        }
        group *free = this;
        this = between, between = later, later = free;
        group_begin(run, later, between->first + between->count, size);
    } while (this->count || between->count);
}

LN_INLINE void schedule_run(const ln_problem *problem, const ln_tensors *tensors, ln_affine affine,
                            residual_form form)
{
    const call run = call_of(problem, tensors, affine, form);
    if (problem->rows == 0)
        return;
    if (problem->hidden > LONG_ROW)
        run_long(&run);
    else
        run_short(&run);
}

#endif

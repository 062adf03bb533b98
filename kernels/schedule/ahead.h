/* ahead: while y of one row is made, a later row is swept, block by block in the same loop:
 * pipelined.h says why. For statistics that are not one sum of t and one of t^2 about one pivot
 * (lanewise.h), and an apply that may set rows apart.
 *
 * The chain from a row's sums to what apply needs is long here, since it is in double: sums over
 * lanes, quotient, root, reciprocal, some 130 cycles. It is walked between the row's sweep and the
 * turn in which its y is made, and in pieces: what waits for a piece must not fill the reorder
 * buffer (448 operations, less than two rows of 256). Expected from the operations alone: 55 cycles
 * for a row of 256; in cycles (Zen 5, L2, one row, busy machine; pipelined takes 68 and 163):
 *
 *     hidden                                                          256     768
 *     chain at the beginning of the turn that needs it                120     205
 *     groups of 4, chains in the middle as one scalar loop            115       -
 *     as loops that compilers make vectors of                          95       -
 *     in four pieces, one before each row of the group                 90       -
 *     eight pivots, not sixteen; pivots a row ahead; longer chunks      81     192
 *
 * Long rows go one by one. Their chain is cut in two, as in pipelined.h: one row's root and
 * reciprocal beside the next row's sums over lanes and moments. In cycles that the core counted
 * (lanewise; mixed, which needs no pivots):
 *
 *     hidden                                          384       512         768         1024
 *     groups of 4                                   128  -   160  139         -            -
 *     one by one, the chain in the middle of a row        -         -   207  202     258  270
 *     in two pieces, the first at the end of a row        -         -   196    -     243    -
 *     both at the end                               120  -   141  132   186  178     232  224
 *
 * Groups of 8 at hidden 256 are no better, of 4 at hidden 768 a fifth slower: rows that wait push
 * others out of L1. The fourth fused operation an element (paired.h) is what is left: 7 % at hidden
 * 768; as a product and a sum it costs the same, without the subtraction too. */
#ifndef LN_SCHEDULE_H
#define LN_SCHEDULE_H

#include "schedule/call.h"

#ifndef CENTRE_GUARDED
#error "the schedule ahead is for the apply guarded"
#endif

enum { GROUP_ROWS = 8, GROUP_BYTES = 4096, LONG_ROW = 320 };

/* Of rows that are not there: of the first. */
LN_INLINE sweep_origin row_origin(const call *call, size_t r)
{
    const row row = call_row(call, r < call->problem->rows ? r : 0);
    return sweep_origin_of(&call->statistics, &row);
}

/* ---- One row swept while y of another is made ---- */

typedef struct turn {
    row later;
    sweep_origin origin;
    row this;
    centre centre;
} turn;

/* All of it. */
LN_INLINE void turn_sweep_and_apply(const call *call, const turn *turn, sweep_sums *sums)
{
    size_t hidden = turn->later.hidden, i = 0;
    while (hidden - i >= BLOCK) {
        if (i > 0)
            sweep_flush(sums);
        for (size_t end = sweep_chunk_end(i, hidden); i < end; i += BLOCK) {
            sweep_add(sums, &turn->later, turn->origin, i, BLOCK);
            apply_block(&turn->this, &call->convention, turn->centre, i, BLOCK);
        }
    }
    sweep_add(sums, &turn->later, turn->origin, i, hidden - i);
    apply_block(&turn->this, &call->convention, turn->centre, i, hidden - i);
}

/* A row of its own, where there is no other to make y of, or y is not for items: at a call's ends,
 * or rare, and much code in each of the places that might do it. */
LN_APART swept swept_alone(statistics statistics, row row)
{
    sweep_sums sums;
    sweep_origin origin = sweep_origin_of(&statistics, &row);
    sweep_row(&sums, &row, origin);
    return sweep_end(&statistics, &sums, origin);
}

LN_INLINE swept turn_swept(const call *call, const turn *turn)
{
    sweep_sums sums;
    sweep_clear(&sums);
    turn_sweep_and_apply(call, turn, &sums);
    return sweep_end(&call->statistics, &sums, turn->origin);
}

LN_INLINE swept turn_apart(const call *call, const turn *turn)
{
    swept swept = swept_alone(call->statistics, turn->later);
    apply_apart(turn->this, call->convention, turn->centre);
    return swept;
}

/* ---- Long rows, one by one ---- */

/* The first piece of its chain: to its moments, by way of a second attempt if need be. */
LN_INLINE moments moments_of(const call *call, swept swept, size_t r)
{
    const row row = call_row(call, r);
    return swept_moments(&call->statistics, &row, swept);
}

/* Sweeps row r + 2 while y of row r is made; then come the second piece of row r + 1's chain, root
 * and reciprocal, and beside it the first of row r + 2's. */
LN_INLINE void run_long(const call *call)
{
    size_t rows = call->problem->rows, r = 0;
    moments between = moments_of(call, swept_alone(call->statistics, call_row(call, 0)), 0);
    centre centre = call_centre(call, 0, between);
    if (rows > 1)
        between = moments_of(call, swept_alone(call->statistics, call_row(call, 1)), 1);
    sweep_origin origin = row_origin(call, 2);
    for (; r + 2 < rows; r++) {
        const turn turn = {call_row(call, r + 2), origin, call_row(call, r), centre};
        sweep_origin next_origin = row_origin(call, r + 3);
        swept later =
            __builtin_expect(centre.strange, 0) ? turn_apart(call, &turn) : turn_swept(call, &turn);
        centre = call_centre(call, r + 1, between);
        between = moments_of(call, later, r + 2);
        origin = next_origin;
    }
    for (; r < rows; r++) {
        const row to_apply = call_row(call, r);
        apply_row(&to_apply, &call->convention, centre);
        if (r + 1 < rows)
            centre = call_centre(call, r + 1, between);
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
LN_INLINE void group_clear(group *group)
{
    group->first = group->count = 0;
    for (size_t g = 0; g < GROUP_ROWS; g++) {
        group->x[g] = group->squares[g] = group->raws[g] = swept_sum_none();
        group->pivot[g] = group->raw[g] = 0;
    }
}

/* The next rows, from first on. */
LN_INLINE void group_begin(const call *call, group *group, size_t first, size_t size)
{
    size_t rows = call->problem->rows, left = first < rows ? rows - first : 0;
    group->first = first;
    group->count = left < size ? left : size;
}

LN_INLINE void group_sum_up(group *group)
{
    for (size_t q = 0; q < group->count; q += QUAD) {
        swept_sum_four(group->x + q, group->sum + q);
        swept_sum_four(group->squares + q, group->square + q);
        if (SWEPT_RAW)
            swept_sum_four(group->raws + q, group->raw + q);
    }
}

LN_INLINE moments group_moments(const group *group, size_t g)
{
    return (moments){group->mean[g], group->rest[g], group->m2[g], 1};
}

LN_INLINE void group_find(const call *call, group *group)
{
    group->off = 0;
    for (size_t q = 0; q < group->count; q += QUAD) {
        statistics_found_four(&call->statistics, group->pivot + q, group->sum + q,
                              group->square + q, group->mean + q, group->rest + q, group->m2 + q);
        LN_VECTORIZED
        for (size_t g = q; g < q + QUAD; g++)
            group->off |=
                (unsigned)swept_is_off(&call->statistics, group_moments(group, g), group->raw[g]);
    }
}

/* Rows whose pivots were far off. Rare, and given a copy of the call: what it is given it might
 * change, for all the compiler knows. */
LN_RARE void group_find_again(call call, group *group)
{
    for (size_t g = 0; g < group->count; g++) {
        moments found = group_moments(group, g);
        if (!swept_is_off(&call.statistics, found, group->raw[g]))
            continue;
        found = swept_again(&call.statistics, call_row(&call, group->first + g), found);
        group->mean[g] = found.mean;
        group->rest[g] = found.rest;
        group->m2[g] = found.m2;
    }
}

LN_INLINE void group_take_root(const call *call, group *group)
{
    if (__builtin_expect(group->off != 0, 0))
        group_find_again(*call, group);
    for (size_t q = 0; q < group->count; q += QUAD) {
        LN_VECTORIZED
        for (size_t g = q; g < q + QUAD; g++)
            group->std[g] = convention_std(&call->convention, group_moments(group, g));
    }
}

LN_INLINE void group_finish(const call *call, group *group)
{
    for (size_t q = 0; q < group->count; q += QUAD) {
        LN_VECTORIZED
        for (size_t g = q; g < q + QUAD; g++)
            group->rstd[g] = 1 / group->std[g];
        LN_VECTORIZED
        for (size_t g = q; g < q + QUAD; g++) {
            item parts[CENTRE_PARTS];
            moments found = group_moments(group, g);
            group->strange[g] = centre_is_strange(found, group->rstd[g]);
            centre_parts(found, group->rstd[g], call->convention.quotient, parts);
            LN_UNROLLED
            for (size_t p = 0; p < CENTRE_PARTS; p++)
                group->parts[p][g] = parts[p];
        }
    }
    if (!call->tensors->mean && !call->tensors->rstd)
        return;
    for (size_t g = 0; g < group->count; g++)
        keep_moments(call->tensors, group->first + g, group_moments(group, g), group->rstd[g]);
}

/* One of the pieces of the chain. */
LN_INLINE void group_piece(const call *call, group *group, size_t piece)
{
    if (piece == 0)
        group_sum_up(group);
    else if (piece == 1)
        group_find(call, group);
    else if (piece == 2)
        group_take_root(call, group);
    else if (piece == 3)
        group_finish(call, group);
}

LN_INLINE centre group_centre(const group *group, size_t g)
{
    item parts[CENTRE_PARTS];
    LN_UNROLLED
    for (size_t p = 0; p < CENTRE_PARTS; p++)
        parts[p] = group->parts[p][g];
    return centre_of_guarded(parts, group->strange[g], group_moments(group, g), group->rstd[g]);
}

/* Row g of the group that is swept, and of the one that is applied: either may lack it. */
LN_INLINE void group_step(const call *call, group *later, const group *this, size_t g,
                          sweep_origin *origin)
{
    const turn turn = {call_row(call, later->first + g), *origin, call_row(call, this->first + g),
                       group_centre(this, g)};
    if (g < later->count) {
        swept swept;
        *origin = row_origin(call, later->first + g + 1);
        if (g >= this->count)
            swept = swept_alone(call->statistics, turn.later);
        else if (__builtin_expect(turn.centre.strange, 0))
            swept = turn_apart(call, &turn);
        else
            swept = turn_swept(call, &turn);
        later->pivot[g] = swept.pivot;
        later->x[g] = swept.x;
        later->squares[g] = swept.square;
        if (SWEPT_RAW)
            later->raws[g] = swept.raw;
    } else if (g < this->count) {
        apply_row(&turn.this, &call->convention, turn.centre);
    }
}

LN_INLINE void run_short(const call *call)
{
    size_t hidden = call->problem->hidden;
    size_t size = hidden * sizeof(storage) * GROUP_ROWS <= GROUP_BYTES ? GROUP_ROWS : QUAD;
    group groups[3];
    for (int i = 0; i < 3; i++)
        group_clear(&groups[i]);
    group *this = &groups[0], *between = &groups[1], *later = &groups[2];
    sweep_origin origin = row_origin(call, 0);
    group_begin(call, later, 0, size);
    do {
        for (size_t g = 0; g < size; g++) {
            group_piece(call, between, g);
            group_step(call, later, this, g, &origin);
        }
        group *free = this;
        this = between, between = later, later = free;
        group_begin(call, later, between->first + between->count, size);
    } while (this->count || between->count);
}

LN_INLINE void schedule_run(const ln_problem *problem, const ln_tensors *tensors, ln_affine affine,
                            residual_form form)
{
    const call call = call_of(problem, tensors, affine, form, SUM_EARLY);
    if (problem->rows == 0)
        return;
    if (problem->hidden > LONG_ROW)
        run_long(&call);
    else
        run_short(&call);
}

#endif

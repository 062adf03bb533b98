/* What the schedule transposed keeps of a group of rows, and does once for all of them: the sums
 * over their lanes, taken together by a tree that transposes, and quotient, root and reciprocal. */
#ifndef LN_SCHEDULE_GROUPS_H
#define LN_SCHEDULE_GROUPS_H

#include "schedule/call.h"

#ifndef ACC_SUM_SQUARE
#error "the schedule transposed is for accumulators that transpose (acc_fold_four())"
#endif

enum { QUAD = 4, QUADS = LANES / QUAD }; /* QUAD rows are what acc_fold_four() takes */

/* Rows without a pivot take fewer operations, and fewer again where no y is subnormal. */
#ifdef STATISTICS_CHECKED
#define GROUPS_REGULAR 1
#else
#define GROUPS_REGULAR 0
#endif

/* LANES rows, of which `count` are there. */
typedef struct group {
    acc_fold pivots[QUADS];
    acc_fold sums[QUADS];
    acc_fold squares[QUADS];
    real pivot[LANES];
    real mean[LANES];
    real rest[LANES];
    real m2[LANES];
    factor rstd[LANES]; /* before the last pieces, its reciprocal */
    item parts[CENTRE_PARTS][LANES];
    size_t first;
    size_t count;
    unsigned again; /* some row needs a second look */
    int regular;    /* all rows, and gamma and beta (convention_is_regular()) */
#ifdef CENTRE_GUARDED
    unsigned strange;      /* some row is */
    centre centres[LANES]; /* if so */
#endif
} group;

/* The next row. What the pointers are is hidden from compilers, which otherwise keep one for each
 * row of a turn, in memory: there are more than registers. */
LN_INLINE void row_next(const call *call, row *row)
{
    row_advance(row, &call->strides);
    LN_OPAQUE(row->x);
    LN_OPAQUE(row->y);
}

/* ---- What is done once a group ---- */

LN_INLINE void group_take_pivots(const call *call, group *group)
{
    acc_store(group->pivot, acc_sum_folds(group->pivots));
    LN_VECTORIZED
    for (size_t g = 0; g < LANES; g++)
        group->pivot[g] = statistics_pivot_of(&call->statistics, group->pivot[g]);
}

LN_INLINE void group_keep(const call *call, group *group, size_t g, moments found, factor rstd)
{
    item parts[CENTRE_PARTS];
    centre_parts(found, rstd, call->convention.quotient, parts);
    LN_UNROLLED
    for (size_t p = 0; p < CENTRE_PARTS; p++)
        group->parts[p][g] = parts[p];
}

LN_INLINE centre group_centre(const group *group, size_t g)
{
    item parts[CENTRE_PARTS];
    LN_UNROLLED
    for (size_t p = 0; p < CENTRE_PARTS; p++)
        parts[p] = group->parts[p][g];
#ifdef CENTRE_GUARDED
    return centre_of_fine_parts(parts);
#else
    return centre_of_parts(parts);
#endif
}

LN_INLINE moments group_moments(const group *group, size_t g)
{
    return (moments){group->mean[g], group->rest[g], group->m2[g], 1};
}

/* Whether all rows of the group are regular, of a call that is. */
LN_INLINE int group_is_regular(const call *call, const group *group)
{
    int regular = call->regular;
#if GROUPS_REGULAR
    LN_VECTORIZED
    for (size_t g = 0; g < LANES; g++) {
        item parts[CENTRE_PARTS];
        for (size_t p = 0; p < CENTRE_PARTS; p++)
            parts[p] = group->parts[p][g];
        regular &= centre_is_regular(parts);
    }
#endif
    (void)group;
    return regular;
}

/* Whether a row needs a second look. */
LN_INLINE unsigned group_doubts(const call *call, const group *group)
{
    unsigned again = call->tensors->mean || call->tensors->rstd;
    LN_VECTORIZED
    for (size_t g = 0; g < LANES; g++)
        again |= (unsigned)statistics_is_off(&call->statistics, group_moments(group, g));
#ifdef CENTRE_GUARDED
    LN_VECTORIZED
    for (size_t g = 0; g < LANES; g++)
        again |= (unsigned)centre_is_strange(group_moments(group, g), group->rstd[g]);
#endif
    return again;
}

/* From sums to what apply needs, in pieces: what waits for one of them must not fill the reorder
 * buffer. Loops that compilers make vectors of, which they do where each has one thing to do. */
enum { PIECES = 4 };

LN_INLINE void group_piece(const call *call, group *group, size_t piece)
{
    if (piece == 0) {
        real sum[LANES], square[LANES];
        acc_store(sum, acc_sum_folds(group->sums));
        acc_store(square, acc_sum_folds(group->squares));
        statistics_found_all(&call->statistics, group->pivot, sum, square, group->mean, group->rest,
                             group->m2);
    } else if (piece == 1) {
        LN_VECTORIZED
        for (size_t g = 0; g < LANES; g++)
            group->rstd[g] = convention_std(&call->convention, group_moments(group, g));
    } else if (piece == 2) {
        LN_VECTORIZED
        for (size_t g = 0; g < LANES; g++)
            group->rstd[g] = 1 / group->rstd[g];
    } else if (piece == 3) {
        LN_VECTORIZED
        for (size_t g = 0; g < LANES; g++)
            group_keep(call, group, g, group_moments(group, g), group->rstd[g]);
        group->again = group_doubts(call, group);
        group->regular = group_is_regular(call, group);
#ifdef CENTRE_GUARDED
        group->strange = 0;
#endif
    }
}

LN_INLINE void group_finish(const call *call, group *group)
{
    LN_UNROLLED
    for (size_t piece = 0; piece < PIECES; piece++)
        group_piece(call, group, piece);
}

/* Rows that have to be swept again, or are strange, and what the caller wants to know. Rare, and
 * given a copy of the call: what it is given it might change, for all the compiler knows. */
LN_RARE void group_look_again(call call, group *group)
{
    for (size_t g = 0; g < group->count; g++) {
        moments found = group_moments(group, g);
        if (statistics_is_off(&call.statistics, found))
            found = sweep_again(call.statistics, call_row(&call, group->first + g), found);
        factor rstd = convention_rstd(&call.convention, found);
        group_keep(&call, group, g, found, rstd);
#ifdef CENTRE_GUARDED
        group->centres[g] = centre_of(found, rstd, call.convention.quotient);
        group->strange |= (unsigned)group->centres[g].strange;
#endif
        keep_moments(call.tensors, group->first + g, found, rstd);
    }
    group->regular = group_is_regular(&call, group);
}

/* ---- Turns ---- */

/* Group t is taken in turn t, then swept, then finished, then applied, in one turn after the other;
 * at a call's ends some are missing. */
typedef struct turn {
    group *this;
    group *between;
    group *later;
    group *next;
} turn;

LN_INLINE size_t turns_of(const call *call)
{
    size_t rows = call->problem->rows;
    return rows == 0 ? 0 : (rows + LANES - 1) / LANES + 3;
}

LN_INLINE turn turn_begin(const call *call, group ring[4], size_t t)
{
    size_t rows = call->problem->rows, groups = (rows + LANES - 1) / LANES;
    turn turn = {.this = t >= 3 ? &ring[(t + 1) % 4] : NULL,
                 .between = t >= 2 && t < groups + 2 ? &ring[(t + 2) % 4] : NULL,
                 .later = t >= 1 && t < groups + 1 ? &ring[(t + 3) % 4] : NULL,
                 .next = t < groups ? &ring[t % 4] : NULL};
    if (turn.next) {
        if (!SWEEP_SHIFTED)
            acc_store(turn.next->pivot, acc_set(0));
        turn.next->first = t * LANES;
        turn.next->count = rows - t * LANES < LANES ? rows - t * LANES : LANES;
    }
    return turn;
}

LN_INLINE void turn_end(const call *call, turn turn)
{
    if (turn.between && __builtin_expect(turn.between->again != 0, 0))
        group_look_again(*call, turn.between);
    if (SWEEP_SHIFTED && turn.next)
        group_take_pivots(call, turn.next);
}

#endif

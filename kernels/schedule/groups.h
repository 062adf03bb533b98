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
#ifdef STATISTICS_RETRY
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
#ifdef CENTRE_CHECKED
    unsigned strange;      /* some row is */
    centre centres[LANES]; /* if so */
#endif
} group;

/* The next row. What the pointers are is hidden from compilers, which otherwise keep one for each
 * row of a turn, in memory: there are more than registers. */
LN_INLINE void row_next(const call *run, row *view)
{
    row_advance(view, &run->strides);
    LN_OPAQUE(view->x);
    LN_OPAQUE(view->y);
}

/* ---- What is done once a group ---- */

LN_INLINE void group_take_pivots(const call *run, group *set)
{
    acc_store(set->pivot, acc_sum_folds(set->pivots));
    LN_VECTORIZED
    for (size_t g = 0; g < LANES; g++)
        set->pivot[g] = statistics_pivot_of(&run->statistics, set->pivot[g]);
}

LN_INLINE void group_keep(const call *run, group *set, size_t g, moments found, factor rstd)
{
    item parts[CENTRE_PARTS];
    centre_parts(found, rstd, run->convention.quotient, parts);
    LN_UNROLLED
    for (size_t p = 0; p < CENTRE_PARTS; p++)
        set->parts[p][g] = parts[p];
}

LN_INLINE centre group_centre(const group *set, size_t g)
{
    item parts[CENTRE_PARTS];
    LN_UNROLLED
    for (size_t p = 0; p < CENTRE_PARTS; p++)
        parts[p] = set->parts[p][g];
#ifdef CENTRE_CHECKED
    return centre_of_fine_parts(parts);
#else
    return centre_of_parts(parts);
#endif
}

LN_INLINE moments group_moments(const group *set, size_t g)
{
    return (moments){set->mean[g], set->rest[g], set->m2[g], 1};
}

/* Whether all rows of the group are regular, of a call that is. */
LN_INLINE int group_is_regular(const call *run, const group *set)
{
    int regular = run->regular;
#if GROUPS_REGULAR
    LN_VECTORIZED
    for (size_t g = 0; g < LANES; g++) {
        item parts[CENTRE_PARTS];
        for (size_t p = 0; p < CENTRE_PARTS; p++)
            parts[p] = set->parts[p][g];
        regular &= centre_is_regular(parts);
    }
#endif
    (void)set;
    return regular;
}

/* Whether a row needs a second look. */
LN_INLINE unsigned group_doubts(const call *run, const group *set)
{
    unsigned again = run->tensors->mean || run->tensors->rstd;
    LN_VECTORIZED
    for (size_t g = 0; g < LANES; g++)
        again |= (unsigned)statistics_is_off(&run->statistics, group_moments(set, g));
#ifdef CENTRE_CHECKED
    LN_VECTORIZED
    for (size_t g = 0; g < LANES; g++)
        again |= (unsigned)centre_is_strange(group_moments(set, g), set->rstd[g]);
#endif
    return again;
}

/* From sums to what apply needs, in pieces: what waits for one of them must not fill the reorder
 * buffer. Loops that compilers make vectors of, which they do where each has one thing to do. */
enum { PIECES = 4 };

LN_INLINE void group_piece(const call *run, group *set, size_t piece)
{
    if (piece == 0) {
        real sum[LANES], square[LANES];
        acc_store(sum, acc_sum_folds(set->sums));
        acc_store(square, acc_sum_folds(set->squares));
        statistics_found_all(&run->statistics, set->pivot, sum, square, set->mean, set->rest,
                             set->m2);
    } else if (piece == 1) {
        LN_VECTORIZED
        for (size_t g = 0; g < LANES; g++)
            set->rstd[g] = convention_std(&run->convention, group_moments(set, g));
    } else if (piece == 2) {
        LN_VECTORIZED
        for (size_t g = 0; g < LANES; g++)
            set->rstd[g] = 1 / set->rstd[g];
    } else if (piece == 3) {
        LN_VECTORIZED
        for (size_t g = 0; g < LANES; g++)
            group_keep(run, set, g, group_moments(set, g), set->rstd[g]);
        set->again = group_doubts(run, set);
        set->regular = group_is_regular(run, set);
#ifdef CENTRE_CHECKED
        set->strange = 0;
#endif
    }
}

LN_INLINE void group_finish(const call *run, group *set)
{
    LN_UNROLLED
    for (size_t piece = 0; piece < PIECES; piece++)
        group_piece(run, set, piece);
}

/* Rows that have to be swept again, or are strange, and what the caller wants to know. Rare, and
 * given a copy of the call: what it is given it might change, for all the compiler knows. */
LN_RARE void group_look_again(call run, group *set)
{
    for (size_t g = 0; g < set->count; g++) {
        moments found = group_moments(set, g);
        if (statistics_is_off(&run.statistics, found))
            found = sweep_again(run.statistics, call_row(&run, set->first + g), found);
        factor rstd = convention_rstd(&run.convention, found);
        group_keep(&run, set, g, found, rstd);
#ifdef CENTRE_CHECKED
        set->centres[g] = centre_of(found, rstd, run.convention.quotient);
        set->strange |= (unsigned)set->centres[g].strange;
#endif
        keep_moments(run.tensors, set->first + g, found, rstd);
    }
    set->regular = group_is_regular(&run, set);
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

LN_INLINE size_t turns_of(const call *run)
{
    size_t rows = run->problem->rows;
    return rows == 0 ? 0 : (rows + LANES - 1) / LANES + 3;
}

LN_INLINE turn turn_begin(const call *run, group ring[4], size_t t)
{
    size_t rows = run->problem->rows, groups = (rows + LANES - 1) / LANES;
    turn now = {.this = t >= 3 ? &ring[(t + 1) % 4] : NULL,
                .between = t >= 2 && t < groups + 2 ? &ring[(t + 2) % 4] : NULL,
                .later = t >= 1 && t < groups + 1 ? &ring[(t + 3) % 4] : NULL,
                .next = t < groups ? &ring[t % 4] : NULL};
    if (now.next) {
        if (!LN_PIVOT)
            acc_store(now.next->pivot, acc_set(0));
        now.next->first = t * LANES;
        now.next->count = rows - t * LANES < LANES ? rows - t * LANES : LANES;
    }
    return now;
}

LN_INLINE void turn_end(const call *run, turn now)
{
    if (now.between && __builtin_expect(now.between->again != 0, 0))
        group_look_again(*run, now.between);
    if (LN_PIVOT && now.next)
        group_take_pivots(run, now.next);
}

#endif

/* transposed: short rows, in groups of LANES: the sums of a group's rows are taken together by a
 * tree that transposes, so that they lie side by side in one vector, and what is done once a row
 * (quotient, root, reciprocal) is done once a group. For statistics of one sweep (one_sweep.h).
 *
 * While y of one group is made, row for row the group after the next is swept, and the pivots of
 * the one behind that are prepared; halfway, the chain of latencies of the group between is walked,
 * whose sums have been known since the last turn. Gamma and beta stay in registers (rows of up to
 * KEPT vectors). A tree takes four rows to one vector with three additions and six permutations,
 * and four of those to all the sums: a quarter of what a row takes alone. Longer rows go the same
 * way, by a general loop; rows that are left, one by one. Either way the tree of a row is the same.
 *
 * What a row of 64 floats costs (AVX-512, shifted and offset, Zen 5, 2 loads, 1 store, 2 additions,
 * 2 products a cycle). Expected: 14 loads, 7 cycles; 17 additions and half of 6 permutations, 10
 * cycles; and, which took measuring to find, a 512-bit store keeps both multipliers from fused
 * operations, of three operands, for a cycle (not from products): 5 stores and 8 fused operations
 * are 9 cycles. So about 10. Measured: 13.3 from L1 and 15 from L2 in a prototype that had all of
 * it unrolled for one shape; 17.5 as it is here, groups at both ends of the call included, where a
 * copy takes 8.3 and pipelined 28.5 (1024 rows; the machine was busy, the ratio is of short
 * alternations). What was tried, in cycles a row from L2:
 *     18.7  pivots of all rows, then y of all rows, then sums: each phase runs into another port
 *     17.0  by quads of rows; 15.7 row by row; 15.2 with a group's quads unrolled
 *     14.9  squares summed by fused operations, one after the other: another tree than sweep_add()
 *     14.3  without quotient, root and reciprocal, which are not to be had for less
 *     15.8  those at the beginning of a turn, 15.1 in the middle
 * Where the other 13 cycles of pipelined go: rows' structures, loads of gamma and beta, and three
 * quarters of the trees. */
#ifndef LN_SCHEDULE_H
#define LN_SCHEDULE_H

#include "schedule/rows.h"

#ifndef STATISTICS_ONE_SWEEP
#error "the schedule transposed is for statistics of one sweep (statistics/one_sweep.h)"
#endif

enum {
    QUAD = 4, /* rows that acc_fold_four() takes */
    QUADS = LANES / QUAD,
    KEPT = UNROLL < 4 ? UNROLL
                      : 4, /* vectors of a short row, whose gamma and beta are kept in registers */
    GROUP_BYTES = 8192,    /* of x, in groups of LANES rows; longer rows go by quads */
};

/* A call, and what is the same for all its rows. */
typedef struct call {
    const ln_problem *problem;
    const ln_tensors *tensors;
    const statistics *statistics;
    const convention *convention;
    residual_form form;
    size_t x_stride;
    size_t y_stride;
    size_t residual_stride;
    size_t sum_stride;
    int streams; /* y goes around the caches: the schedule says so, and all its rows begin a line */
} call;

typedef struct group {
    size_t first;
    size_t quads;      /* in use: QUADS or 1 */
    acc pivots[QUADS]; /* folded, as the next two */
    acc sums[QUADS];
    acc squares[QUADS];
    real pivot[LANES];
    real sum[LANES];
    real square[LANES];
    item parts[CENTRE_PARTS][LANES];
} group;

LN_INLINE row group_row(const call *call, const group *group, size_t g)
{
    row row = {.hidden = call->problem->hidden, .form = call->form, .sum_early = 1};
    size_t r = group->first + g;
    row.x = (const storage *)call->tensors->x + r * call->x_stride;
    row.y = (storage *)call->tensors->y + r * call->y_stride;
    if (row.form != RESIDUAL_NONE)
        row.residual = (const storage *)call->tensors->residual + r * call->residual_stride;
    if (row.form == RESIDUAL_WRITTEN)
        row.sum = (storage *)call->tensors->sum + r * call->sum_stride;
    return row;
}

LN_INLINE void row_advance(const call *call, row *row)
{
    row->x += call->x_stride;
    row->y += call->y_stride;
    if (row->form != RESIDUAL_NONE)
        row->residual += call->residual_stride;
    if (row->form == RESIDUAL_WRITTEN)
        row->sum += call->sum_stride;
}

/* ---- One row ---- */

/* A short row: full vectors but for the last, of `last` elements. */
typedef struct shape {
    size_t vectors; /* a constant */
    size_t last;
} shape;

LN_INLINE size_t shape_count(shape shape, size_t u)
{
    return u + 1 < shape.vectors ? LANES : shape.last;
}

/* The sum of the first `count` of UNROLL vectors by the tree of parts_sum(), where the others are
 * zero. */
LN_INLINE acc parts_sum_first(acc parts[UNROLL], size_t count)
{
    LN_UNROLLED
    for (size_t half = UNROLL / 2; half > 0; half /= 2) {
        LN_UNROLLED
        for (size_t u = 0; u < half; u++)
            if (u + half < count)
                parts[u] = acc_add(parts[u], parts[u + half]);
        count = count < half ? count : half;
    }
    return parts[0];
}

/* Sums over a row, the same as sweep_add() makes. */
LN_INLINE void row_sweep(const row *row, shape shape, real pivot, acc *sum, acc *square)
{
    acc sums[UNROLL], squares[UNROLL], pivots = acc_set(pivot);
    LN_UNROLLED
    for (size_t u = 0; u < shape.vectors; u++) {
        size_t n = shape_count(shape, u);
        acc t = acc_of(row_first(row, u * LANES, n));
        if (SWEEP_SHIFTED) {
            t = acc_subtract(t, pivots);
            if (n < LANES)
                t = acc_first(t, n);
        }
        sums[u] = t;
        squares[u] = acc_multiply(t, t);
    }
    *sum = parts_sum_first(sums, shape.vectors);
    *square = parts_sum_first(squares, shape.vectors);
}

LN_INLINE centre group_centre(const group *group, size_t g)
{
    item parts[CENTRE_PARTS];
    LN_UNROLLED
    for (size_t p = 0; p < CENTRE_PARTS; p++)
        parts[p] = group->parts[p][g];
    return centre_of_parts(parts);
}

LN_INLINE void row_apply(const call *call, const affine_terms terms[KEPT], const row *row,
                         shape shape, centre centre)
{
    LN_UNROLLED
    for (size_t u = 0; u < shape.vectors; u++) {
        size_t n = shape_count(shape, u);
        vec xhat = centre_normalise(centre, row_last(row, u * LANES, n));
        vec y = convention_finish_with(call->convention, xhat, terms[u]);
#ifdef LN_NONTEMPORAL
        if (call->streams && n >= LANES) {
            LN_PASTE(lane_stream_, LN_STORAGE)(row->y + u * LANES, y);
            continue;
        }
#endif
        row_store(row->y + u * LANES, y, n);
    }
}

/* Asks memory for what will be wanted FETCH_AHEAD elements behind this row. */
LN_INLINE void row_fetch(const row *row)
{
#ifdef LN_NONTEMPORAL
    for (size_t i = 0; i < row->hidden; i += BLOCK)
        fetch_block(row, i + FETCH_AHEAD);
#else
    (void)row;
#endif
}

/* y of the first min(left, BLOCK) elements from i on. */
LN_INLINE void row_block(const call *call, const row *row, centre centre, size_t i, size_t left)
{
#ifdef LN_NONTEMPORAL
    if (call->streams) {
        stream_block(row, call->convention, centre, i, left);
        return;
    }
#endif
    apply_block(row, call->convention, centre, i, left);
}

LN_INLINE void row_sweep_alone(const row *row, real pivot, acc *sum, acc *square)
{
    sweep_sums sums;
    acc pivots = acc_set(pivot);
    size_t i = 0;
    sweep_clear(&sums);
    for (; row->hidden - i >= BLOCK; i += BLOCK)
        sweep_add(&sums, row, pivots, i, BLOCK, 0);
    sweep_add(&sums, row, pivots, i, row->hidden - i, 0);
    *sum = parts_sum(sums.x);
    *square = parts_sum(sums.square);
}

/* Sweeps `later` while y of `this` is made. */
LN_INLINE void row_both(const call *call, const row *this, centre centre, const row *later,
                        real pivot, acc *sum, acc *square)
{
    sweep_sums sums;
    acc pivots = acc_set(pivot);
    size_t i = 0, hidden = later->hidden;
    sweep_clear(&sums);
    for (; hidden - i >= BLOCK; i += BLOCK) {
        sweep_add(&sums, later, pivots, i, BLOCK, 0);
        row_block(call, this, centre, i, BLOCK);
    }
    sweep_add(&sums, later, pivots, i, hidden - i, 0);
    row_block(call, this, centre, i, hidden - i);
    *sum = parts_sum(sums.x);
    *square = parts_sum(sums.square);
}

/* ---- Groups ---- */

/* All places hold numbers, since those of rows that are not there are computed with too. */
LN_INLINE void group_clear(group *group)
{
    acc_store(group->pivot, acc_set(0));
    acc_store(group->sum, acc_set(0));
    acc_store(group->square, acc_set(0));
}

/* The sums of the lanes of a group's rows. */
LN_INLINE void group_sum(const group *group, const acc folds[QUADS], real sums[LANES])
{
    if (group->quads == QUADS)
        acc_store(sums, acc_sum_folds(folds));
    else
        acc_sum_fold(folds[0], sums);
}

LN_INLINE void group_taken(const call *call, group *group)
{
    group_sum(group, group->pivots, group->pivot);
    for (size_t g = 0; g < LANES; g++)
        group->pivot[g] = statistics_pivot_of(call->statistics, group->pivot[g]);
}

LN_INLINE void group_swept(group *group)
{
    group_sum(group, group->sums, group->sum);
    group_sum(group, group->squares, group->square);
}

LN_INLINE void group_keep(const call *call, group *group, size_t g, moments found, factor rstd)
{
    item parts[CENTRE_PARTS];
    centre_parts(found, rstd, call->convention->quotient, parts);
    LN_UNROLLED
    for (size_t p = 0; p < CENTRE_PARTS; p++)
        group->parts[p][g] = parts[p];
}

LN_INLINE moments group_moments(const call *call, const group *group, size_t g)
{
    return statistics_found(call->statistics, group->pivot[g], group->sum[g], group->square[g]);
}

/* Rows whose pivots were far off, and what the caller wants to know. Rare, and given copies: what
 * it is given it might change, for all the compiler knows. */
static __attribute__((noinline, cold, unused)) void
group_look_again(call call, statistics statistics, convention convention, group *group)
{
    call.statistics = &statistics;
    call.convention = &convention;
    for (size_t g = 0; g < group->quads * QUAD; g++) {
        moments found = group_moments(&call, group, g);
        if (statistics_is_off(&statistics, found))
            found = sweep_again(statistics, group_row(&call, group, g), found);
        factor rstd = convention_rstd(&convention, found);
        group_keep(&call, group, g, found, rstd);
        keep_moments(call.tensors, group->first + g, found, rstd);
    }
}

/* From sums to what apply needs. */
LN_INLINE void group_finish(const call *call, group *group)
{
    unsigned again = call->tensors->mean || call->tensors->rstd;
    for (size_t g = 0; g < LANES; g++) {
        moments found = group_moments(call, group, g);
        again |= (unsigned)statistics_is_off(call->statistics, found);
        group_keep(call, group, g, found, convention_rstd(call->convention, found));
    }
    if (__builtin_expect(again != 0, 0))
        group_look_again(*call, *call->statistics, *call->convention, group);
}

/* What quads_short() and quad_long() do: y of a quad of `this`, the sums of that of `later`, and
 * what the pivots of that of `next` are made of. */
typedef struct turn {
    group *this;
    group *between; /* finished halfway */
    group *later;
    group *next;
} turn;

LN_INLINE void quads_short(const call *call, turn turn, shape shape)
{
    affine_terms terms[KEPT];
    LN_UNROLLED
    for (size_t u = 0; u < shape.vectors; u++)
        terms[u] = convention_terms(call->convention, u * LANES, shape_count(shape, u));
    row applied = group_row(call, turn.this, 0);
    row swept = group_row(call, turn.later, 0);
    row taken = group_row(call, turn.next, 0);
    for (size_t q = 0; q < QUADS; q++) {
        acc pivots[QUAD], sums[QUAD], squares[QUAD];
        if (q == QUADS / 2)
            group_finish(call, turn.between);
        LN_UNROLLED
        for (size_t g = 0; g < QUAD; g++) {
            row_fetch(&taken);
            row_apply(call, terms, &applied, shape, group_centre(turn.this, q * QUAD + g));
            row_sweep(&swept, shape, turn.later->pivot[q * QUAD + g], &sums[g], &squares[g]);
            pivots[g] = acc_of(row_add_up(&taken, 0, shape_count(shape, 0)));
            row_advance(call, &applied);
            row_advance(call, &swept);
            row_advance(call, &taken);
        }
        turn.later->sums[q] = acc_fold_four(sums);
        turn.later->squares[q] = acc_fold_four(squares);
        turn.next->pivots[q] = acc_fold_four(pivots);
    }
}

/* Any of the three may be missing. */
LN_INLINE void quad_long(const call *call, turn turn, size_t q)
{
    acc pivots[QUAD], sums[QUAD], squares[QUAD];
    for (size_t g = 0; g < QUAD; g++) {
        size_t at = q * QUAD + g;
        if (turn.later) {
            row swept = group_row(call, turn.later, at);
            real pivot = turn.later->pivot[at];
            if (turn.this) {
                row applied = group_row(call, turn.this, at);
                row_both(call, &applied, group_centre(turn.this, at), &swept, pivot, &sums[g],
                         &squares[g]);
            } else {
                row_sweep_alone(&swept, pivot, &sums[g], &squares[g]);
            }
        } else if (turn.this) {
            row applied = group_row(call, turn.this, at);
            apply_row(&applied, call->convention, group_centre(turn.this, at));
        }
        if (turn.next) {
            row taken = group_row(call, turn.next, at);
            row_fetch(&taken);
            pivots[g] = statistics_pivot_sum(&taken);
        }
    }
    if (turn.later) {
        turn.later->sums[q] = acc_fold_four(sums);
        turn.later->squares[q] = acc_fold_four(squares);
    }
    if (turn.next)
        turn.next->pivots[q] = acc_fold_four(pivots);
}

LN_INLINE void quads_step(const call *call, turn turn, size_t quads)
{
    size_t hidden = call->problem->hidden, vectors = (hidden + LANES - 1) / LANES;
    size_t last = hidden - (vectors - 1) * LANES;
    if (!turn.this || !turn.next || vectors > KEPT) {
        for (size_t q = 0; q < quads; q++)
            quad_long(call, turn, q);
        if (turn.between)
            group_finish(call, turn.between);
    } else if (hidden == KEPT * LANES)
        quads_short(call, turn, (shape){KEPT, LANES});
    else if (vectors == 1)
        quads_short(call, turn, (shape){1, last});
    else if (KEPT >= 2 && vectors == 2)
        quads_short(call, turn, (shape){KEPT >= 2 ? 2 : 1, last});
    else if (KEPT >= 3 && vectors == 3)
        quads_short(call, turn, (shape){KEPT >= 3 ? 3 : 1, last});
    else
        quads_short(call, turn, (shape){KEPT, last});
}

/* ---- A call ---- */

/* Whole groups of `quads` quads, from the first row on; returns how many rows that are. Group i is
 * taken, then swept, then finished, then applied, in one turn after the other. */
LN_INLINE size_t run_groups(const call *call, size_t quads)
{
    size_t size = quads * QUAD, groups = call->problem->rows / size;
    group ring[4];
    if (quads < QUADS)
        for (size_t i = 0; i < 4; i++)
            group_clear(&ring[i]);
    for (size_t t = 0; groups > 0 && t < groups + 3; t++) {
        turn turn = {.this = t >= 3 ? &ring[(t + 1) % 4] : NULL,
                     .between = t >= 2 && t < groups + 2 ? &ring[(t + 2) % 4] : NULL,
                     .later = t >= 1 && t < groups + 1 ? &ring[(t + 3) % 4] : NULL,
                     .next = t < groups ? &ring[t % 4] : NULL};
        if (turn.next) {
            turn.next->first = t * size;
            turn.next->quads = quads;
        }
        quads_step(call, turn, quads);
        if (turn.later)
            group_swept(turn.later);
        if (turn.next)
            group_taken(call, turn.next);
    }
    return groups * size;
}

/* Rows that are left, one by one. */
LN_INLINE void run_rows(const call *call, size_t first)
{
    for (size_t r = first; r < call->problem->rows; r++) {
        row row = row_at(call->problem, call->tensors, r, call->form, 1);
        real pivot = statistics_pivot(call->statistics, &row);
        moments found = statistics_of(call->statistics, &row, pivot);
        factor rstd = convention_rstd(call->convention, found);
        keep_moments(call->tensors, r, found, rstd);
        apply_row(&row, call->convention, centre_of(found, rstd, call->convention->quotient));
    }
}

LN_INLINE void schedule_run(const ln_problem *problem, const ln_tensors *tensors, ln_affine affine,
                            residual_form form)
{
    const convention convention = convention_prepare(problem, tensors, affine);
    const statistics statistics = statistics_prepare(problem);
    size_t hidden = problem->hidden;
    const call call = {
        .problem = problem,
        .tensors = tensors,
        .statistics = &statistics,
        .convention = &convention,
        .form = form,
        .x_stride = problem->x_stride ? problem->x_stride : hidden,
        .y_stride = problem->y_stride ? problem->y_stride : hidden,
        .residual_stride = problem->residual_stride ? problem->residual_stride : hidden,
        .sum_stride = problem->sum_stride ? problem->sum_stride : hidden,
#ifdef LN_NONTEMPORAL
        .streams = rows_begin_lines(problem, tensors),
#endif
    };
    size_t quads = hidden * sizeof(storage) * LANES <= GROUP_BYTES ? QUADS : 1;
    run_rows(&call, run_groups(&call, quads));
}

#endif

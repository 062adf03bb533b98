/* ranks: rows one behind the other, and what is done once a row done for four of them together.
 * While y of the rows of one rank is made, one by one, those of the rank after the next are swept
 * in the same loop; before each row comes a piece of the chain of latencies (sums over lanes,
 * quotient and root, reciprocal, parts) of the rank between. For checked statistics, and for rows
 * of 16 bits that are too long for transposed. Where reading costs more than one operation a
 * register (LANE_LOAD_DEAR: f16) a row is kept as items from its sweep on, gamma and beta are from
 * the beginning, and y is made of what was kept.
 *
 * What 32 elements cost (Zen 5; operations and their ports, measured): a product, a fused operation
 * or a product of pairs one of two ports (0, 1); an addition or a shift one of two (2, 3); a
 * permutation across a register one of 1 and 2; logic any of the four; a conversion of f16 to or
 * from a register, or of two registers to bf16, two operations, a permutation and one of 2 or 3;
 * and a store keeps what has three operands from 0 and 1 for a cycle, half a line for half a cycle.
 * A copy from L2 takes 2.1 cycles.
 *     bf16: 2 products of pairs and 4 fused operations, 3 cycles, and a store, 1: so 4 cycles, .53
 *         of the copy. Measured without the chain: 4.1 to 4.3.
 *     f16: 20 operations on four ports, 5 cycles; with x kept 16, of which 6 fused, 3 cycles, and 3
 *         lines to store: 6. Measured without the chain: 6.5, and with x kept 5.6.
 * Prototypes of the loop alone, share of the copy from L2 (busy machine, medians of alternations):
 *
 *     hidden                                         64     256    768    1024   4096
 *     bf16, one row swept, one applied              .44    .51    .52    .52    .47
 *       gamma and beta widened before               .50    .53    .54    .53    .27
 *       and in order: permutations, no zip          .51    .53    .54    .54    .27
 *       a product and a sum for a fused operation   .43    .50    .51    .51    .28
 *       two rows abreast                            .45    .51    .55    .47    .30
 *       four                                        .36    .47    .39    .39    .30
 *     f16, one row swept, one applied               .22    .24    .25    .24    .25
 *       gamma and beta widened before               .30    .33    .33    .33    .28
 *       two rows abreast                            .25    .29    .30    .29    .28
 *       both                                        .28    .33    .35    .33    .21
 *       four rows, widened                          .27    .33    .34    .33    .27
 *       x of the sweep by shifts and products       .29    .33    .34    .34    .28
 *       halves put together, whole lines stored     .29    .33    .34    .34    .28
 *       a product and a sum for a fused operation   .27    .30    .31    .31    .29
 *       x kept                                      .24    .36    .40    .39    .14
 *
 * And whole kernels (abreast has .26 .39 .39 .33 in bf16, .21 .26 .26 .27 in f16):
 *
 *     hidden                                                256    768    1024   4096
 *     bf16, as here                                         .32    .40    .43    .37
 *       row by row, a rank's chain in two pieces            .27    .40    .42    .35
 *       those three rows apart                              .27    .38    .41    .34
 *       the rows of a turn unrolled                         .34    .40    .39    .36
 *     f16, as here (with two accumulators of each sum too)  .27    .30    .32    .23 */
#ifndef LN_SCHEDULE_H
#define LN_SCHEDULE_H

#include "schedule/call.h"

#ifndef STATISTICS_CHECKED
#error "the schedule ranks is for statistics that take no pivot, but look again (checked.h)"
#endif

enum {
    RANK = 4,     /* rows that acc_sum_rows() takes */
    RING = 3,     /* ranks on their way */
    FEW_ROWS = 8, /* gamma and beta are not looked through for so few */
#ifdef LANE_LOAD_DEAR
    KEPT_COLUMNS = 1024,
#else
    KEPT_COLUMNS = 0,
#endif
    KEPT_ROOM = KEPT_COLUMNS + LANES, /* from one row to the next: not a multiple of a page */
};

/* What is kept as items, where lanes say so; whether, is a constant of always-inline bodies. */
typedef struct keep {
    int keeps;
    item *rows;  /* of two ranks */
    item *terms; /* a vector of gamma and one of beta in turn */
} keep;

/* Rows from their sweep to what apply needs of them. */
typedef struct rank {
    acc x[RANK];
    acc square[RANK];
    real mean[RANK];
    real rest[RANK];
    real m2[RANK];
    factor rstd[RANK]; /* before the last pieces, its reciprocal */
    item parts[CENTRE_PARTS][RANK];
    item *kept;
    size_t first;
    size_t count;
    int regular; /* all of them, and gamma and beta */
} rank;

/* ---- Sweep and apply ---- */

/* Adds n elements from column i on (LANES of them if n is more) to the sums number u. */
LN_INLINE void step_sweep(const keep *keep, sweep_sums *sums, const row *row, item *kept,
                          unsigned u, size_t i, size_t n)
{
    if (!keep->keeps) {
        sweep_add_vector(sums, row, acc_set(0), u, i, n, 0);
        return;
    }
    vec x = row_first(row, i, n);
    item_store(kept + i, x);
    sweep_add_one(sums, u, acc_of(x), acc_set(0), n, 0);
}

LN_INLINE void step_apply(const call *call, const keep *keep, const row *row, const item *kept,
                          centre centre, size_t i, size_t n)
{
    vec x, y;
#ifdef LANE_LOAD_DEAR
    if (keep->keeps) {
        x = centre_normalise_unshifted(centre, item_load(kept + i));
        y = multiply_add(x, item_load(keep->terms + 2 * i), item_load(keep->terms + 2 * i + LANES));
    } else
#endif
    {
        affine_terms terms = convention_terms(&call->convention, i, n);
        x = centre_normalise_unshifted(centre, row_last(row, i, n));
        y = convention_finish_with(&call->convention, x, terms);
    }
    if (n < LANES)
        lane_store_first(row->y + i, y, n);
    else
        lane_store_regular(row->y + i, y);
    (void)kept, (void)keep;
}

/* Sweeps one row while y of another is made, from where it may have been kept to where it is. */
LN_INLINE void step_both(const call *call, const keep *keep, sweep_sums *sums, const row *later,
                         const row *this, item *kept, centre centre)
{
    size_t i = 0, hidden = later->hidden;
    sweep_clear(sums);
    for (; hidden - i >= BLOCK; i += BLOCK) {
        LN_UNROLLED
        for (unsigned u = 0; u < UNROLL; u++) {
            step_apply(call, keep, this, kept, centre, i + u * LANES, LANES);
            step_sweep(keep, sums, later, kept, u, i + u * LANES, LANES);
        }
    }
    LN_UNROLLED
    for (unsigned u = 0; u < UNROLL; u++) {
        size_t at = i + u * LANES;
        if (hidden <= at)
            continue;
        step_apply(call, keep, this, kept, centre, at, hidden - at);
        step_sweep(keep, sums, later, kept, u, at, hidden - at);
    }
}

LN_INLINE void step_sweep_alone(const keep *keep, sweep_sums *sums, const row *row, item *kept)
{
    size_t hidden = row->hidden;
    sweep_clear(sums);
    for (size_t i = 0; i < hidden; i += BLOCK) {
        LN_UNROLLED
        for (unsigned u = 0; u < UNROLL; u++)
            if (hidden - i > u * LANES)
                step_sweep(keep, sums, row, kept, u, i + u * LANES, hidden - i - u * LANES);
    }
}

/* ---- From sums to what apply needs ---- */

LN_INLINE moments rank_moments(const rank *rank, size_t g)
{
    return (moments){rank->mean[g], rank->rest[g], rank->m2[g], 1};
}

LN_INLINE void rank_keep(const call *call, rank *rank, size_t g, moments found, factor rstd)
{
    item parts[CENTRE_PARTS];
    centre_parts(found, rstd, call->convention.quotient, parts);
    LN_UNROLLED
    for (size_t p = 0; p < CENTRE_PARTS; p++)
        rank->parts[p][g] = parts[p];
}

LN_INLINE centre rank_centre(const rank *rank, size_t g)
{
    item parts[CENTRE_PARTS];
    LN_UNROLLED
    for (size_t p = 0; p < CENTRE_PARTS; p++)
        parts[p] = rank->parts[p][g];
    return centre_of_parts(parts);
}

LN_INLINE void rank_look(const call *call, rank *rank)
{
    int regular = call->regular;
    LN_VECTORIZED
    for (size_t g = 0; g < RANK; g++) {
        item parts[CENTRE_PARTS];
        LN_UNROLLED
        for (size_t p = 0; p < CENTRE_PARTS; p++)
            parts[p] = rank->parts[p][g];
        regular &= centre_is_regular(parts);
    }
    rank->regular = regular;
}

/* Rows that have to be swept again, and what the caller wants to know. Rare, and given a copy of the
 * call: what it is given it might change, for all the compiler knows. */
LN_RARE void rank_again(call call, rank *rank)
{
    for (size_t g = 0; g < rank->count; g++) {
        moments found = rank_moments(rank, g);
        if (statistics_is_off(&call.statistics, found))
            found = sweep_again(call.statistics, call_row(&call, rank->first + g), found);
        factor rstd = convention_rstd(&call.convention, found);
        rank_keep(&call, rank, g, found, rstd);
        keep_moments(call.tensors, rank->first + g, found, rstd);
    }
    rank_look(&call, rank);
}

LN_INLINE void rank_piece(const call *call, rank *rank, size_t piece)
{
    if (piece == 0) {
        real sum[RANK], square[RANK];
        acc_sum_rows(rank->x, sum);
        acc_sum_rows(rank->square, square);
        LN_VECTORIZED
        for (size_t g = 0; g < RANK; g++) {
            moments found = statistics_found(&call->statistics, 0, sum[g], square[g]);
            rank->mean[g] = found.mean;
            rank->rest[g] = found.rest;
            rank->m2[g] = found.m2;
        }
    } else if (piece == 1) {
        LN_VECTORIZED
        for (size_t g = 0; g < RANK; g++)
            rank->rstd[g] = convention_std(&call->convention, rank_moments(rank, g));
    } else if (piece == 2) {
        LN_VECTORIZED
        for (size_t g = 0; g < RANK; g++)
            rank->rstd[g] = 1 / rank->rstd[g];
    } else if (piece == 3) {
        unsigned again = call->tensors->mean || call->tensors->rstd;
        LN_VECTORIZED
        for (size_t g = 0; g < RANK; g++)
            rank_keep(call, rank, g, rank_moments(rank, g), rank->rstd[g]);
        LN_VECTORIZED
        for (size_t g = 0; g < RANK; g++)
            again |= (unsigned)statistics_is_off(&call->statistics, rank_moments(rank, g));
        rank_look(call, rank);
        if (__builtin_expect(again != 0, 0))
            rank_again(*call, rank);
    }
}

/* ---- Turns ---- */

/* All of a turn, where its ranks are full: rows of `later` are kept where those of `this` were. */
LN_INLINE void turn_together(const call *call, const keep *keep, rank *later, rank *between,
                             const rank *this)
{
    row to_sweep = call_row(call, later->first), to_apply = call_row(call, this->first);
    item *kept = this->kept;
    for (size_t g = 0; g < RANK; g++) {
        sweep_sums sums;
        rank_piece(call, between, g);
        step_both(call, keep, &sums, &to_sweep, &to_apply, kept, rank_centre(this, g));
        later->x[g] = parts_sum(sums.x);
        later->square[g] = parts_sum(sums.square);
        row_advance(&to_sweep, &call->strides);
        row_advance(&to_apply, &call->strides);
        kept += keep->keeps ? KEPT_ROOM : 0;
    }
}

LN_INLINE void turn_apart(const call *call, const keep *keep, rank *later, rank *between,
                          const rank *this)
{
    for (size_t g = 0; this && g < this->count; g++) {
        const row row = call_row(call, this->first + g);
        apply_row(&row, &call->convention, rank_centre(this, g));
    }
    for (size_t piece = 0; between && piece < RANK; piece++)
        rank_piece(call, between, piece);
    for (size_t g = 0; later && g < RANK; g++) {
        sweep_sums sums;
        sweep_clear(&sums);
        if (g < later->count) {
            const row row = call_row(call, later->first + g);
            step_sweep_alone(keep, &sums, &row, later->kept + (keep->keeps ? g * KEPT_ROOM : 0));
        }
        later->x[g] = parts_sum(sums.x);
        later->square[g] = parts_sum(sums.square);
    }
}

LN_INLINE void run_ranks(const call *call, const keep *keep)
{
    rank ring[RING];
    size_t rows = call->problem->rows, ranks = (rows + RANK - 1) / RANK;
    rank *later = &ring[0], *between = &ring[1], *this = &ring[2];
    for (size_t t = 0; t < ranks + 2; t++) {
        later->first = t * RANK;
        later->count = rows - t * RANK < RANK ? rows - t * RANK : RANK;
        later->kept = keep->rows + (keep->keeps && t % 2 ? RANK * KEPT_ROOM : 0);
        if (t >= 2 && t < ranks && later->count == RANK && this->regular)
            turn_together(call, keep, later, between, this);
        else
            turn_apart(call, keep, t < ranks ? later : NULL, t >= 1 && t <= ranks ? between : NULL,
                       t >= 2 ? this : NULL);
        rank *free = this;
        this = between, between = later, later = free;
    }
}

LN_INLINE void run_call(const ln_problem *problem, const ln_tensors *tensors, ln_affine affine,
                        residual_form form, int keeps)
{
    call call = call_of(problem, tensors, affine, form, SUM_EARLY);
    _Alignas(64) item rows[KEPT_COLUMNS ? 2 * RANK * KEPT_ROOM : 1];
    _Alignas(64) item terms[KEPT_COLUMNS ? 2 * KEPT_COLUMNS : 1];
    const keep keep = {keeps, rows, terms};
    call.regular =
        problem->rows > FEW_ROWS && convention_is_regular(&call.convention, problem->hidden);
    for (size_t i = 0; keeps && i < problem->hidden; i += LANES) {
        affine_terms any = convention_terms_any(&call.convention, i, problem->hidden - i);
        item_store(terms + 2 * i, any.gamma);
        item_store(terms + 2 * i + LANES, any.beta);
    }
    run_ranks(&call, &keep);
}

LN_INLINE void schedule_run(const ln_problem *problem, const ln_tensors *tensors, ln_affine affine,
                            residual_form form)
{
    run_call(problem, tensors, affine, form, KEPT_COLUMNS > 0);
}

#ifdef LANE_LOAD_DEAR
#define SCHEDULE_LONG

LN_INLINE int schedule_is_long(const ln_problem *problem)
{
    return problem->hidden > KEPT_COLUMNS;
}

LN_INLINE void schedule_run_long(const ln_problem *problem, const ln_tensors *tensors,
                                 ln_affine affine, residual_form form)
{
    run_call(problem, tensors, affine, form, 0);
}
#endif

#endif

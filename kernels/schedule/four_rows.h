/* four_rows: four rows at a time, which share what is done once a row.
 * While y of the rows of one rank is made, one by one, those of the rank after the next are swept
 * in the same loop; before each row comes a piece of the chain of latencies (sums over lanes,
 * quotient and root, reciprocal, parts) of the rank between. For statistics retry, and for rows
 * of f16 that are too long for transposed. Reading f16 takes two operations a register, the second of
 * which shares its ports with permutations: so a row of up to KEPT_COLUMNS is kept as items from its
 * sweep on, gamma and beta are from the beginning, and y is made of what was kept.
 *
 * Measured: docs/lab/experiments.md, "four_rows". */
#ifndef LN_SCHEDULE_H
#define LN_SCHEDULE_H

#ifndef LN_STATISTICS_FILE
#define LN_STATISTICS_FILE "statistics/retry.h"
#endif

#include "schedule/call.h"

#ifndef STATISTICS_RETRY
#error "the schedule four_rows is for statistics that take no pivot, but look again (retry.h)"
#endif

enum {
    RANK = 4,     /* rows that acc_sum_rows() takes */
    RING = 3,     /* ranks on their way */
    FEW_ROWS = 8, /* gamma and beta are not looked through for so few */
    KEPT_COLUMNS = 1024,
    KEPT_ROOM = KEPT_COLUMNS + LANES, /* from one row to the next: not a multiple of a page */
};

/* What is kept as items; whether, is a constant of always-inline bodies. */
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
LN_INLINE void step_sweep(const keep *copies, sweep_sums *sums, const row *view, item *kept,
                          unsigned u, size_t i, size_t n)
{
    if (!copies->keeps) {
        sweep_add_vector(sums, view, acc_set(0), u, i, n, 0);
        return;
    }
    vec x = row_first(view, i, n);
    item_store(kept + i, x);
    sweep_add_one(sums, u, acc_of(x), acc_set(0), n, 0);
}

LN_INLINE void step_apply(ln_affine affine, const call *run, const keep *copies, const row *view,
                          const item *kept, centre by, size_t i, size_t n)
{
    vec y;
    if (copies->keeps) {
        y = centre_normalise_unshifted(by, item_load(kept + i));
        y = multiply_add(y, item_load(copies->terms + 2 * i),
                         item_load(copies->terms + 2 * i + LANES));
    } else {
        y = centre_normalise_unshifted(by, row_again(view, i, n));
        y = convention_finish(affine, &run->convention, y, i, n);
    }
    call_store(run, view->y + i, y, n, 1);
    (void)affine;
}

/* Sweeps one row while y of another is made, from where it may have been kept to where it is. */
LN_INLINE void step_both(ln_affine affine, const call *run, const keep *copies, sweep_sums *sums,
                         const row *later, const row *this, item *kept, centre by)
{
    size_t i = 0, hidden = later->hidden;
    sweep_clear(sums);
    for (; hidden - i >= BLOCK; i += BLOCK) {
        LN_UNROLLED
        for (unsigned u = 0; u < UNROLL; u++) {
            step_apply(affine, run, copies, this, kept, by, i + u * LANES, LANES);
            step_sweep(copies, sums, later, kept, u, i + u * LANES, LANES);
        }
    }
    LN_UNROLLED
    for (unsigned u = 0; u < UNROLL; u++) {
        size_t at = i + u * LANES;
        if (hidden <= at)
            continue;
        step_apply(affine, run, copies, this, kept, by, at, hidden - at);
        step_sweep(copies, sums, later, kept, u, at, hidden - at);
    }
}

LN_INLINE void step_sweep_alone(const keep *copies, sweep_sums *sums, const row *view, item *kept)
{
    size_t hidden = view->hidden;
    sweep_clear(sums);
    for (size_t i = 0; i < hidden; i += BLOCK) {
        LN_UNROLLED
        for (unsigned u = 0; u < UNROLL; u++)
            if (hidden - i > u * LANES)
                step_sweep(copies, sums, view, kept, u, i + u * LANES, hidden - i - u * LANES);
    }
}

/* ---- From sums to what apply needs ---- */

LN_INLINE moments rank_moments(const rank *four, size_t g)
{
    return (moments){four->mean[g], four->rest[g], four->m2[g], 1};
}

LN_INLINE void rank_keep(const call *run, rank *four, size_t g, moments found, factor rstd)
{
    item parts[CENTRE_PARTS];
    centre_parts(found, rstd, run->convention.quotient, parts);
    LN_UNROLLED
    for (size_t p = 0; p < CENTRE_PARTS; p++)
        four->parts[p][g] = parts[p];
}

LN_INLINE centre rank_centre(const rank *four, size_t g)
{
    item parts[CENTRE_PARTS];
    LN_UNROLLED
    for (size_t p = 0; p < CENTRE_PARTS; p++)
        parts[p] = four->parts[p][g];
    return centre_of_parts(parts);
}

LN_INLINE void rank_look(const call *run, rank *four)
{
    int regular = run->regular;
    LN_VECTORIZED
    for (size_t g = 0; g < RANK; g++) {
        item parts[CENTRE_PARTS];
        LN_UNROLLED
        for (size_t p = 0; p < CENTRE_PARTS; p++)
            parts[p] = four->parts[p][g];
        regular &= centre_is_regular(parts);
    }
    four->regular = regular;
}

/* Rows that have to be swept again, and what the caller wants to know. Rare, and given a copy of the
 * call: what it is given it might change, for all the compiler knows. */
LN_RARE void rank_again(call run, rank *four)
{
    for (size_t g = 0; g < four->count; g++) {
        moments found = rank_moments(four, g);
        if (statistics_is_off(&run.statistics, found))
            found = sweep_again(run.statistics, call_row(&run, four->first + g), found);
        factor rstd = convention_rstd(&run.convention, found);
        rank_keep(&run, four, g, found, rstd);
        keep_moments(run.tensors, four->first + g, found, rstd);
    }
    rank_look(&run, four);
}

LN_INLINE void rank_piece(const call *run, rank *four, size_t piece)
{
    if (piece == 0) {
        real sum[RANK], square[RANK];
        acc_sum_rows(four->x, sum);
        acc_sum_rows(four->square, square);
        LN_VECTORIZED
        for (size_t g = 0; g < RANK; g++) {
            moments found = statistics_found(&run->statistics, 0, sum[g], square[g]);
            four->mean[g] = found.mean;
            four->rest[g] = found.rest;
            four->m2[g] = found.m2;
        }
    } else if (piece == 1) {
        LN_VECTORIZED
        for (size_t g = 0; g < RANK; g++)
            four->rstd[g] = convention_std(&run->convention, rank_moments(four, g));
    } else if (piece == 2) {
        LN_VECTORIZED
        for (size_t g = 0; g < RANK; g++)
            four->rstd[g] = 1 / four->rstd[g];
    } else if (piece == 3) {
        unsigned again = run->tensors->mean || run->tensors->rstd;
        LN_VECTORIZED
        for (size_t g = 0; g < RANK; g++)
            rank_keep(run, four, g, rank_moments(four, g), four->rstd[g]);
        LN_VECTORIZED
        for (size_t g = 0; g < RANK; g++)
            again |= (unsigned)statistics_is_off(&run->statistics, rank_moments(four, g));
        rank_look(run, four);
        if (__builtin_expect(again != 0, 0))
            rank_again(*run, four);
    }
}

/* ---- Turns ---- */

/* All of a turn, where its ranks are full: rows of `later` are kept where those of `this` were. */
LN_INLINE void turn_together(ln_affine affine, const call *run, const keep *copies, rank *later,
                             rank *between, const rank *this)
{
    row to_sweep = call_row(run, later->first), to_apply = call_row(run, this->first);
    item *kept = this->kept;
    for (size_t g = 0; g < RANK; g++) {
        sweep_sums sums;
        rank_piece(run, between, g);
        step_both(affine, run, copies, &sums, &to_sweep, &to_apply, kept, rank_centre(this, g));
        later->x[g] = parts_sum(sums.x);
        later->square[g] = parts_sum(sums.square);
        row_advance(&to_sweep, &run->strides);
        row_advance(&to_apply, &run->strides);
        kept += copies->keeps ? KEPT_ROOM : 0;
    }
}

LN_INLINE void turn_by_affine(const call *run, const keep *copies, rank *later, rank *between,
                              const rank *this)
{
    if (copies->keeps) /* gamma and beta in any form are kept */
        turn_together(FORM_USUAL, run, copies, later, between, this);
    else
        LN_BY_AFFINE(&run->convention, turn_together, run, copies, later, between, this);
}

LN_INLINE void turn_apart(const call *run, const keep *copies, rank *later, rank *between,
                          const rank *this)
{
    for (size_t g = 0; this && g < this->count; g++) {
        const row view = call_row(run, this->first + g);
        apply_row(&view, &run->convention, rank_centre(this, g));
    }
    for (size_t piece = 0; between && piece < RANK; piece++)
        rank_piece(run, between, piece);
    for (size_t g = 0; later && g < RANK; g++) {
        sweep_sums sums;
        sweep_clear(&sums);
        if (g < later->count) {
            const row view = call_row(run, later->first + g);
            step_sweep_alone(copies, &sums, &view,
                             later->kept + (copies->keeps ? g * KEPT_ROOM : 0));
        }
        later->x[g] = parts_sum(sums.x);
        later->square[g] = parts_sum(sums.square);
    }
}

LN_INLINE void run_ranks(const call *run, const keep *copies)
{
    rank ring[RING];
    size_t rows = run->problem->rows, ranks = (rows + RANK - 1) / RANK;
    rank *later = &ring[0], *between = &ring[1], *this = &ring[2];
    for (size_t t = 0; t < ranks + 2; t++) {
        later->first = t * RANK;
        later->count = rows - t * RANK < RANK ? rows - t * RANK : RANK;
        later->kept = copies->rows + (copies->keeps && t % 2 ? RANK * KEPT_ROOM : 0);
        if (t >= 2 && t < ranks && later->count == RANK && this->regular)
            turn_by_affine(run, copies, later, between, this);
        else
            turn_apart(run, copies, t < ranks ? later : NULL, t >= 1 && t <= ranks ? between : NULL,
                       t >= 2 ? this : NULL);
        rank *free = this;
        this = between, between = later, later = free;
    }
}

LN_INLINE void run_call(const ln_problem *problem, const ln_tensors *tensors, ln_affine affine,
                        residual_form form, int keeps)
{
    call run = call_of(problem, tensors, affine, form);
    _Alignas(64) item rows[2 * RANK * KEPT_ROOM];
    _Alignas(64) item terms[2 * KEPT_COLUMNS];
    const keep copies = {keeps, rows, terms};
    run.regular =
        problem->rows > FEW_ROWS && convention_is_regular(&run.convention, problem->hidden);
    for (size_t i = 0; keeps && i < problem->hidden; i += LANES) {
        affine_terms any = convention_terms_any(&run.convention, i, problem->hidden - i);
        item_store(terms + 2 * i, any.gamma);
        item_store(terms + 2 * i + LANES, any.beta);
    }
    run_ranks(&run, &copies);
}

LN_INLINE void schedule_run(const ln_problem *problem, const ln_tensors *tensors, ln_affine affine,
                            residual_form form)
{
    run_call(problem, tensors, affine, form, 1);
}

#define SCHEDULE_LONG

LN_INLINE int schedule_is_long(const ln_problem *problem, residual_form form)
{
    (void)form;
    return problem->hidden > KEPT_COLUMNS;
}

LN_INLINE void schedule_run_long(const ln_problem *problem, const ln_tensors *tensors,
                                 ln_affine affine, residual_form form)
{
    run_call(problem, tensors, affine, form, 0);
}

#endif

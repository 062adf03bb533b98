/* row_pairs: y of two rows side by side, so that they share gamma and beta, while two later ones are
 * swept, vector by vector in the same loop. For statistics retry, and for 16-bit storage before
 * all, where work counts more than memory: what a copy does to 32 elements is one load and one
 * store, and there are two registers of f32 in them.
 *
 * Measured: docs/experiments.md, "row_pairs". */
#ifndef LN_SCHEDULE_H
#define LN_SCHEDULE_H

#ifndef LN_STATISTICS_FILE
#define LN_STATISTICS_FILE "statistics/retry.h"
#endif

#include "schedule/call.h"

#ifndef STATISTICS_RETRY
#error "the schedule row_pairs is for statistics that take no pivot, but look again (retry.h)"
#endif

enum {
    PAIR = 2,
    RING = 5,           /* pairs on their way */
    SHORT_BYTES = 1536, /* rows of so many wait in L1 for longer */
    FULL_BYTES = 4096,  /* where rows in pairs fill L1 */
    FEW_ROWS = 8,       /* gamma and beta are not looked through for so few */
    FETCH_BYTES = 8192, /* x is fetched so far ahead of its sweep, where y goes around the caches */
};

/* Two rows, from their sweep to what apply needs of them. */
typedef struct pair {
    acc parts[2 * PAIR]; /* of both rows' sums, then of their squares' */
    real sums[2 * PAIR];
    item centres[PAIR][CENTRE_PARTS];
    int regular; /* both rows */
#ifdef CENTRE_CHECKED
    moments found[PAIR];
    factor rstds[PAIR];
#endif
} pair;

LN_INLINE void pair_keep(pair *two, const sweep_sums sums[PAIR])
{
    LN_UNROLLED
    for (size_t g = 0; g < PAIR; g++) {
        two->parts[g] = parts_sum(sums[g].x);
        two->parts[PAIR + g] = parts_sum(sums[g].square);
    }
}

LN_INLINE void pair_sweep(const call *run, pair *two, size_t first)
{
    sweep_sums sums[PAIR];
    LN_UNROLLED
    for (size_t g = 0; g < PAIR; g++) {
        const row view = call_row(run, first + g);
        size_t i = 0;
        sweep_clear(&sums[g]);
        for (; view.hidden - i >= BLOCK; i += BLOCK)
            sweep_add(&sums[g], &view, acc_set(0), i, BLOCK, 0);
        sweep_add(&sums[g], &view, acc_set(0), i, view.hidden - i, 0);
    }
    pair_keep(two, sums);
}

/* From sums to what apply needs. */
LN_INLINE void pair_finish(const call *run, pair *two, size_t first)
{
    two->regular = run->regular;
    LN_UNROLLED
    for (size_t g = 0; g < PAIR; g++) {
        moments found = statistics_found(&run->statistics, 0, two->sums[g], two->sums[PAIR + g]);
        /* As sweep_final(), but that the row is not made before it is known to be needed: 7 % at
         * hidden 64. */
        if (__builtin_expect(statistics_is_off(&run->statistics, found), 0))
            found = sweep_again(run->statistics, call_row(run, first + g), found);
        factor rstd = convention_rstd(&run->convention, found);
        keep_moments(run->tensors, first + g, found, rstd);
        centre_parts(found, rstd, run->convention.quotient, two->centres[g]);
        two->regular &= centre_is_regular(two->centres[g]);
#ifdef CENTRE_CHECKED
        two->regular &= !centre_is_strange(found, rstd, run->convention.quotient);
        two->found[g] = found;
        two->rstds[g] = rstd;
#endif
    }
}

/* One vector of y of both rows. Gamma and beta are loaded once: no store comes between. */
LN_INLINE void pair_vector(ln_affine affine, const call *run, const row rows[PAIR],
                           const centre centres[PAIR], size_t i, size_t n)
{
    normalised xhat[PAIR];
    vec y[PAIR];
    LN_UNROLLED
    for (size_t g = 0; g < PAIR; g++)
        xhat[g] = centre_normalise_unshifted(centres[g], row_again(&rows[g], i, n));
    LN_UNROLLED
    for (size_t g = 0; g < PAIR; g++)
        y[g] = convention_finish(affine, &run->convention, xhat[g], i, n);
    LN_UNROLLED
    for (size_t g = 0; g < PAIR; g++)
        call_store(run, rows[g].y + i, y[g], n, 1);
}

/* The same, and a vector of the rows that are swept, to the sums number u. */
LN_INLINE void pair_step(ln_affine affine, const call *run, sweep_sums sums[PAIR],
                         const row to_sweep[PAIR], const row to_apply[PAIR],
                         const centre centres[PAIR], unsigned u, size_t i, size_t n)
{
    LN_UNROLLED
    for (size_t g = 0; g < PAIR; g++) {
#if LN_NONTEMPORAL
        __builtin_prefetch((const void *)((uintptr_t)(to_sweep[g].x + i) + FETCH_BYTES), 0, 3);
#endif
        sweep_add_vector(&sums[g], &to_sweep[g], acc_set(0), u, i, n, 0);
    }
    pair_vector(affine, run, to_apply, centres, i, n);
}

/* Sweeps the rows from number `later` on while y of those from `this` on is made. */
LN_INLINE void pair_both(ln_affine affine, const call *run, pair *total, size_t later,
                         const pair *applied, size_t this)
{
    sweep_sums sums[PAIR];
    row to_sweep[PAIR], to_apply[PAIR];
    centre centres[PAIR];
    LN_UNROLLED
    for (size_t g = 0; g < PAIR; g++) {
        sweep_clear(&sums[g]);
        to_sweep[g] = call_row(run, later + g);
        to_apply[g] = call_row(run, this + g);
        centres[g] = centre_of_parts(applied->centres[g]);
    }
    size_t i = 0, hidden = run->problem->hidden;
    for (; hidden - i >= BLOCK; i += BLOCK) {
        LN_UNROLLED
        for (unsigned u = 0; u < UNROLL; u++)
            pair_step(affine, run, sums, to_sweep, to_apply, centres, u, i + u * LANES, LANES);
    }
    LN_UNROLLED
    for (unsigned u = 0; u < UNROLL; u++)
        if (hidden - i > u * LANES)
            pair_step(affine, run, sums, to_sweep, to_apply, centres, u, i + u * LANES,
                      hidden - i - u * LANES);
    pair_keep(total, sums);
}

LN_INLINE centre pair_centre(const call *run, const pair *two, size_t g)
{
#ifdef CENTRE_CHECKED
    return centre_of(two->found[g], two->rstds[g], run->convention.quotient);
#else
    (void)run;
    return centre_of_parts(two->centres[g]);
#endif
}

LN_INLINE void pair_apply(const call *run, const pair *two, size_t first)
{
    for (size_t g = 0; g < PAIR; g++) {
        const row view = call_row(run, first + g);
        apply_row(&view, &run->convention, pair_centre(run, two, g));
    }
}

/* Pair t is swept in turn t, and its y made in turn t + lag. In between its lanes are summed up, and
 * its centres found: behind different turns where lag is more than 1, so that the chain of latencies
 * is in pieces. Rows of f32 with sums of f64 leave L1 before that pays. */
LN_INLINE size_t pairs_lag(size_t bytes)
{
    if (WIDE)
        return bytes < FULL_BYTES ? 2 : 1;
    return bytes <= SHORT_BYTES ? RING - 1 : 3;
}

LN_INLINE void run_pairs(const call *run, size_t pairs)
{
    pair ring[RING];
    size_t lag = pairs_lag(run->problem->hidden * sizeof(storage));
    for (size_t t = 0; t < pairs + lag; t++) {
        pair *later = &ring[t % RING], *this = &ring[(t - lag) % RING];
        int sweeps = t < pairs, applies = t >= lag;
        if (sweeps && applies && this->regular) {
            LN_BY_AFFINE(&run->convention, pair_both, run, later, t * PAIR, this, (t - lag) * PAIR);
        } else {
            if (sweeps)
                pair_sweep(run, later, t * PAIR);
            if (applies)
                pair_apply(run, this, (t - lag) * PAIR);
        }
        size_t summed = lag > 2, finished = lag > 2 ? 2 : lag - 1;
        if (t >= summed && t < pairs + summed)
            acc_sum_rows(ring[(t - summed) % RING].parts, ring[(t - summed) % RING].sums);
        if (t >= finished && t < pairs + finished)
            pair_finish(run, &ring[(t - finished) % RING], (t - finished) * PAIR);
    }
}

LN_INLINE void schedule_run(const ln_problem *problem, const ln_tensors *tensors, ln_affine affine,
                            residual_form form)
{
    call run = call_of(problem, tensors, affine, form);
    run.regular = (problem->rows > FEW_ROWS || sizeof(storage) == sizeof(item)) &&
                  convention_is_regular(&run.convention, problem->hidden);
#if LN_NONTEMPORAL
    run.streams = rows_begin_lines(problem, tensors);
#endif
    size_t pairs = problem->rows / PAIR;
    if (pairs > 0)
        run_pairs(&run, pairs);
    if (pairs * PAIR < problem->rows)
        run_row(&run, pairs * PAIR);
}

#endif

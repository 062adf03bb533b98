/* row_pairs: y of two rows is computed together, so that they share gamma and beta, while two later ones are
 * swept, vector by vector in the same loop. For the statistics `retry`, and mainly for 16-bit storage, where arithmetic
 * takes more time than memory: a copy of 32 elements takes one load and one store, but they are two registers of f32.
 *
 * Measured: docs/lab/experiments.md, "row_pairs". */
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
    RING = 5,           /* pairs that are swept but not yet applied */
    SHORT_BYTES = 2048, /* rows of at most this size may wait in L1 for longer */
    FULL_BYTES = 4096,  /* from this size on, pairs of rows fill L1 */
    FEW_ROWS = 8,       /* for fewer rows gamma and beta are not tested (regular) */
    FETCH_BYTES = 8192, /* the distance of the fetches of x, if y is stored around the caches */
};

/* For functions that run only at the ends of a call and for rows that are not regular. Inlining them makes calls of few
 * rows 5 to 10 % faster. But such calls do not use the kernels that store around the caches, and with 32 lanes and f64
 * sums the inlined code would be three quarters of the kernel. */
#if LN_NONTEMPORAL || (SUMS_ARE_LONGER && LN_LANES == 32)
#define PAIR_INLINE LN_APART
#else
#define PAIR_INLINE LN_INLINE
#endif

/* A single pair cannot be swept together with another one. */
#if !LN_NONTEMPORAL
#define SCHEDULE_FEW 3
#endif

/* Two rows: their sums, and then the numbers that apply needs. */
typedef struct pair {
    sweep_total parts[2 * PAIR]; /* both rows' sums, then their sums of squares */
    real sums[2 * PAIR];
    item centres[CENTRE_PARTS][PAIR];
    int regular; /* both rows are */
    int again;   /* pair_look_again() is needed: found and rstds are set */
#ifdef CENTRE_CHECKED
    moments found[PAIR];
    factor rstds[PAIR];
#endif
} pair;

LN_INLINE void pair_keep(pair *two, const sweep_sums sums[PAIR])
{
    LN_UNROLLED
    for (size_t g = 0; g < PAIR; g++)
        sweep_sums_of(&sums[g], 0, &two->parts[g], &two->parts[PAIR + g]);
}

PAIR_INLINE void pair_sweep(const call *run, pair *two, size_t first)
{
    sweep_sums sums[PAIR];
    LN_UNROLLED
    for (size_t g = 0; g < PAIR; g++) {
        const row view = call_row(run, first + g);
        sweep_alone(&sums[g], &view, 0, 0, 0);
    }
    pair_keep(two, sums);
}

/* Handles rows that must be swept again or are not regular, and writes mean and rstd. It gets a copy of the call, which
 * the compiler then knows to be unchanged. */
LN_RARE void pair_look_again(call run, pair *two, size_t first)
{
    two->regular = run.regular;
    two->again = 1;
    for (size_t g = 0; g < PAIR; g++) {
        moments found = statistics_found(&run.statistics, 0, two->sums[g], two->sums[PAIR + g]);
        found = sweep_final(&run.statistics, call_row(&run, first + g), found);
        factor rstd = convention_rstd(&run.convention, found);
        item parts[CENTRE_PARTS];
        keep_moments(run.tensors, first + g, found, rstd);
        centre_parts(found, rstd, run.convention.quotient, parts);
        for (size_t p = 0; p < CENTRE_PARTS; p++)
            two->centres[p][g] = parts[p];
        two->regular &= centre_is_regular(parts);
#ifdef CENTRE_CHECKED
        two->regular &= !centre_is_strange(found, rstd, run.convention.quotient);
        two->found[g] = found;
        two->rstds[g] = rstd;
#endif
    }
}

LN_INLINE centre pair_parts(const pair *two, size_t g)
{
    item parts[CENTRE_PARTS];
    LN_UNROLLED
    for (size_t p = 0; p < CENTRE_PARTS; p++)
        parts[p] = two->centres[p][g];
    return centre_of_parts(parts);
}

/* Computes the centres of `rows` rows (a constant: one pair or two). Each step is a separate loop that compilers
 * vectorise: scalar, this takes a third of the time of rows of 256 elements. */
LN_INLINE void pairs_finish_of(const call *run, size_t rows, pair *const pairs[], size_t first)
{
    enum { ROWS = 2 * PAIR };
    real sum[ROWS], square[ROWS], rest[ROWS], m2[ROWS];
    factor std[ROWS], rstd[ROWS];
    item parts[CENTRE_PARTS][ROWS];
    int off = 0, regular = 1;
    LN_UNROLLED
    for (size_t g = 0; g < rows; g++) {
        sum[g] = pairs[g / PAIR]->sums[g % PAIR];
        square[g] = pairs[g / PAIR]->sums[PAIR + g % PAIR];
    }
    LN_VECTORIZED
    for (size_t g = 0; g < rows; g++) {
        moments found = statistics_found(&run->statistics, 0, sum[g], square[g]);
        rest[g] = found.rest;
        m2[g] = found.m2;
    }
    LN_VECTORIZED
    for (size_t g = 0; g < rows; g++)
        std[g] = convention_std(&run->convention, (moments){0, rest[g], m2[g], 1});
    LN_VECTORIZED
    for (size_t g = 0; g < rows; g++)
        off |= statistics_is_off(&run->statistics, (moments){0, rest[g], m2[g], 1});
    LN_VECTORIZED
    for (size_t g = 0; g < rows; g++)
        rstd[g] = 1 / std[g];
    LN_VECTORIZED
    for (size_t g = 0; g < rows; g++) {
        item of_row[CENTRE_PARTS];
        centre_parts((moments){0, rest[g], m2[g], 1}, rstd[g], run->convention.quotient, of_row);
        LN_UNROLLED
        for (size_t p = 0; p < CENTRE_PARTS; p++)
            parts[p][g] = of_row[p];
        regular &= centre_is_regular(of_row);
    }
#ifdef CENTRE_CHECKED
    LN_VECTORIZED
    for (size_t g = 0; g < rows; g++)
        regular &=
            !centre_is_strange((moments){0, rest[g], m2[g], 1}, rstd[g], run->convention.quotient);
#endif
    LN_UNROLLED
    for (size_t g = 0; g < rows; g++) {
        LN_UNROLLED
        for (size_t p = 0; p < CENTRE_PARTS; p++)
            pairs[g / PAIR]->centres[p][g % PAIR] = parts[p][g];
        pairs[g / PAIR]->regular = run->regular & regular;
        pairs[g / PAIR]->again = 0;
    }
    if (__builtin_expect(off | !regular, 0)) {
        for (size_t g = 0; g < rows; g += PAIR)
            pair_look_again(*run, pairs[g / PAIR], first + g);
    } else if (run->tensors->mean || run->tensors->rstd) {
        for (size_t g = 0; g < rows; g++)
            keep_moments(run->tensors, first + g, (moments){0, rest[g], m2[g], 1}, rstd[g]);
    }
}

/* The same for one pair, not inlined. */
LN_APART void pair_finish(const call *run, pair *one, size_t first)
{
    pairs_finish_of(run, PAIR, (pair *const[]){one}, first);
}

LN_APART void pairs_finish(const call *run, pair *one, pair *other, size_t first)
{
    pairs_finish_of(run, 2 * PAIR, (pair *const[]){one, other}, first);
}

/* Computes one vector of y of both rows. Gamma and beta are loaded once, since there is no store between. */
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

/* The same, and adds a vector of the rows that are swept to the sums number u. */
LN_INLINE void pair_step(ln_affine affine, const call *run, sweep_sums sums[PAIR],
                         const row to_sweep[PAIR], const row to_apply[PAIR],
                         const centre centres[PAIR], unsigned u, size_t i, size_t n)
{
    LN_UNROLLED
    for (size_t g = 0; g < PAIR; g++) {
#if LN_NONTEMPORAL
        /* i % LINE == 0, as a constant where a block is whole lines */
        if ((size_t)BLOCK < LINE ? i % LINE == 0 : u * LANES % LINE == 0)
            fetch_line((uintptr_t)(to_sweep[g].x + i) + FETCH_BYTES, run->to_l2);
#endif
        sweep_add_vector(&sums[g], &to_sweep[g], acc_set(0), u, i, n, 0);
    }
    pair_vector(affine, run, to_apply, centres, i, n);
}

LN_INLINE void pair_chunk(sweep_sums sums[PAIR], size_t i)
{
    LN_UNROLLED
    for (size_t g = 0; g < PAIR; g++)
        sweep_chunk(&sums[g], 0, i);
}

/* Sweeps the rows from number `later` on while y of those from `this` on is computed. */
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
        centres[g] = pair_parts(applied, g);
    }
    size_t i = 0, hidden = run->problem->hidden;
    for (; hidden - i >= BLOCK; i += BLOCK) {
        pair_chunk(sums, i);
        LN_UNROLLED
        for (unsigned u = 0; u < UNROLL; u++)
            pair_step(affine, run, sums, to_sweep, to_apply, centres, u, i + u * LANES, LANES);
    }
    pair_chunk(sums, i);
    LN_UNROLLED
    for (unsigned u = 0; u < UNROLL; u++)
        if (hidden - i > u * LANES)
            pair_step(affine, run, sums, to_sweep, to_apply, centres, u, i + u * LANES,
                      hidden - i - u * LANES);
    pair_keep(total, sums);
}

PAIR_INLINE void pair_apply(const call *run, const pair *two, size_t first)
{
    for (size_t g = 0; g < PAIR; g++) {
        const row view = call_row(run, first + g);
        centre by = pair_parts(two, g);
#ifdef CENTRE_CHECKED
        if (two->again)
            by = centre_of(two->found[g], two->rstds[g], run->convention.quotient);
#endif
        if (LN_NONTEMPORAL) /* without a copy of the loop for the usual form */
            apply_row_as(run->convention.affine, &view, &run->convention, by);
        else
            apply_row(&view, &run->convention, by);
    }
}

/* Returns the lag: pair t is swept in turn t, and its y is computed in turn t + lag. In between the lanes of its sums
 * are added and its centres computed: after different turns if lag is above 1, so that the chain of latencies
 * is divided, and for two pairs at once if lag is the largest. Long rows would leave L1 with a larger lag. */
LN_INLINE size_t pairs_lag(size_t bytes)
{
    if (bytes <= SHORT_BYTES)
        return RING - 1;
    return WIDE ? (bytes < FULL_BYTES ? 2 : 1) : 3;
}

#if LN_NONTEMPORAL
/* On Intel a fetch to L1 is 5 to 10 % faster for long rows (docs/lab/experiments.md, "fetch"). */
LN_INLINE int pairs_fetch_to_l2(size_t bytes)
{
#if defined(__x86_64__)
    if (__builtin_cpu_is("intel"))
        return bytes < FULL_BYTES;
#endif
    return fetches_to_l2();
}
#endif

/* Does the steps after turn t. */
LN_INLINE void pairs_between(const call *run, pair ring[RING], size_t pairs, size_t lag, size_t t)
{
    size_t summed = lag > 2, finished = lag > 2 ? 2 : lag - 1;
    if (t >= summed && t < pairs + summed)
        sweep_total_sum_rows(ring[(t - summed) % RING].parts, ring[(t - summed) % RING].sums);
    if (lag < RING - 1) {
        pair *done = &ring[(t - finished) % RING];
        if (t >= finished && t < pairs + finished)
            pair_finish(run, done, (t - finished) * PAIR);
    } else if (t % 2 && t >= 3 && t < pairs + 3) {
        pair *one = &ring[(t - 3) % RING];
        if (t - 2 < pairs)
            pairs_finish(run, one, &ring[(t - 2) % RING], (t - 3) * PAIR);
        else
            pair_finish(run, one, (t - 3) * PAIR);
    }
}

LN_INLINE void run_pairs(const call *run, size_t pairs, ln_affine affine, residual_form form)
{
    pair ring[RING];
    size_t lag = pairs_lag(run->problem->hidden * sizeof(storage));
    for (size_t t = 0; t < pairs + lag; t++) {
        pair *later = &ring[t % RING], *this = &ring[(t - lag) % RING];
        int sweeps = t < pairs, applies = t >= lag;
        /* These are constants, but gcc for AArch64 assumes that a function that is not inlined may have changed
         * them. */
        if (run->convention.affine != affine || run->convention.form != form || run->form != form)
            __builtin_unreachable();
        if (sweeps && applies && this->regular) {
            LN_BY_AFFINE(&run->convention, pair_both, run, later, t * PAIR, this, (t - lag) * PAIR);
        } else {
            if (sweeps)
                pair_sweep(run, later, t * PAIR);
            if (applies)
                pair_apply(run, this, (t - lag) * PAIR);
        }
        pairs_between(run, ring, pairs, lag, t);
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
    run.to_l2 = pairs_fetch_to_l2(problem->hidden * sizeof(storage));
#endif
    size_t pairs = problem->rows / PAIR;
    if (pairs > 0)
        run_pairs(&run, pairs, affine, form);
    if (pairs * PAIR < problem->rows)
        run_row(&run, pairs * PAIR);
}

#endif

/* abreast: y of two rows side by side, so that they share gamma and beta, while two later ones are
 * swept, vector by vector in the same loop. For checked statistics, and for 16-bit storage before
 * all, where work counts more than memory: what a copy does to 32 elements is one load and one
 * store, and there are two registers of f32 in them.
 *
 * What 32 elements of bf16 cost (AVX512-BF16, Zen 5: four vector pipes, two of them for fused
 * operations): 2 sums of products of pairs (checked.h; shifted takes a shift and an and to widen, 2
 * subtractions, 2 additions, 2 fused), 2 to widen x, 4 fused, 2 to narrow and 1 to put the halves
 * in order; gamma and beta 4 to widen, once for both rows: 13 operations, so 3.3 cycles, where a
 * copy from L2 takes 2.1. From L2 an f32 vector takes 0.8 cycles more than from L1 (pipelined.h):
 * about 4.1, half of the copy, was what could be expected; that is what long rows take without what
 * is done once a row. Two more operations, 0.55 cycles measured, are to look whether a number came
 * out as 0 that the conversion took for one (bf16_converted()): rows of which that can be ruled out
 * do without (convention_is_regular()). Of f16, whose conversions are two operations each, 32
 * elements cost 24: 6 cycles.
 *
 * Prototypes, in cycles for 32 elements from L2 (a copy: 2.1), at hidden 768 with what is done once
 * a row, and of rows of 3200, in one run:
 *     8.7  7.1   shifted and split, one row swept, one applied
 *     7.9  6.2   one fused operation for x rstd + addend
 *     7.4  5.7   and gamma and beta widened before the first row, into 8 bytes a column: 6 loads
 *                instead of 4 take what 4 operations less gain, and from 4096 on they leave L1
 *     6.6  5.0   sums of products of pairs; gamma and beta from bf16
 *     6.1  4.6   both
 *     5.5  4.6   two rows abreast, sums of products; with gamma and beta widened before: 5.4
 *     5.4  4.7   four rows abreast: less to widen, but four more streams
 * (the second column of the last two in the best of rounds: rows of 6400 bytes abreast fall into
 * the same sets of L1 now and then). What is done once a row is a chain of latencies, 130 cycles,
 * while a row of 768 is 24 vectors. Here, at hidden 768 as shares of the copy (fused: 0.22):
 *     0.30  the chain of the pair between at the end of each turn, its result needed in the next
 *     0.37  in two parts, a turn apart, and needed a turn later: each fits into the reorder buffer
 *     0.41  without the look for zeros
 * Short rows stay behind (0.27 at hidden 256): a pair costs some 50 cycles beside its elements. In
 * f32, two rows abreast are better than pipelined at hidden 256 (by 5 %), and worse at 768
 * (by 30 %), where four streams more are felt. */
#ifndef LN_SCHEDULE_H
#define LN_SCHEDULE_H

#include "schedule/call.h"

#ifndef STATISTICS_CHECKED
#error "the schedule abreast is for statistics that take no pivot, but look again (checked.h)"
#endif

enum {
    PAIR = 2,
    RING = 5,           /* pairs on their way */
    SHORT_BYTES = 1536, /* rows of so many wait in L1 for longer */
    FEW_ROWS = 8,       /* gamma and beta are not looked through for so few */
};

/* Two rows, from their sweep to what apply needs of them. */
typedef struct pair {
    acc parts[2 * PAIR]; /* of both rows' sums, then of their squares' */
    real sums[2 * PAIR];
    item centres[PAIR][CENTRE_PARTS];
    int regular; /* both rows */
} pair;

LN_INLINE void pair_keep(pair *pair, const sweep_sums sums[PAIR])
{
    LN_UNROLLED
    for (size_t g = 0; g < PAIR; g++) {
        pair->parts[g] = parts_sum(sums[g].x);
        pair->parts[PAIR + g] = parts_sum(sums[g].square);
    }
}

LN_INLINE void pair_sweep(const call *call, pair *pair, size_t first)
{
    sweep_sums sums[PAIR];
    LN_UNROLLED
    for (size_t g = 0; g < PAIR; g++) {
        const row row = call_row(call, first + g);
        size_t i = 0;
        sweep_clear(&sums[g]);
        for (; row.hidden - i >= BLOCK; i += BLOCK)
            sweep_add(&sums[g], &row, acc_set(0), i, BLOCK, 0);
        sweep_add(&sums[g], &row, acc_set(0), i, row.hidden - i, 0);
    }
    pair_keep(pair, sums);
}

/* From sums to what apply needs. */
LN_INLINE void pair_finish(const call *call, pair *pair, size_t first)
{
    pair->regular = call->regular;
    LN_UNROLLED
    for (size_t g = 0; g < PAIR; g++) {
        moments found = statistics_found(&call->statistics, 0, pair->sums[g], pair->sums[PAIR + g]);
        found = sweep_final(&call->statistics, call_row(call, first + g), found);
        factor rstd = convention_rstd(&call->convention, found);
        keep_moments(call->tensors, first + g, found, rstd);
        centre_parts(found, rstd, call->convention.quotient, pair->centres[g]);
        pair->regular &= centre_is_regular(pair->centres[g]);
    }
}

LN_INLINE void pair_store(const call *call, storage *p, vec a, size_t n)
{
    if (n < LANES)
        lane_store_first(p, a, n);
#ifdef LN_NONTEMPORAL
    else if (call->streams)
        lane_stream_regular(p, a);
#endif
    else
        lane_store_regular(p, a);
    (void)call;
}

/* One vector of y of both rows. Gamma and beta are loaded once: no store comes between. */
LN_INLINE void pair_vector(const call *call, const row rows[PAIR], const centre centres[PAIR],
                           size_t i, size_t n)
{
    vec y[PAIR];
    affine_terms terms = convention_terms(&call->convention, i, n);
    LN_UNROLLED
    for (size_t g = 0; g < PAIR; g++) {
        vec xhat = centre_normalise_unshifted(centres[g], row_last(&rows[g], i, n));
        y[g] = convention_finish_with(&call->convention, xhat, terms);
    }
    LN_UNROLLED
    for (size_t g = 0; g < PAIR; g++)
        pair_store(call, rows[g].y + i, y[g], n);
}

/* The same, and a vector of the rows that are swept, to the sums number u. */
LN_INLINE void pair_step(const call *call, sweep_sums sums[PAIR], const row to_sweep[PAIR],
                         const row to_apply[PAIR], const centre centres[PAIR], unsigned u, size_t i,
                         size_t n)
{
    LN_UNROLLED
    for (size_t g = 0; g < PAIR; g++) {
#ifdef LN_NONTEMPORAL
        __builtin_prefetch((const void *)((uintptr_t)(to_sweep[g].x + i) + FETCH_BYTES), 0, 3);
#endif
        sweep_add_vector(&sums[g], &to_sweep[g], acc_set(0), u, i, n, 0);
    }
    pair_vector(call, to_apply, centres, i, n);
}

/* Sweeps the rows from number `later` on while y of those from `this` on is made. */
LN_INLINE void pair_both(const call *call, pair *swept, size_t later, const pair *applied,
                         size_t this)
{
    sweep_sums sums[PAIR];
    row to_sweep[PAIR], to_apply[PAIR];
    centre centres[PAIR];
    LN_UNROLLED
    for (size_t g = 0; g < PAIR; g++) {
        sweep_clear(&sums[g]);
        to_sweep[g] = call_row(call, later + g);
        to_apply[g] = call_row(call, this + g);
        centres[g] = centre_of_parts(applied->centres[g]);
    }
    size_t i = 0, hidden = call->problem->hidden;
    for (; hidden - i >= BLOCK; i += BLOCK) {
        LN_UNROLLED
        for (unsigned u = 0; u < UNROLL; u++)
            pair_step(call, sums, to_sweep, to_apply, centres, u, i + u * LANES, LANES);
    }
    LN_UNROLLED
    for (unsigned u = 0; u < UNROLL; u++)
        if (hidden - i > u * LANES)
            pair_step(call, sums, to_sweep, to_apply, centres, u, i + u * LANES,
                      hidden - i - u * LANES);
    pair_keep(swept, sums);
}

LN_INLINE void pair_apply(const call *call, const pair *pair, size_t first)
{
    for (size_t g = 0; g < PAIR; g++) {
        const row row = call_row(call, first + g);
        apply_row(&row, &call->convention, centre_of_parts(pair->centres[g]));
    }
}

/* Pair t is swept in turn t, its lanes are summed up in the next, its centres found in the one
 * after that, and its y made in turn t + lag. */
LN_INLINE void run_pairs(const call *call, size_t pairs)
{
    pair ring[RING];
    size_t lag = call->problem->hidden * sizeof(storage) <= SHORT_BYTES ? RING - 1 : 3;
    for (size_t t = 0; t < pairs + lag; t++) {
        pair *later = &ring[t % RING], *this = &ring[(t - lag) % RING];
        int sweeps = t < pairs, applies = t >= lag;
        if (sweeps && applies && this->regular) {
            pair_both(call, later, t * PAIR, this, (t - lag) * PAIR);
        } else {
            if (sweeps)
                pair_sweep(call, later, t * PAIR);
            if (applies)
                pair_apply(call, this, (t - lag) * PAIR);
        }
        if (t >= 2 && t < pairs + 2)
            pair_finish(call, &ring[(t - 2) % RING], (t - 2) * PAIR);
        if (t >= 1 && t < pairs + 1)
            acc_sum_rows(ring[(t - 1) % RING].parts, ring[(t - 1) % RING].sums);
    }
}

LN_INLINE void schedule_run(const ln_problem *problem, const ln_tensors *tensors, ln_affine affine,
                            residual_form form)
{
    call call = call_of(problem, tensors, affine, form, SUM_EARLY);
    call.regular =
        problem->rows > FEW_ROWS && convention_is_regular(&call.convention, problem->hidden);
#ifdef LN_NONTEMPORAL
    call.streams = rows_begin_lines(problem, tensors);
#endif
    size_t pairs = problem->rows / PAIR;
    if (pairs > 0)
        run_pairs(&call, pairs);
    if (pairs * PAIR < problem->rows)
        run_row(&call, pairs * PAIR);
}

#endif

/* transposed: short rows, in groups of LANES: the sums of a group's rows are taken together by a
 * tree that transposes, so that they lie side by side in one vector, and what is done once a row
 * (quotient, root, reciprocal) is done once a group. For statistics of one sweep (one_sweep.h).
 *
 * While y of one group is made, row for row the group after the next is swept, and the pivots of
 * the one behind that are prepared; in between, in pieces, the chain of latencies of the group
 * between is walked, whose sums have been known since the last turn. A turn is one stretch of code
 * without a branch, for each number of vectors. A tree takes four rows to one vector with three
 * additions and six permutations, and four of those to all the sums: a quarter of what a row takes
 * alone. A row's last vector ends where the row does and overlaps the one before, so that nothing
 * is masked but one of the terms of the sums. Gamma and beta stay in registers up to 64. The affine
 * forms share the code (convention_terms_any()).
 *
 * What a row of 64 floats costs (AVX-512, shifted and offset, Zen 5, 2 loads, 1 store, 2 additions,
 * 2 products a cycle). Expected: 13 loads, 7 cycles; 17 additions and half of 6 permutations, 10
 * cycles; and, which took measuring to find, a 512-bit store keeps both multipliers from fused
 * operations, of three operands, for a cycle (not from products): 5 stores and 8 fused operations
 * are 9 cycles. So about 10. In cycles a row from L2 (of 1024 rows or as much memory; the machine
 * was busy, the ratios are of short alternations), where a copy takes 8.2 at 64:
 *
 *     hidden                                                          31     64    128
 *     pipelined                                                     34      30     46
 *     quads of rows, tails masked, branches between                 19.3   17.2    48
 *     overlapping tails, still a branch a row                       14.7   18.4     -
 *     a turn unrolled, no branch                                    13.2   14.6    44
 *     up to 128 so; no more pointers than registers (LN_OPAQUE)     13.1   15.5   27.5
 *     the chain in four pieces, as in ahead.h                       12.7   13.3   27
 * And, at 64, from a prototype that had all of it for one shape, whose 12.2 this does not reach:
 *     12.8  squares by products and sums, not fused: sums are fewer for it (shape_width())
 *     +1.6  of a row all x first, then each y as it comes (as here): a load before each y + .7, or
 *           all sweeps before the first y + 4
 *     +2.2  sums and chain in one piece at the end of a turn: it fills the reorder buffer
 *     +0    one turn more between pivots and sweep (31: - 1; 128: + 1, a fifth group in L1)
 *     +0    rows taken two at a time in the first half of a turn, so that pivots are known earlier
 * At 31, where every load and store crosses a line: in a prototype 10.9; with masked tails in place
 * of overlapping ones 11.1; y made of the group's 31 aligned vectors, with what belongs to each
 * lane permuted from the centres of its 16 rows and gamma and beta laid out for all of them: 11.7.
 * (10.9 of 31 are 1.6 times what an element of 64 costs, 9.2 of 32, aligned, 1.4 times.)
 * 16 bits, at 64 and 128, in cycles a row (a copy: 4.2 and 8.4). A row of bf16 could take about 8
 * at 64: 4 products of pairs and 8 fused operations on two ports that each of two stores takes for
 * a cycle. With checked statistics there are no pivots, no subtraction, no look for zeros
 * (GROUPS_REGULAR), and sums of bf16 are of pairs; in f16 a conversion is two operations.
 *
 *     bf16, shifted                                                  21     51
 *     bf16, checked                                                 12.7   20.4
 *     bf16, checked, turns so long for rows of 256, at 256: 68; the code (28 KiB) is too long
 *     f16, shifted                                                  21      -
 *     f16, checked                                                  15.9   31.7
 * From registers: sums of a whole row first, then squares about its mean, is 10.9 at 64 (1.44
 * copies), with half the trees' work; but its one-number mean is that of two_pass. */
#ifndef LN_SCHEDULE_H
#define LN_SCHEDULE_H

#include "schedule/groups.h"
#ifndef CENTRE_GUARDED
#include "schedule/one_by_one.h"
#endif

enum {
    SHORT_ROW = 128,             /* the longest that goes by groups of LANES */
    MOST = SHORT_ROW / LN_LANES, /* vectors of such a row */
};

/* ---- One row ---- */

/* A row's vectors end where the row does: the first overlaps the second, and of its elements only
 * `first` are not in the others. A row of less than LANES elements has one vector of so many. */
typedef struct shape {
    size_t vectors; /* a constant, as the next */
    int whole;      /* first is LANES */
    size_t first;
} shape;

LN_INLINE size_t shape_at(shape shape, size_t u)
{
    return u == 0 ? 0 : shape.first + (u - 1) * LANES;
}

/* Where vector u begins, and a row that begins there: columns of all vectors but the first are then
 * constants. */
LN_INLINE row shape_rest(const row *row, shape shape)
{
    struct row rest = *row;
    if (shape.vectors == 1)
        return rest;
    rest.x += shape.first;
    rest.y += shape.first;
    if (rest.form != RESIDUAL_NONE)
        rest.residual += shape.first;
    if (rest.form == RESIDUAL_WRITTEN)
        rest.sum += shape.first;
    if (!shape.whole && shape.vectors > 2) {
        LN_OPAQUE(rest.x);
        LN_OPAQUE(rest.y);
    }
    return rest;
}

/* Elements of each vector. */
LN_INLINE size_t shape_count(shape shape)
{
    return shape.vectors == 1 && !shape.whole ? shape.first : LANES;
}

/* The sum of the first `count` vectors by a tree. */
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

/* What a row's pivot is made of. */
LN_INLINE acc_fold row_take(const row *row, shape shape)
{
    return acc_fold_one(acc_of(row_add_up(row, 0, shape_count(shape))));
}

/* The first touch of a row: all of it is read before any of its sum is written, which may be the
 * same. */
LN_INLINE void row_first_all(const row *row, shape shape, acc x[MOST])
{
    const struct row rest = shape_rest(row, shape);
    size_t n = shape_count(shape);
    vec items[MOST];
    LN_UNROLLED
    for (size_t u = 0; u < shape.vectors; u++) {
#ifdef ACC_LOADS
        if (row->form == RESIDUAL_NONE && n >= LANES) {
            x[u] = LN_PASTE(acc_load_, LN_STORAGE)(u == 0 ? row->x : rest.x + (u - 1) * LANES);
            continue;
        }
#endif
        items[u] = u == 0 ? row_add_up(row, 0, n) : row_add_up(&rest, (u - 1) * LANES, n);
        x[u] = acc_of(items[u]);
    }
    if (row->form != RESIDUAL_WRITTEN)
        return;
    LN_UNROLLED
    for (size_t u = 0; u < shape.vectors; u++)
        row_store(u == 0 ? row->sum : rest.sum + (u - 1) * LANES, items[u], n);
}

/* Sums side by side. Few, so that squares are summed up by fused operations rather than by products
 * and sums: as many roundings for each as in sweep_add(), or in long accumulators, one more. */
LN_INLINE size_t shape_width(shape shape)
{
    size_t width = UNROLL;
    if (shape.vectors <= UNROLL)
        width /= 2;
    if (WIDE)
        width /= 2;
    return width > 0 ? width : 1;
}

/* Sums of products of pairs: the vectors by turns to the halves of one accumulator, so that a lane
 * takes as many as in UNROLL of them (two, of one half each), and the tree is a level shorter. */
#ifdef SWEEP_DOTS
LN_INLINE void row_dots(const row *row, shape shape, acc_fold *sum, acc_fold *square)
{
    const struct row rest = shape_rest(row, shape);
    acc x = acc_set(0), squares = acc_set(0);
    LN_UNROLLED
    for (size_t u = 0; u < shape.vectors; u++)
        lane_dot(u == 0 ? row->x : rest.x + (u - 1) * LANES, u == 0 ? shape.first : LANES, u % 2,
                 &x, &squares);
    *sum = acc_fold_one(x);
    *square = acc_fold_one(squares);
}
#endif

LN_INLINE void row_sweep(const row *row, shape shape, real pivot, acc_fold *sum, acc_fold *square)
{
#ifdef SWEEP_DOTS
    if (row->form == RESIDUAL_NONE) {
        row_dots(row, shape, sum, square);
        return;
    }
#endif
    acc x[MOST], sums[UNROLL], squares[UNROLL], pivots = acc_set(pivot);
    size_t width = shape_width(shape);
    row_first_all(row, shape, x);
    LN_UNROLLED
    for (size_t u = 0; u < shape.vectors; u++) {
        size_t part = u % width;
        acc t = x[u];
        if (SWEEP_SHIFTED)
            t = acc_subtract(t, pivots);
        if (u == 0 && !shape.whole && (SWEEP_SHIFTED || shape.vectors > 1))
            t = acc_first(t, shape.first);
        sums[part] = u < width ? t : acc_add(sums[part], t);
        squares[part] = u < width ? acc_multiply(t, t) : acc_multiply_add(t, t, squares[part]);
    }
    size_t count = shape.vectors < width ? shape.vectors : width;
    *sum = acc_fold_one(parts_sum_first(sums, count));
    *square = acc_fold_one(parts_sum_first(squares, count));
}

/* regular, a constant, as in convention_is_regular(). */
LN_INLINE void row_put(const call *call, storage *y, vec value, size_t n, int regular)
{
#ifdef LN_NONTEMPORAL
    if (call->streams && regular) {
        lane_stream_regular(y, value);
        return;
    }
    if (call->streams) {
        LN_PASTE(lane_stream_, LN_STORAGE)(y, value);
        return;
    }
#endif
    (void)call;
    if (regular && n >= LANES)
        lane_store_regular(y, value);
    else
        row_store(y, value, n);
}

LN_INLINE vec row_normalise(centre centre, vec x, int regular)
{
#ifdef STATISTICS_CHECKED
    if (regular)
        return centre_normalise_unshifted(centre, x);
#endif
    (void)regular;
    return centre_normalise(centre, x);
}

/* y of a row: all of it is read before any is written, since vectors overlap. */
LN_INLINE void row_apply(const call *call, const affine_terms terms[MOST], const row *row,
                         shape shape, centre centre, int regular)
{
    vec x[MOST];
    const struct row rest = shape_rest(row, shape);
    size_t n = shape_count(shape);
    LN_UNROLLED
    for (size_t u = 0; u < shape.vectors; u++)
        x[u] = u == 0 ? row_again(row, 0, n) : row_again(&rest, (u - 1) * LANES, n);
    LN_UNROLLED
    for (size_t u = 0; u < shape.vectors; u++)
        row_put(call, u == 0 ? row->y : rest.y + (u - 1) * LANES,
                convention_finish_any(row_normalise(centre, x[u], regular), terms[u]), n, regular);
}

LN_INLINE void shape_terms(const call *call, shape shape, affine_terms terms[MOST])
{
    LN_UNROLLED
    for (size_t u = 0; u < shape.vectors; u++)
        terms[u] = convention_terms_any(&call->convention, shape_at(shape, u), shape_count(shape));
}

/* ---- Groups that go alone: at a call's ends, and where rows are left ---- */

LN_INLINE void group_take(const call *call, group *group, shape shape)
{
    row row = call_row(call, group->first);
    for (size_t q = 0; q < QUADS; q++) {
        acc_fold parts[QUAD];
        LN_UNROLLED
        for (size_t g = 0; g < QUAD; g++) {
            parts[g] = acc_fold_one(acc_set(0));
            if (q * QUAD + g < group->count)
                parts[g] = row_take(&row, shape);
            row_next(call, &row);
        }
        group->pivots[q] = acc_fold_four(parts);
    }
}

LN_INLINE void group_sweep(const call *call, group *group, shape shape)
{
    row row = call_row(call, group->first);
    for (size_t q = 0; q < QUADS; q++) {
        acc_fold sums[QUAD], squares[QUAD];
        LN_UNROLLED
        for (size_t g = 0; g < QUAD; g++) {
            sums[g] = squares[g] = acc_fold_one(acc_set(0));
            if (q * QUAD + g < group->count)
                row_sweep(&row, shape, group->pivot[q * QUAD + g], &sums[g], &squares[g]);
            row_next(call, &row);
        }
        group->sums[q] = acc_fold_four(sums);
        group->squares[q] = acc_fold_four(squares);
    }
}

LN_INLINE void group_apply(const call *call, const group *group, shape shape)
{
    affine_terms terms[MOST];
    row row = call_row(call, group->first);
    shape_terms(call, shape, terms);
    for (size_t g = 0; g < group->count; g++) {
#ifdef CENTRE_GUARDED
        if (__builtin_expect(group->strange && group->centres[g].strange, 0))
            apply_apart(row, call->convention, group->centres[g]);
        else
#endif
            row_apply(call, terms, &row, shape, group_centre(group, g), 0);
        row_next(call, &row);
    }
}

/* ---- Turns ---- */

/* All of a turn together, where its groups are full. */
LN_INLINE void turn_together(const call *call, turn turn, shape shape)
{
    affine_terms terms[MOST];
    row applied = call_row(call, turn.this->first);
    size_t to_swept = 2 * LANES * call->strides.x, to_taken = 3 * LANES * call->strides.x;
    shape_terms(call, shape, terms);
    LN_UNROLLED
    for (size_t q = 0; q < QUADS; q++) {
        acc_fold pivots[QUAD], sums[QUAD], squares[QUAD];
        group_piece(call, turn.between, q);
        LN_UNROLLED
        for (size_t g = 0; g < QUAD; g++) {
            size_t at = q * QUAD + g;
            row swept = applied, taken = applied;
            swept.x += to_swept;
            taken.x += to_taken;
            row_fetch(&taken);
            row_apply(call, terms, &applied, shape, group_centre(turn.this, at), GROUPS_REGULAR);
            row_sweep(&swept, shape, turn.later->pivot[at], &sums[g], &squares[g]);
            if (SWEEP_SHIFTED)
                pivots[g] = row_take(&taken, shape);
            row_next(call, &applied);
        }
        turn.later->sums[q] = acc_fold_four(sums);
        turn.later->squares[q] = acc_fold_four(squares);
        if (SWEEP_SHIFTED)
            turn.next->pivots[q] = acc_fold_four(pivots);
    }
}

LN_INLINE void turn_apart(const call *call, turn turn, shape shape)
{
    if (turn.this)
        group_apply(call, turn.this, shape);
    if (turn.between)
        group_finish(call, turn.between);
    if (turn.later)
        group_sweep(call, turn.later, shape);
    if (SWEEP_SHIFTED && turn.next)
        group_take(call, turn.next, shape);
}

/* With a residual there would be more pointers than registers. */
LN_INLINE int turn_is_full(const call *call, turn turn)
{
    if (call->form != RESIDUAL_NONE || !turn.this || !turn.next || turn.next->count < LANES)
        return 0;
#if defined(CENTRE_GUARDED)
    return !turn.this->strange;
#elif GROUPS_REGULAR
    return turn.this->regular;
#else
    return 1;
#endif
}

LN_INLINE void run_short(const call *call, shape shape)
{
    group ring[4];
    for (size_t t = 0, turns = turns_of(call); t < turns; t++) {
        turn turn = turn_begin(call, ring, t);
        if (turn_is_full(call, turn))
            turn_together(call, turn, shape);
        else
            turn_apart(call, turn, shape);
        turn_end(call, turn);
    }
}

/* Rows of one shape: a function for each form of residual, which the affine forms share. It works
 * on a copy of the call, which no store can change, for all the compiler knows. */
typedef void short_runner(const call *given);

#define LN_SHORT(name, vectors, whole, residuals)                                                  \
    static __attribute__((noinline)) void name(const call *given)                                  \
    {                                                                                              \
        call call = *given;                                                                        \
        size_t hidden = call.problem->hidden;                                                      \
        call.form = residuals;                                                                     \
        call.sum_early = SUM_EARLY;                                                                \
        call.regular = GROUPS_REGULAR && call.problem->rows > 2 * LANES &&                         \
                       convention_is_regular(&call.convention, hidden);                            \
        run_short(&call, (shape){vectors, whole, whole ? LANES : hidden - (vectors - 1) * LANES}); \
    }

#define LN_SHORTS(name, vectors, whole)                                                            \
    LN_SHORT(name##_alone, vectors, whole, RESIDUAL_NONE)                                          \
    LN_SHORT(name##_residual, vectors, whole, RESIDUAL_READ)                                       \
    LN_SHORT(name##_sum, vectors, whole, RESIDUAL_WRITTEN)                                         \
    static short_runner *const name[] = {name##_alone, name##_residual, name##_sum};

LN_SHORTS(run_part, 1, 0)
LN_SHORTS(run_one, 1, 1)
LN_SHORTS(run_two, 2, 0)
LN_SHORTS(run_three, 3, 0)
LN_SHORTS(run_four, 4, 0)
#if LN_LANES <= 16
LN_SHORTS(run_four_whole, 4, 1)
LN_SHORTS(run_five, 5, 0)
LN_SHORTS(run_six, 6, 0)
LN_SHORTS(run_seven, 7, 0)
LN_SHORTS(run_eight, 8, 0)
LN_SHORTS(run_eight_whole, 8, 1)
#endif

LN_INLINE short_runner *const *short_of(size_t hidden)
{
    static short_runner *const *const by_vectors[] = {
        NULL,
        run_part,
        run_two,
        run_three,
        run_four,
#if LN_LANES <= 16
        run_five,
        run_six,
        run_seven,
        run_eight,
#endif
    };
    if (hidden == LANES)
        return run_one;
#if LN_LANES <= 16
    if (hidden == 4 * LANES)
        return run_four_whole;
    if (hidden == 8 * LANES)
        return run_eight_whole;
#endif
    return by_vectors[(hidden + LANES - 1) / LANES];
}

/* ---- A call ---- */

LN_INLINE call transposed_call(const ln_problem *problem, const ln_tensors *tensors,
                               ln_affine affine, residual_form form)
{
    call call = call_of(problem, tensors, affine, form, SUM_EARLY);
#ifdef LN_NONTEMPORAL
    call.streams = rows_begin_lines(problem, tensors) &&
                   (problem->hidden > SHORT_ROW || problem->hidden % LANES == 0);
#endif
    return call;
}

LN_INLINE void schedule_run(const ln_problem *problem, const ln_tensors *tensors, ln_affine affine,
                            residual_form form)
{
    const call call = transposed_call(problem, tensors, affine, form);
    short_of(problem->hidden)[form](&call);
}

#define SCHEDULE_LONG

LN_INLINE int schedule_is_long(const ln_problem *problem)
{
    return problem->hidden > SHORT_ROW;
}

/* Rows that are too long for groups of LANES go one by one; those of several chunks too, but whole,
 * since two of them at a time leave L1: 0.80 of the time at 512x2048, 0.82 at 64x4096 (and 1.2
 * times at 32x2048, which L2 holds). So do rows that may be strange. */
LN_INLINE void schedule_run_long(const ln_problem *problem, const ln_tensors *tensors,
                                 ln_affine affine, residual_form form)
{
    const call call = transposed_call(problem, tensors, affine, form);
#ifndef CENTRE_GUARDED
    if (!sweep_is_long(problem->hidden)) {
        run_one_by_one(&call);
        return;
    }
#endif
    run_rows(&call);
}

#endif

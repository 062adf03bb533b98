/* transposed: short rows in groups of LANES: the sums of a group's rows are computed together by a tree that
 * transposes, so that they are the lanes of one vector, and the steps of a row (quotient, root, reciprocal) are done
 * once for a group. For statistics of one sweep (one_sweep.h).
 *
 * While y of one group is computed row by row, the group after the next is swept, and the pivots of the one after that
 * are prepared. In between, the chain of latencies of the next group, whose sums are known since the last turn, is
 * computed in pieces. There is code for each number of vectors. A tree reduces four rows to one vector with three
 * additions and six permutations, and four of these to all the sums: a quarter of the work of single rows. A row's last
 * vector ends at the end of the row and overlaps the one before, so that only one of the terms of the sums is masked.
 * Gamma and beta stay in registers up to 64 columns. Measured: docs/lab/experiments.md, "transposed". */
#ifndef LN_SCHEDULE_H
#define LN_SCHEDULE_H

/* The residual of short rows is added before, since otherwise there would be more pointers than registers. */
#define SCHEDULE_ADDS_UP(problem) ((problem)->hidden <= SHORT_ROW)

#include "schedule/call.h"

#if !defined(STATISTICS_ONE_SWEEP) || !defined(ACC_SUM_SQUARE)
#error "transposed is for one_sweep.h, and accumulators that transpose (acc_fold_four())"
#endif

enum {
    SHORT_ROW = 128,             /* the longest row that is processed in groups of LANES */
    MOST = SHORT_ROW / LN_LANES, /* the vectors of such a row */
    QUAD = 4,                    /* the rows of one acc_fold_four() */
    QUADS = LANES / QUAD,
    PIECES = 4, /* the pieces of a group's steps */
};

/* Rows without a pivot take fewer operations, and even fewer if no y is subnormal. */
#ifdef STATISTICS_RETRY
#define GROUPS_REGULAR 1
#else
#define GROUPS_REGULAR 0
#endif

typedef struct group { /* LANES rows, of which the first `count` exist */
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
    unsigned again; /* group_look_again() is needed for some row */
    int regular;    /* all rows are, in a call that is (convention_is_regular()) */
#ifdef CENTRE_CHECKED
    unsigned strange;      /* some row is */
    centre centres[LANES]; /* if so */
#endif
} group;

/* ---- Steps of a group ---- */

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
    return centre_of_parts(parts);
}

LN_INLINE moments group_moments(const group *set, size_t g)
{
    return (moments){set->mean[g], set->rest[g], set->m2[g], 1};
}

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

LN_INLINE unsigned group_doubts(const call *run,
                                const group *set) /* whether group_look_again() is needed */
{
    unsigned again = run->tensors->mean || run->tensors->rstd;
    LN_VECTORIZED
    for (size_t g = 0; g < LANES; g++)
        again |= (unsigned)statistics_is_off(&run->statistics, group_moments(set, g));
#ifdef CENTRE_CHECKED
    LN_VECTORIZED
    for (size_t g = 0; g < LANES; g++)
        again |= (unsigned)centre_is_strange(group_moments(set, g), set->rstd[g],
                                             run->convention.quotient);
#endif
    return again;
}

/* Computes a piece of the steps from the sums to the numbers that apply needs. They are in pieces, so that waiting
 * instructions do not fill the reorder buffer. Each loop has one task, so that compilers vectorise it. */
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

/* Handles rows that must be swept again or are strange, and writes mean and rstd. It gets a copy of the call, which the
 * compiler then knows to be unchanged. */
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

/* Group t begins in turn t, and is swept, finished and applied in the next turns; at the ends of a call some groups are
 * missing. */
typedef struct turn {
    group *this;
    group *between;
    group *later;
    group *next;
} turn;

LN_INLINE size_t turns_of(size_t rows)
{
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

/* ---- One row ---- */

/* A row's vectors end at the end of the row: the first overlaps the second, and only `first` of its elements are not in
 * the others. A row with fewer than LANES elements has one shorter vector. */
typedef struct shape {
    size_t vectors; /* a constant, as the next */
    int whole;      /* first is LANES */
    size_t first;
} shape;

/* Returns a row that begins at the second vector: the columns of all vectors but the first are then constants. */
LN_INLINE row shape_rest(const row *view, shape cut)
{
    struct row rest = *view;
    if (cut.vectors == 1)
        return rest;
    rest.x += cut.first;
    rest.y += cut.first;
    if (!cut.whole && cut.vectors > 2) {
        LN_OPAQUE(rest.x);
        LN_OPAQUE(rest.y);
    }
    return rest;
}

LN_INLINE size_t shape_count(shape cut) /* returns the elements of each vector */
{
    return cut.vectors == 1 && !cut.whole ? cut.first : LANES;
}

LN_INLINE acc_fold row_take(const row *view, shape cut) /* returns the elements of the pivot */
{
    return acc_fold_one(acc_of(row_add_up(view, 0, shape_count(cut))));
}

/* Reads a row for the first time. */
LN_INLINE void row_first_all(const row *view, shape cut, acc x[MOST])
{
    const struct row rest = shape_rest(view, cut);
    size_t n = shape_count(cut);
    LN_UNROLLED
    for (size_t u = 0; u < cut.vectors; u++) {
#if defined(ACC_LOADS) && STORES_F32
        if (n >= LANES) {
            x[u] = LN_PASTE(acc_load_, LN_STORAGE)(u == 0 ? view->x : rest.x + (u - 1) * LANES);
            continue;
        }
#endif
        x[u] = acc_of(u == 0 ? row_load(view->x, n) : row_load(rest.x + (u - 1) * LANES, n));
    }
}

/* Returns the number of parallel sums. There are few, so that squares are added by fused operations and not by products
 * and sums: each term has as many roundings as in sweep_add(), or one more in long accumulators. */
LN_INLINE size_t shape_width(shape cut)
{
    size_t width = UNROLL;
    if (cut.vectors <= UNROLL)
        width /= 2;
    if (WIDE)
        width /= 2;
    return width > 0 ? width : 1;
}

/* Computes sums of products of pairs. The vectors go in turn to the halves of one accumulator, so that a lane has as
 * many terms as with UNROLL accumulators (two, with one half each), and the tree is one level shorter. */
#ifdef SWEEP_DOTS
LN_INLINE void row_dots(const row *view, shape cut, acc_fold *sum, acc_fold *square)
{
    const struct row rest = shape_rest(view, cut);
    acc x = acc_set(0), squares = acc_set(0);
    LN_UNROLLED
    for (size_t u = 0; u < cut.vectors; u++)
        lane_dot(u == 0 ? view->x : rest.x + (u - 1) * LANES, u == 0 ? cut.first : LANES, u % 2, &x,
                 &squares);
    *sum = acc_fold_one(x);
    *square = acc_fold_one(squares);
}
#endif

LN_INLINE void row_sweep(const row *view, shape cut, real pivot, acc_fold *sum, acc_fold *square)
{
#ifdef SWEEP_DOTS
    (void)pivot;
    row_dots(view, cut, sum, square);
#else
    acc x[MOST], sums[UNROLL], squares[UNROLL], pivots = acc_set(pivot);
    size_t width = shape_width(cut);
    row_first_all(view, cut, x);
    LN_UNROLLED
    for (size_t u = 0; u < cut.vectors; u++) {
        size_t part = u % width;
        acc t = x[u];
        if (LN_PIVOT)
            t = acc_subtract(t, pivots);
        if (u == 0 && !cut.whole && (LN_PIVOT || cut.vectors > 1))
            t = acc_first(t, cut.first);
        sums[part] = u < width ? t : acc_add(sums[part], t);
        squares[part] = u < width ? acc_multiply(t, t) : acc_multiply_add(t, t, squares[part]);
    }
    size_t count = cut.vectors < width ? cut.vectors : width;
    *sum = acc_fold_one(parts_sum_first(sums, count));
    *square = acc_fold_one(parts_sum_first(squares, count));
#endif
}

LN_INLINE normalised row_normalise(centre by, vec x, int regular)
{
#ifdef STATISTICS_RETRY
    if (regular)
        return centre_normalise_unshifted(by, x);
#endif
    (void)regular;
    return centre_normalise(by, x);
}

/* Computes y of a row. All of it is read before anything is written, since vectors overlap. */
LN_INLINE void row_apply(const call *run, const affine_terms terms[MOST], const row *view,
                         shape cut, centre by, int regular)
{
    vec x[MOST];
    const struct row rest = shape_rest(view, cut);
    size_t n = shape_count(cut);
    LN_UNROLLED
    for (size_t u = 0; u < cut.vectors; u++)
        x[u] = u == 0 ? row_again(view, 0, n) : row_again(&rest, (u - 1) * LANES, n);
    LN_UNROLLED
    for (size_t u = 0; u < cut.vectors; u++)
        call_store(run, u == 0 ? view->y : rest.y + (u - 1) * LANES,
                   convention_finish_any(row_normalise(by, x[u], regular), terms[u]), n, regular);
}

LN_INLINE void shape_terms(const call *run, shape cut, affine_terms terms[MOST])
{
    LN_UNROLLED
    for (size_t u = 0; u < cut.vectors; u++)
        terms[u] = convention_terms_any(&run->convention, u == 0 ? 0 : cut.first + (u - 1) * LANES,
                                        shape_count(cut));
}

/* ---- Groups by themselves: at the ends of a call, and the remaining rows ---- */

LN_INLINE void group_take(const call *run, group *set, shape cut)
{
    row view = call_row(run, set->first);
    for (size_t q = 0; q < QUADS; q++) {
        acc_fold parts[QUAD];
        LN_UNROLLED
        for (size_t g = 0; g < QUAD; g++) {
            parts[g] = acc_fold_one(acc_set(0));
            if (q * QUAD + g < set->count)
                parts[g] = row_take(&view, cut);
            row_next(run, &view);
        }
        set->pivots[q] = acc_fold_four(parts);
    }
}

LN_INLINE void group_sweep(const call *run, group *set, shape cut)
{
    row view = call_row(run, set->first);
    for (size_t q = 0; q < QUADS; q++) {
        acc_fold sums[QUAD], squares[QUAD];
        LN_UNROLLED
        for (size_t g = 0; g < QUAD; g++) {
            sums[g] = squares[g] = acc_fold_one(acc_set(0));
            if (q * QUAD + g < set->count)
                row_sweep(&view, cut, set->pivot[q * QUAD + g], &sums[g], &squares[g]);
            row_next(run, &view);
        }
        set->sums[q] = acc_fold_four(sums);
        set->squares[q] = acc_fold_four(squares);
    }
}

LN_INLINE void group_apply(const call *run, const group *set, shape cut)
{
    affine_terms terms[MOST];
    row view = call_row(run, set->first);
    shape_terms(run, cut, terms);
    for (size_t g = 0; g < set->count; g++) {
#ifdef CENTRE_CHECKED
        if (__builtin_expect(set->strange && set->centres[g].strange, 0))
            apply_in_double(view, run->convention, set->centres[g]);
        else
#endif
            row_apply(run, terms, &view, cut, group_centre(set, g), 0);
        row_next(run, &view);
    }
}

/* ---- Turns ---- */

/* Processes a quad of rows of each group of a turn, and a piece of the steps of a group. */
LN_INLINE void turn_quad(const call *run, turn now, shape cut, const affine_terms terms[MOST],
                         row *applied, size_t q)
{
    acc_fold pivots[QUAD], sums[QUAD], squares[QUAD];
    size_t swept_ahead = 2 * LANES * run->strides.x, taken_ahead = 3 * LANES * run->strides.x;
    group_piece(run, now.between, q);
    LN_UNROLLED
    for (size_t g = 0; g < QUAD; g++) {
        size_t at = q * QUAD + g;
        row to_sweep = *applied, to_take = *applied;
        to_sweep.x += swept_ahead;
        to_take.x += taken_ahead;
        row_fetch(&to_take);
        row_apply(run, terms, applied, cut, group_centre(now.this, at), GROUPS_REGULAR);
        row_sweep(&to_sweep, cut, now.later->pivot[at], &sums[g], &squares[g]);
        if (LN_PIVOT)
            pivots[g] = row_take(&to_take, cut);
        row_next(run, applied);
    }
    now.later->sums[q] = acc_fold_four(sums);
    now.later->squares[q] = acc_fold_four(squares);
    if (LN_PIVOT)
        now.next->pivots[q] = acc_fold_four(pivots);
}

/* Processes a turn whose groups are all full. */
LN_INLINE void turn_together(const call *run, turn now, shape cut)
{
    affine_terms terms[MOST];
    row applied = call_row(run, now.this->first);
    shape_terms(run, cut, terms);
    for (size_t q = 0; q < QUADS; q++)
        turn_quad(run, now, cut, terms, &applied, q);
}

LN_INLINE void turn_apart(const call *run, turn now, shape cut)
{
    if (now.this)
        group_apply(run, now.this, cut);
    for (size_t piece = 0; now.between && piece < PIECES; piece++)
        group_piece(run, now.between, piece);
    if (now.later)
        group_sweep(run, now.later, cut);
    if (LN_PIVOT && now.next)
        group_take(run, now.next, cut);
}

LN_INLINE int turn_is_full(turn now)
{
    if (!now.this || !now.next || now.next->count < LANES)
        return 0;
#if defined(CENTRE_CHECKED)
    return !now.this->strange;
#else
    return !GROUPS_REGULAR || now.this->regular;
#endif
}

LN_INLINE void run_short(const call *run, shape cut)
{
    group ring[4];
    for (size_t t = 0, turns = turns_of(run->problem->rows); t < turns; t++) {
        turn now = turn_begin(run, ring, t);
        if (turn_is_full(now))
            turn_together(run, now, cut);
        else
            turn_apart(run, now, cut);
        turn_end(run, now);
    }
}

/* A function for rows of one shape with any affine form. It uses a copy of the call, which no store can change. */
typedef void short_runner(const call *given);

#define LN_SHORT(name, vectors, whole)                                                             \
    static __attribute__((noinline)) void name(const call *given)                                  \
    {                                                                                              \
        call run = *given;                                                                         \
        size_t hidden = run.problem->hidden;                                                       \
        run.form = RESIDUAL_NONE;                                                                  \
        run.regular = GROUPS_REGULAR && run.problem->rows > 2 * LANES &&                           \
                      convention_is_regular(&run.convention, hidden);                              \
        run_short(&run, (shape){vectors, whole, whole ? LANES : hidden - (vectors - 1) * LANES});  \
    }

LN_SHORT(run_part, 1, 0)
LN_SHORT(run_one, 1, 1)
LN_SHORT(run_two, 2, 0)
LN_SHORT(run_three, 3, 0)
LN_SHORT(run_four, 4, 0)
#if LN_LANES <= 16
LN_SHORT(run_four_whole, 4, 1)
LN_SHORT(run_five, 5, 0)
LN_SHORT(run_six, 6, 0)
LN_SHORT(run_seven, 7, 0)
LN_SHORT(run_eight, 8, 0)
LN_SHORT(run_eight_whole, 8, 1)
#endif

LN_INLINE short_runner *short_of(size_t hidden)
{
    static short_runner *const by_vectors[] = {
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
#if LN_LANES <= 16
    if (hidden == 4 * LANES)
        return run_four_whole;
    if (hidden == 8 * LANES)
        return run_eight_whole;
#endif
    return hidden == LANES ? run_one : by_vectors[(hidden - 1) / LANES];
}

/* ---- A call ---- */

LN_INLINE call transposed_call(const ln_problem *problem, const ln_tensors *tensors,
                               ln_affine affine, residual_form form)
{
    call run = call_of(problem, tensors, affine, form);
#if LN_NONTEMPORAL
    run.streams = rows_begin_lines(problem, tensors) &&
                  (problem->hidden > SHORT_ROW || problem->hidden % LANES == 0);
#endif
    return run;
}

LN_INLINE void schedule_run(const ln_problem *problem, const ln_tensors *tensors, ln_affine affine,
                            residual_form form)
{
    const call run = transposed_call(problem, tensors, affine, form);
    short_of(problem->hidden)(&run);
}

#define SCHEDULE_LONG

LN_INLINE int schedule_is_long(const ln_problem *problem)
{
    return problem->hidden > SHORT_ROW || !convention_has_terms(form_of(problem));
}

/* Rows that are too long for groups of LANES are pipelined one by one. Rows with several chunks, and rows that may be
 * strange, are each finished before the next one begins, since two of them at a time exceed L1: this takes 0.80 of the
 * time at 512x2048 and 0.82 at 64x4096 (but 1.2 times at 32x2048, which fits into L2). */
LN_INLINE void schedule_run_long(const ln_problem *problem, const ln_tensors *tensors,
                                 ln_affine affine, residual_form form)
{
    const call run = transposed_call(problem, tensors, affine, form);
#ifndef CENTRE_CHECKED
    if (!sweep_is_long(problem->hidden)) {
        run_one_by_one(&run);
        return;
    }
#endif
    run_rows(&run);
}

#endif

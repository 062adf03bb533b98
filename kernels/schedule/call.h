/* Functions that all schedules use: the steps from x to y of one row, and the state of a call. A schedule with
 * LN_NONTEMPORAL stores y around the caches. */
#ifndef LN_SCHEDULE_CALL_H
#define LN_SCHEDULE_CALL_H

#include "convention.h"
#include LN_STATISTICS_FILE

#ifdef STATISTICS_UNPIVOTED
LN_INLINE real statistics_pivot(const statistics *stats, const row *view)
{
    (void)stats, (void)view;
    return 0;
}
#endif

/* ---- y of a row ----
 *
 * affine is a constant: loops over a row test the form once, by LN_BY_AFFINE(). */

/* Returns y of the first n, at most LANES, elements from column i on, and reads them for the last time. */
LN_INLINE vec apply_vector(ln_affine affine, const row *view, const convention *rules, centre by,
                           size_t i, size_t n)
{
    normalised xhat = centre_normalise(by, row_again(view, i, n));
    return convention_finish(affine, rules, xhat, i, n);
}

/* The same, stored. */
LN_INLINE void apply_stored(ln_affine affine, const row *view, const convention *rules, centre by,
                            size_t i, size_t n)
{
    row_store(view->y + i, apply_vector(affine, view, rules, by, i, n), n);
}

/* Computes y of the first min(left, BLOCK) elements from i on. */
LN_INLINE void apply_block(ln_affine affine, const row *view, const convention *rules, centre by,
                           size_t i, size_t left)
{
    LN_UNROLLED
    for (size_t u = 0; u < UNROLL; u++)
        if (left > u * LANES)
            apply_stored(affine, view, rules, by, i + u * LANES, left - u * LANES);
}

#if LN_NONTEMPORAL
/* Stores of y around the caches are for a y that does not fit into them: a line that is stored as a whole is
 * not read first, and evicts nothing. These stores need aligned addresses, so elements before y's
 * first whole line and after its last are stored through the caches.
 *
 * Reads must continue while lines are written: if a row is first read and then written, memory waits at each change
 * between them (which costs a quarter at hidden 4096 and 40 % at 1024). So for each line of y that is stored, one line
 * of x is fetched that is needed FETCH_AHEAD elements later, counted as if rows were contiguous. Statistics then
 * find their row in L2. */
enum { FETCH_AHEAD = 8192 / (int)sizeof(storage) };

/* Returns whether every row of y begins at a cache line. */
LN_INLINE int rows_begin_lines(const ln_problem *problem, const ln_tensors *tensors)
{
    size_t stride = problem->y_stride ? problem->y_stride : problem->hidden;
    return ((uintptr_t)tensors->y | stride * sizeof(storage)) % LINE_BYTES == 0;
}

/* Fetches the lines of the block at column i of x (and residual). i may be far beyond the end of the row, since an
 * address that is fetched need not exist. */
LN_INLINE void fetch_block(const row *view, size_t i)
{
    LN_UNROLLED
    for (size_t u = 0; u < BLOCK; u += LINE) {
        size_t at = (i + u) * sizeof(storage);
        fetch_line((uintptr_t)view->x + at, fetches_to_l2());
        if (view->form != RESIDUAL_NONE)
            fetch_line((uintptr_t)view->residual + at, fetches_to_l2());
    }
}

/* Fetches the elements that are FETCH_AHEAD after this row. */
LN_INLINE void row_fetch(const row *view)
{
    for (size_t i = 0; i < view->hidden; i += BLOCK)
        fetch_block(view, i + FETCH_AHEAD);
}

/* Like apply_block(), with y + i a multiple of LANES elements after the beginning of a line. */
LN_INLINE void stream_block(ln_affine affine, const row *view, const convention *rules, centre by,
                            size_t i, size_t left)
{
    LN_UNROLLED
    for (size_t u = 0; u < UNROLL; u++) {
        if (left <= u * LANES)
            continue;
        size_t at = i + u * LANES, n = left - u * LANES;
        vec y = apply_vector(affine, view, rules, by, at, n);
        if (n >= LANES)
            LN_PASTE(lane_stream_, LN_STORAGE)(view->y + at, y);
        else
            row_store(view->y + at, y, n);
    }
}

/* Computes y of the columns from `begin` to the next cache line, or to `end`. Returns that column. */
LN_INLINE size_t apply_to_line(ln_affine affine, const row *view, const convention *rules,
                               centre by, size_t begin, size_t end)
{
    size_t to_line = columns_to_line(view, begin);
    if (to_line < end - begin)
        end = begin + to_line;
    for (size_t i = begin; i < end; i += LANES)
        apply_stored(affine, view, rules, by, i, end - i);
    return end;
}

LN_INLINE void apply_items(ln_affine affine, const row *view, const convention *rules, centre by)
{
    size_t hidden = view->hidden, i = apply_to_line(affine, view, rules, by, 0, hidden);
    for (; hidden - i >= BLOCK; i += BLOCK) {
        fetch_block(view, i + hidden + FETCH_AHEAD);
        stream_block(affine, view, rules, by, i, BLOCK);
    }
    if (i < hidden) {
        fetch_block(view, i + hidden + FETCH_AHEAD);
        stream_block(affine, view, rules, by, i, hidden - i);
    }
}
#else
/* Rows in caches are not fetched ahead. */
LN_INLINE void row_fetch(const row *view)
{
    (void)view;
}

/* The elements after the last whole block are a loop: unrolled, they would be most of a kernel's code. */
LN_INLINE void apply_items(ln_affine affine, const row *view, const convention *rules, centre by)
{
    size_t i = 0;
    for (; view->hidden - i >= BLOCK; i += BLOCK)
        apply_block(affine, view, rules, by, i, BLOCK);
    for (; view->hidden > i; i += LANES) {
        size_t n = view->hidden - i < LANES ? view->hidden - i : LANES;
        apply_stored(affine, view, rules, by, i, n);
    }
}
#endif

/* ---- Rows that items cannot hold (apply/split.h, apply/scaled.h): in double ---- */

#ifdef CENTRE_CHECKED
#ifdef LN_RMS
LN_INLINE vec apply_vector_in_double(const row *view, const convention *rules, centre by, size_t i,
                                     size_t n)
{
    ln_affine form = rules->affine;
    acc xhat = acc_multiply(acc_of(row_again(view, i, n)), acc_set(by.rstd_of_row));
    if (form & FORM_CAST)
        xhat = acc_of(lane_stored(acc_items(xhat)));
    if (form == LN_AFFINE_NONE)
        return acc_items(xhat);
    return acc_items(acc_multiply(xhat, acc_of(weight_of(form, rules, i, n))));
}
#else
LN_INLINE vec apply_vector_in_double(const row *view, const convention *rules, centre by, size_t i,
                                     size_t n)
{
    ln_affine affine = rules->affine;
    acc gamma = acc_set(1), beta = acc_set(-(real)0);
    if (affine == LN_AFFINE_SCALAR) {
        gamma = acc_of(rules->gamma_scalar);
        beta = acc_of(rules->beta_scalar);
    } else if (affine != LN_AFFINE_NONE) {
        gamma = acc_of(param_load(rules->gamma + i, n));
    }
    if (affine == LN_AFFINE_GAMMA1)
        gamma = acc_add(acc_set(1), gamma);
    if (affine == LN_AFFINE_VECTOR || affine == LN_AFFINE_GAMMA1)
        beta = acc_of(param_load(rules->beta + i, n));
    acc deviation = acc_subtract(acc_of(row_again(view, i, n)), acc_set(by.mean));
    deviation = acc_subtract(deviation, acc_set(by.rest));
    acc xhat = acc_multiply_add(deviation, acc_set(by.rstd_of_row), acc_set(rules->quotient));
    return acc_items(acc_multiply_add(xhat, gamma, beta));
}
#endif

LN_RARE void apply_in_double(row view, convention rules, centre by)
{
    for (size_t i = 0; i < view.hidden; i += LANES)
        row_store(view.y + i, apply_vector_in_double(&view, &rules, by, i, view.hidden - i),
                  view.hidden - i);
}
#endif

LN_INLINE void apply_row_as(ln_affine affine, const row *view, const convention *rules, centre by)
{
#ifdef CENTRE_CHECKED
    if (__builtin_expect(by.strange, 0)) {
        apply_in_double(*view, *rules, by);
        return;
    }
#endif
    apply_items(affine, view, rules, by);
}

LN_INLINE void apply_row(const row *view, const convention *rules, centre by)
{
    LN_BY_AFFINE(rules, apply_row_as, view, rules, by);
}

#ifdef STATISTICS_ONE_NAN
LN_INLINE int is_nan(storage value)
{
    return isnan(LN_PASTE(item_of_, LN_STORAGE)(value));
}

LN_RARE void make_one_nan(storage *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_nan(values[i]))
            values[i] = LN_PASTE(NAN_, LN_STORAGE);
}
#endif

/* ---- A residual of short storage ----
 *
 * If storage is shorter than items, x + residual is computed before the schedule begins, some rows
 * at a time, and written to sum, or to y if there is no sum. The schedule reads these as its x, from L2.
 * This takes 0.7 to 0.9 of the time of adding within the schedule, and half the code. For f32 it would take 1.1 to
 * 1.5, so it is done only by schedules that define SCHEDULE_ADDS_UP(problem). */

#ifndef SCHEDULE_ADDS_UP
#define SCHEDULE_ADDS_UP(problem) 0
#endif

enum { ADDED_UP_BEFORE = sizeof(storage) < sizeof(item), SUM_BYTES = 1 << 17, SUM_ROWS = 16 };

LN_INLINE void add_up(const ln_tensors *tensors, const row_strides *strides, size_t r, storage *sum,
                      size_t hidden)
{
    const storage *x = (const storage *)tensors->x + r * strides->x;
    const storage *residual = (const storage *)tensors->residual + r * strides->residual;
    for (size_t i = 0; i < hidden; i += LANES) {
        size_t n = hidden - i;
        row_store(sum + i, lane_add(row_load(x + i, n), row_load(residual + i, n)), n);
    }
}

LN_APART void run_added_up(const ln_problem *problem, const ln_tensors *tensors,
                           void (*run)(const ln_problem *problem, const ln_tensors *tensors))
{
    const row_strides strides = row_strides_of(problem);
    size_t hidden = problem->hidden, most = SUM_BYTES / sizeof(storage) / hidden;
    ln_problem part = *problem;
    ln_tensors piece = *tensors;
    most = most < SUM_ROWS ? SUM_ROWS : most;
    part.x_stride = tensors->sum ? strides.sum : strides.y;
    piece.residual = piece.sum = NULL;
    for (size_t r = 0; r < problem->rows; r += part.rows) {
        storage *y = (storage *)tensors->y + r * strides.y;
        storage *sum = tensors->sum ? (storage *)tensors->sum + r * strides.sum : y;
        part.rows = problem->rows - r < most ? problem->rows - r : most;
        for (size_t g = 0; g < part.rows; g++)
            add_up(tensors, &strides, r + g, sum + g * part.x_stride, hidden);
        piece.x = sum;
        piece.y = y;
        piece.mean = tensors->mean ? (real *)tensors->mean + r : NULL;
        piece.rstd = tensors->rstd ? (real *)tensors->rstd + r : NULL;
        run(&part, &piece);
#ifdef STATISTICS_ONE_NAN
        for (size_t g = 0; tensors->sum && g < part.rows; g++)
            if (is_nan(y[g * strides.y])) /* a NaN in sum makes the whole row NaN */
                make_one_nan(sum + g * strides.sum, hidden);
#endif
    }
}

#ifdef CENTRE_SPLIT
/* ---- Rows of one element ----
 *
 * x - mean is 0 for a finite element, so that all such rows have the same y; other rows are NaN. In the usual code
 * all of them would be read twice and computed in double, as rows of equal elements are, which takes 20 times as long
 * for 64 rows (f32, Zen 4). */

enum { ZEROS = 2 }; /* 0 and -0 */

/* Returns whether there are several contiguous rows of one element, without mean and rstd. */
LN_INLINE int is_column(const ln_problem *problem, const ln_tensors *tensors)
{
    return problem->hidden == 1 && problem->rows > ZEROS && problem->x_stride <= 1 &&
           problem->y_stride <= 1 && !tensors->mean && !tensors->rstd;
}

/* Computes all rows of one element; row by row if 0 and -0 give a different y. */
LN_APART void run_column(const ln_problem *problem, const ln_tensors *tensors,
                         void (*run)(const ln_problem *problem, const ln_tensors *tensors))
{
    storage zeros[ZEROS] = {0}, made[ZEROS];
    const storage *x = tensors->x;
    ln_problem two = *problem;
    ln_tensors piece = *tensors;
    lane_store_first(zeros + 1, lane_set(-(item)0), 1);
    two.rows = ZEROS;
    piece.x = zeros;
    piece.y = made;
    run(&two, &piece);
    const item same = LN_PASTE(item_of_, LN_STORAGE)(made[0]);
    if (memcmp(&made[0], &made[1], sizeof made[0]) != 0 || isnan(same)) {
        run(problem, tensors);
        return;
    }
    for (size_t r = 0; r < problem->rows; r += LANES) {
        size_t n = problem->rows - r;
        vec element = row_load(x + r, n);
        row_store((storage *)tensors->y + r,
                  lane_subtract(lane_set(same), lane_subtract(element, element)), n);
    }
}
#endif

/* ---- A call ---- */

/* The values that are the same for all rows. */
typedef struct call {
    const ln_problem *problem;
    const ln_tensors *tensors;
    statistics statistics;
    convention convention;
    residual_form form;  /* a constant in always-inline bodies */
    row_strides strides; /* for row_advance() */
    /* Always 0, except in schedules that set them: */
    int is_long; /* rows have more than one chunk (one_sweep.h): also a constant */
    int regular; /* gamma and beta are regular (convention_is_regular()) */
    int streams; /* y is stored around the caches: all its rows begin cache lines */
    int to_l2;   /* x is fetched to L2 (fetch_line()) */
} call;

/* Sets each field by itself: clearing the whole struct would take as long as a few short rows. */
LN_INLINE call call_of(const ln_problem *problem, const ln_tensors *tensors, ln_affine affine,
                       residual_form form)
{
    call run;
    run.problem = problem;
    run.tensors = tensors;
    run.statistics = statistics_prepare(problem);
    run.convention = convention_prepare(problem, tensors, affine, form);
    run.form = form;
    run.is_long = run.regular = run.streams = run.to_l2 = 0;
    run.strides = row_strides_of(problem);
    if (!tensors->sum)
        run.strides.sum = run.strides.y;
    return run;
}

/* Returns row number r. The strides are read again for each row: values kept over a loop would occupy registers that
 * the loop needs (two_pass at hidden 64: 4 %). */
LN_INLINE row call_row(const call *run, size_t r)
{
    row view = row_of(run->problem, run->tensors, run->form, r);
    if (run->form != RESIDUAL_NONE && !view.sum && !LN_NONTEMPORAL)
        view.sum = view.y;
    return view;
}

/* Moves to the next row. */
LN_INLINE void row_advance(row *view, const row_strides *strides)
{
    view->x += strides->x;
    view->y += strides->y;
    if (view->form == RESIDUAL_NONE)
        return;
    view->residual += strides->residual;
    if (view->sum)
        view->sum += strides->sum;
}

/* Moves to the next row. The origin of the pointers is hidden, since compilers would otherwise keep a pointer for each
 * row of a turn, more than there are registers. */
LN_INLINE void row_next(const call *run, row *view)
{
    row_advance(view, &run->strides);
    LN_OPAQUE(view->x);
    LN_OPAQUE(view->y);
}

/* Writes mean and rstd of a row if the caller wants them. */
LN_INLINE void keep_moments(const ln_tensors *tensors, size_t r, moments found, factor rstd)
{
    if (tensors->mean)
        ((real *)tensors->mean)[r] = found.mean + found.rest;
    if (tensors->rstd)
        ((real *)tensors->rstd)[r] = (real)rstd;
}

/* Stores the first n, at most LANES, elements of y. regular: a constant as in convention_is_regular(). */
LN_INLINE void call_store(const call *run, storage *y, vec a, size_t n, int regular)
{
    if (n < LANES)
        lane_store_first(y, a, n);
#if LN_NONTEMPORAL
    else if (run->streams && regular)
        lane_stream_regular(y, a);
    else if (run->streams)
        LN_PASTE(lane_stream_, LN_STORAGE)(y, a);
#endif
    else if (regular)
        lane_store_regular(y, a);
    else
        lane_store(y, a);
    (void)run;
}

/* Computes row r from beginning to end. */
LN_INLINE void run_row(const call *run, size_t r)
{
    const row view = call_row(run, r);
    real pivot = statistics_pivot(&run->statistics, &view);
    moments found = statistics_of(&run->statistics, &view, pivot);
    factor rstd = convention_rstd(&run->convention, found);
    apply_row(&view, &run->convention, centre_of(found, rstd, run->convention.quotient));
    keep_moments(run->tensors, r, found, rstd);
}

LN_INLINE void run_rows(const call *run)
{
    for (size_t r = 0; r < run->problem->rows; r++)
        run_row(run, r);
}

#if defined(STATISTICS_ONE_SWEEP) && !SUMS_ARE_LONGER
/* ---- Rows one by one, for statistics of one sweep in items ----
 *
 * Row r + 2 is swept while y of row r is computed, block by block in the same loop. Then the lanes of row r + 2's sums
 * are added, while the remaining chain of latencies of row r + 1 is computed, from its sums to the numbers that apply
 * needs (pipelined.h gives the reason). */

/* Computes y of the first min(left, BLOCK) elements from i on. */
LN_INLINE void call_block(ln_affine affine, const call *run, const row *view, centre by, size_t i,
                          size_t left)
{
#if LN_NONTEMPORAL
    if (run->streams) {
        stream_block(affine, view, &run->convention, by, i, left);
        return;
    }
#endif
    apply_block(affine, view, &run->convention, by, i, left);
}

LN_INLINE void sweep_and_apply_as(ln_affine affine, const call *run, sweep_sums *sums,
                                  const row *later, acc pivots, const row *this, centre by)
{
    size_t hidden = later->hidden, i = 0;
    for (; hidden - i >= BLOCK; i += BLOCK) {
        sweep_chunk(sums, run->is_long, i);
        sweep_add(sums, later, pivots, i, BLOCK, 0);
        call_block(affine, run, this, by, i, BLOCK);
    }
    sweep_chunk(sums, run->is_long, i);
    sweep_add(sums, later, pivots, i, hidden - i, 0);
    call_block(affine, run, this, by, i, hidden - i);
}

/* Sweeps `later` while y of `this` is computed. */
LN_INLINE void sweep_and_apply(const call *run, sweep_sums *sums, const row *later, real pivot,
                               const row *this, centre by)
{
    acc pivots = acc_set(pivot);
    sweep_clear(sums);
    LN_BY_AFFINE(&run->convention, sweep_and_apply_as, run, sums, later, pivots, this, by);
}

/* A row that has been swept. */
typedef struct swept {
    real pivot;
    real sum;
    real square;
} swept;

/* Returns the pivot of row r; 0 after the last row. */
LN_INLINE real row_pivot(const call *run, size_t r)
{
    if (!LN_PIVOT || r >= run->problem->rows)
        return 0;
    const row view = call_row(run, r);
    row_fetch(&view);
    return sweep_pivot(&run->statistics, &view, run->is_long);
}

LN_INLINE swept swept_of(const call *run, const sweep_sums *sums, real pivot)
{
    acc x, square;
    real lanes[2];
    sweep_sums_of(sums, run->is_long, &x, &square);
    acc_sum_two(x, square, lanes);
    return (swept){pivot, lanes[0], lanes[1]};
}

/* Sweeps a row by itself, at the beginning of a call. It is not inlined, to have its code only once. */
LN_INLINE swept swept_as(statistics stats, row view, int is_long, residual_form form)
{
    sweep_sums sums;
    acc x, square;
    real lanes[2], pivot;
    view.form = form;
    row_fetch(&view);
    pivot = sweep_pivot(&stats, &view, is_long);
    sweep_alone(&sums, &view, is_long, pivot, 0);
    sweep_sums_of(&sums, is_long, &x, &square);
    acc_sum_two(x, square, lanes);
    return (swept){pivot, lanes[0], lanes[1]};
}

LN_APART swept swept_plain(statistics stats, row view, int is_long)
{
    return swept_as(stats, view, is_long, RESIDUAL_NONE);
}

LN_APART swept swept_residual(statistics stats, row view, int is_long)
{
    return swept_as(stats, view, is_long, RESIDUAL_ADDED);
}

LN_INLINE swept swept_alone(const call *run, size_t r)
{
    return (run->form == RESIDUAL_NONE ? swept_plain : swept_residual)(
        run->statistics, call_row(run, r), run->is_long);
}

/* The numbers of a row that apply needs. */
typedef struct known {
    real mean;
    real rest;
    factor rstd;
} known;

LN_INLINE centre known_centre(const call *run, known facts)
{
    moments found = {facts.mean, facts.rest, 0, 1};
    return centre_of(found, facts.rstd, run->convention.quotient);
}

/* Computes y of a row by itself. */
LN_APART void apply_vector_alone(row view, convention rules, centre by)
{
    view.form = RESIDUAL_NONE;
    apply_row_as(FORM_USUAL, &view, &rules, by);
}

LN_APART void apply_any_alone(row view, convention rules, centre by)
{
    apply_row_as(rules.affine, &view, &rules, by);
}

LN_INLINE void apply_alone(const call *run, size_t r, known facts)
{
    centre by = known_centre(run, facts);
    if (run->form == RESIDUAL_NONE && run->convention.affine == FORM_USUAL)
        apply_vector_alone(call_row(run, r), run->convention, by);
    else
        apply_any_alone(call_row(run, r), run->convention, by);
}

LN_INLINE known swept_finish(const call *run, swept total, size_t r)
{
    moments found = statistics_found(&run->statistics, total.pivot, total.sum, total.square);
    found = sweep_final(&run->statistics, call_row(run, r), found);
    factor rstd = convention_rstd(&run->convention, found);
    keep_moments(run->tensors, r, found, rstd);
    return (known){found.mean, found.rest, rstd};
}

LN_INLINE void run_one_by_one(const call *run)
{
    size_t rows = run->problem->rows, r = 0;
    if (rows == 0)
        return;
    swept first = swept_alone(run, 0), between = rows > 1 ? swept_alone(run, 1) : first;
    known facts = swept_finish(run, first, 0);
    real pivot = row_pivot(run, 2);
    for (; r + 2 < rows; r++) {
        sweep_sums sums;
        real next_pivot = row_pivot(run, r + 3);
        const row to_sweep = call_row(run, r + 2), to_apply = call_row(run, r);
        sweep_and_apply(run, &sums, &to_sweep, pivot, &to_apply, known_centre(run, facts));
        facts = swept_finish(run, between, r + 1);
        between = swept_of(run, &sums, pivot);
        pivot = next_pivot;
    }
    for (; r < rows; r++) {
        apply_alone(run, r, facts);
        if (r + 1 < rows)
            facts = swept_finish(run, between, r + 1);
    }
}
#endif

#endif

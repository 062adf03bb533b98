/* What schedules are made of: one row's way from x to y, and a call of a kernel, as schedules hand it
 * from function to function. A schedule that says LN_NONTEMPORAL stores y around the caches. */
#ifndef LN_SCHEDULE_CALL_H
#define LN_SCHEDULE_CALL_H

#include "convention.h"
#include LN_STATISTICS_FILE

/* ---- y of a row ---- */

/* y of `count` neighbouring vectors, of which the first `left` elements from column i on count: the
 * last touch of them. */
LN_INLINE void apply_vectors(ln_affine affine, const row *view, const convention *rules, centre by,
                             vec y[], size_t count, size_t i, size_t left)
{
    LN_UNROLLED
    for (size_t u = 0; u < count; u++) {
        y[u] = lane_set(0);
        if (left > u * LANES)
            y[u] = centre_normalise(by, row_again(view, i + u * LANES, left - u * LANES));
    }
    LN_BY_AFFINE(affine, convention_finish_as, rules, y, count, i, left, LANES);
}

/* The same of n elements (LANES of them if n is more), stored. */
LN_INLINE void apply_vector(const row *view, const convention *rules, centre by, size_t i, size_t n)
{
    vec y[1];
    apply_vectors(rules->affine, view, rules, by, y, 1, i, n);
    row_store(view->y + i, y[0], n);
}

/* y of the first min(left, BLOCK) elements from i on. */
LN_INLINE void apply_block(ln_affine affine, const row *view, const convention *rules, centre by,
                           size_t i, size_t left)
{
    vec y[UNROLL];
    apply_vectors(affine, view, rules, by, y, UNROLL, i, left);
    LN_UNROLLED
    for (size_t u = 0; u < UNROLL; u++)
        if (left > u * LANES)
            row_store(view->y + i + u * LANES, y[u], left - u * LANES);
}

#if LN_NONTEMPORAL
/* Stores of y around the caches, for a y that will not fit in them: a line that is stored whole is
 * not read first, and pushes nothing out. Those need aligned addresses, so what lies before y's
 * first line and behind its last is stored as usual.
 *
 * Reads have to go on while lines are written: where a row is read and then written, memory does
 * one or the other, and each waits for the last of the former (at hidden 4096 that costs a quarter;
 * at 1024, 40 %). So for each line of y that is stored, one line of x is fetched that will be
 * wanted FETCH_AHEAD elements later, counted as if rows lay one behind the other. Statistics then
 * find their row in L2. */
enum { LINE_BYTES = 64, LINE = LINE_BYTES / (int)sizeof(storage) };
enum { FETCH_AHEAD = 8192 / (int)sizeof(storage) };

/* How many columns from i on lie before the next line of y begins. */
LN_INLINE size_t columns_to_line(const row *view, size_t i)
{
    return (size_t)(-(uintptr_t)(view->y + i) % LINE_BYTES) / sizeof(storage);
}

/* Whether every row of y begins with a line of its own. */
LN_INLINE int rows_begin_lines(const ln_problem *problem, const ln_tensors *tensors)
{
    size_t stride = problem->y_stride ? problem->y_stride : problem->hidden;
    return ((uintptr_t)tensors->y | stride * sizeof(storage)) % LINE_BYTES == 0;
}

/* Fetches the lines of the block at column i of x (and residual); i may lie far behind the row: an
 * address that is fetched need not exist. */
LN_INLINE void fetch_block(const row *view, size_t i)
{
    LN_UNROLLED
    for (size_t u = 0; u < BLOCK; u += LINE) {
        size_t at = (i + u) * sizeof(storage);
        __builtin_prefetch((const void *)((uintptr_t)view->x + at), 0, 3);
        if (view->form == RESIDUAL_ADDED)
            __builtin_prefetch((const void *)((uintptr_t)view->residual + at), 0, 3);
    }
}

/* Asks memory for what will be wanted FETCH_AHEAD elements behind this row. */
LN_INLINE void row_fetch(const row *view)
{
    for (size_t i = 0; i < view->hidden; i += BLOCK)
        fetch_block(view, i + FETCH_AHEAD);
}

/* As apply_block(); y + i begins a vector's line. */
LN_INLINE void stream_block(ln_affine affine, const row *view, const convention *rules, centre by,
                            size_t i, size_t left)
{
    vec y[UNROLL];
    apply_vectors(affine, view, rules, by, y, UNROLL, i, left);
    LN_UNROLLED
    for (size_t u = 0; u < UNROLL; u++) {
        if (left <= u * LANES)
            continue;
        size_t at = i + u * LANES, n = left - u * LANES;
        if (n >= LANES)
            LN_PASTE(lane_stream_, LN_STORAGE)(view->y + at, y[u]);
        else
            row_store(view->y + at, y[u], n);
    }
}

/* y of the columns from begin to the next line, or to end: returns where that is. */
LN_INLINE size_t apply_to_line(const row *view, const convention *rules, centre by, size_t begin,
                               size_t end)
{
    size_t to_line = columns_to_line(view, begin);
    if (to_line < end - begin)
        end = begin + to_line;
    for (size_t i = begin; i < end; i += LANES)
        apply_vector(view, rules, by, i, end - i);
    return end;
}

LN_INLINE void apply_row_items(const row *view, const convention *rules, centre by)
{
    size_t hidden = view->hidden, i = apply_to_line(view, rules, by, 0, hidden);
    for (; hidden - i >= BLOCK; i += BLOCK) {
        fetch_block(view, i + hidden + FETCH_AHEAD);
        stream_block(rules->affine, view, rules, by, i, BLOCK);
    }
    if (i < hidden) {
        fetch_block(view, i + hidden + FETCH_AHEAD);
        stream_block(rules->affine, view, rules, by, i, hidden - i);
    }
}
#else
/* Nothing is fetched ahead from caches. */
LN_INLINE void row_fetch(const row *view)
{
    (void)view;
}

/* The whole blocks of a row. Returns how many columns they are. */
LN_INLINE size_t apply_blocks(ln_affine affine, const row *view, const convention *rules, centre by)
{
    size_t i = 0;
    for (; view->hidden - i >= BLOCK; i += BLOCK)
        apply_block(affine, view, rules, by, i, BLOCK);
    return i;
}

/* What is left behind whole blocks is a loop: unrolled, it would be most of a kernel's code. */
LN_INLINE void apply_row_items(const row *view, const convention *rules, centre by)
{
    size_t i = LN_BY_AFFINE(rules->affine, apply_blocks, view, rules, by);
    for (; view->hidden > i; i += LANES) {
        size_t n = view->hidden - i < LANES ? view->hidden - i : LANES;
        apply_vector(view, rules, by, i, n);
    }
}
#endif

/* ---- Rows that items cannot hold (apply/checked.h): one by one, in double ---- */

#ifdef CENTRE_CHECKED
_Static_assert(sizeof(storage) == sizeof(item), "rows made in double are stored as items are");

/* Gamma and beta of n elements (LANES of them if n is more) from column i on, as numbers. */
LN_INLINE void convention_parameters(const convention *rules, size_t i, size_t n, item gamma[LANES],
                                     item beta[LANES])
{
    ln_affine affine = rules->affine;
    item_store(gamma, lane_set(1));
    item_store(beta, lane_set(0));
    if (affine == LN_AFFINE_SCALAR) {
        item_store(gamma, rules->gamma_scalar);
        item_store(beta, rules->beta_scalar);
    } else if (affine != LN_AFFINE_NONE) {
        item_store(gamma, param_load(rules->gamma + i, n));
    }
    if (affine == LN_AFFINE_VECTOR || affine == LN_AFFINE_GAMMA1)
        item_store(beta, param_load(rules->beta + i, n));
}

LN_RARE void apply_in_double(row view, convention rules, centre by)
{
    item x[LANES], gamma[LANES], beta[LANES];
    double one = rules.affine == LN_AFFINE_GAMMA1 ? 1 : 0;
    for (size_t i = 0; i < view.hidden; i += LANES) {
        size_t n = view.hidden - i;
        item_store(x, row_again(&view, i, n));
        convention_parameters(&rules, i, n, gamma, beta);
        for (size_t j = 0; j < LANES; j++) {
            double deviation = ((double)x[j] - by.mean) - by.rest;
            double xhat = deviation * by.rstd + (double)rules.quotient;
            x[j] = (item)(xhat * (one + (double)gamma[j]) + (double)beta[j]);
        }
        row_store(view.y + i, lane_load(x), n);
    }
}

#endif

LN_INLINE void apply_row(const row *view, const convention *rules, centre by)
{
#ifdef CENTRE_CHECKED
    if (__builtin_expect(by.strange, 0)) {
        apply_in_double(*view, *rules, by);
        return;
    }
#endif
    apply_row_items(view, rules, by);
}

/* ---- A call ---- */

/* From one row to the next, in elements. */
typedef struct row_strides {
    size_t x;
    size_t y;
    size_t residual;
    size_t sum;
} row_strides;

LN_INLINE row_strides row_strides_of(const ln_problem *problem)
{
    size_t hidden = problem->hidden;
    return (row_strides){
        .x = problem->x_stride ? problem->x_stride : hidden,
        .y = problem->y_stride ? problem->y_stride : hidden,
        .residual = problem->residual_stride ? problem->residual_stride : hidden,
        .sum = problem->sum_stride ? problem->sum_stride : hidden,
    };
}

/* What is the same for all rows. */
typedef struct call {
    const ln_problem *problem;
    const ln_tensors *tensors;
    statistics statistics;
    convention convention;
    residual_form form;  /* a constant of always-inline bodies */
    row_strides strides; /* for row_advance() */
    /* 0 but in schedules that set them: */
    int is_long; /* rows are of more than one chunk (one_sweep.h): a constant, too */
    int regular; /* gamma and beta are: convention_is_regular() */
    int streams; /* y goes around the caches: all vectors of it begin lines */
} call;

/* Each field by itself: to clear the rest of so large a thing takes as long as a few short rows. */
LN_INLINE call call_of(const ln_problem *problem, const ln_tensors *tensors, ln_affine affine,
                       residual_form form)
{
    call run;
    run.problem = problem;
    run.tensors = tensors;
    run.statistics = statistics_prepare(problem);
    run.convention = convention_prepare(problem, tensors, affine);
    run.form = form;
    run.is_long = run.regular = run.streams = 0;
    run.strides = row_strides_of(problem);
    if (!tensors->sum)
        run.strides.sum = run.strides.y;
    return run;
}

/* Row number r. Its strides are read anew: kept over a loop, they and what compilers make of them
 * take the registers of what is in the loop (two_pass at hidden 64: 4 %). */
LN_INLINE row call_row(const call *run, size_t r)
{
    const row_strides strides = row_strides_of(run->problem);
    row view = {.hidden = run->problem->hidden, .form = run->form};
    view.x = (const storage *)run->tensors->x + r * strides.x;
    view.y = (storage *)run->tensors->y + r * strides.y;
    if (run->form == RESIDUAL_ADDED) {
        view.residual = (const storage *)run->tensors->residual + r * strides.residual;
        if (run->tensors->sum)
            view.sum = (storage *)run->tensors->sum + r * strides.sum;
        else if (!LN_NONTEMPORAL)
            view.sum = view.y;
    }
    return view;
}

/* The next row. */
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

/* Writes what the caller wants to know of a row. */
LN_INLINE void keep_moments(const ln_tensors *tensors, size_t r, moments found, factor rstd)
{
    if (tensors->mean)
        ((real *)tensors->mean)[r] = found.mean + found.rest;
    if (tensors->rstd)
        ((real *)tensors->rstd)[r] = (real)rstd;
}

/* From what was found of row r to what apply needs of it. */
LN_INLINE centre call_centre(const call *run, size_t r, moments found)
{
    factor rstd = convention_rstd(&run->convention, found);
    keep_moments(run->tensors, r, found, rstd);
    return centre_of(found, rstd, run->convention.quotient);
}

/* Row r from beginning to end. */
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

#endif

/* What schedules are made of: one row's way from x to y. A schedule that says LN_NONTEMPORAL stores
 * y around the caches (stream.h). */
#ifndef LN_SCHEDULE_ROWS_H
#define LN_SCHEDULE_ROWS_H

/* y of n elements (LANES of them if n is more) from column i on: the last touch of them. */
LN_INLINE vec apply_vector(const row *row, const convention *convention, centre centre, size_t i,
                           size_t n)
{
    return convention_finish(convention, centre_normalise(centre, row_last(row, i, n)), i, n);
}

#ifdef CENTRE_FOLDED
#include "schedule/folded.h"
#endif

/* y of the first min(left, BLOCK) elements from i on. Loads come before stores. */
LN_INLINE void apply_block(const row *row, const convention *convention, centre centre, size_t i,
                           size_t left)
{
    LN_UNROLLED
    for (size_t u = 0; u < UNROLL; u++) {
        if (left <= u * LANES)
            continue;
        size_t at = i + u * LANES, n = left - u * LANES;
        row_store(row->y + at, apply_vector(row, convention, centre, at, n), n);
    }
}

#ifdef LN_NONTEMPORAL
#include "schedule/stream.h"
#else
/* What is left behind whole blocks is a loop: unrolled, it would be most of a kernel's code. */
LN_INLINE void apply_row(const row *row, const convention *convention, centre centre)
{
    size_t i = 0;
    for (; row->hidden - i >= BLOCK; i += BLOCK)
        apply_block(row, convention, centre, i, BLOCK);
    for (; row->hidden > i; i += LANES) {
        size_t n = row->hidden - i < LANES ? row->hidden - i : LANES;
        row_store(row->y + i, apply_vector(row, convention, centre, i, n), n);
    }
}
#endif

/* From one row of a call to the next, in elements. */
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

/* Row number r of a call. */
LN_INLINE row row_at_strides(const ln_problem *problem, const ln_tensors *tensors,
                             const row_strides *strides, size_t r, residual_form form,
                             int sum_early)
{
    row row = {.hidden = problem->hidden, .form = form, .sum_early = sum_early};
    row.x = (const storage *)tensors->x + r * strides->x;
    row.y = (storage *)tensors->y + r * strides->y;
    if (form != RESIDUAL_NONE)
        row.residual = (const storage *)tensors->residual + r * strides->residual;
    if (form == RESIDUAL_WRITTEN)
        row.sum = (storage *)tensors->sum + r * strides->sum;
    return row;
}

LN_INLINE row row_at(const ln_problem *problem, const ln_tensors *tensors, size_t r,
                     residual_form form, int sum_early)
{
    const row_strides strides = row_strides_of(problem);
    return row_at_strides(problem, tensors, &strides, r, form, sum_early);
}

/* The next row. */
LN_INLINE void row_advance(row *row, const row_strides *strides)
{
    row->x += strides->x;
    row->y += strides->y;
    if (row->form != RESIDUAL_NONE)
        row->residual += strides->residual;
    if (row->form == RESIDUAL_WRITTEN)
        row->sum += strides->sum;
}

/* Writes what the caller wants to know of a row. */
LN_INLINE void keep_moments(const ln_tensors *tensors, size_t r, moments moments, factor rstd)
{
    if (tensors->mean)
        ((real *)tensors->mean)[r] = moments.mean + moments.rest;
    if (tensors->rstd)
        ((real *)tensors->rstd)[r] = (real)rstd;
}

#ifdef CENTRE_GUARDED
#include "schedule/apart.h"
#endif

#endif

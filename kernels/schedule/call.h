/* A call of a kernel, as schedules hand it from function to function: its rows, and the way of a
 * row that is taken alone. */
#ifndef LN_SCHEDULE_CALL_H
#define LN_SCHEDULE_CALL_H

#include "schedule/rows.h"

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

enum { SUM_LATE, SUM_EARLY }; /* sum_early of a call */

/* What is the same for all rows. */
typedef struct call {
    const ln_problem *problem;
    const ln_tensors *tensors;
    statistics statistics;
    convention convention;
    residual_form form;  /* a constant of always-inline bodies, as the next */
    int sum_early;       /* a row's sum is written by its first touch (row.h) */
    row_strides strides; /* for row_advance() */
    /* 0 but in schedules that set them: */
    int is_long; /* rows are of more than one chunk (one_sweep.h): a constant, too */
    int regular; /* gamma and beta are: convention_is_regular() */
    int streams; /* y goes around the caches: all vectors of it begin lines */
} call;

/* Each field by itself: to clear the rest of so large a thing takes as long as a few short rows. */
LN_INLINE call call_of(const ln_problem *problem, const ln_tensors *tensors, ln_affine affine,
                       residual_form form, int sum_early)
{
    call call;
    call.problem = problem;
    call.tensors = tensors;
    call.statistics = statistics_prepare(problem);
    call.convention = convention_prepare(problem, tensors, affine);
    call.form = form;
    call.sum_early = sum_early;
    call.is_long = call.regular = call.streams = 0;
    call.strides = row_strides_of(problem);
    return call;
}

/* Row number r. Its strides are read anew: kept over a loop, they and what compilers make of them
 * take the registers of what is in the loop (two_pass at hidden 64: 4 %). */
LN_INLINE row call_row(const call *call, size_t r)
{
    const row_strides strides = row_strides_of(call->problem);
    row row = {.hidden = call->problem->hidden, .form = call->form, .sum_early = call->sum_early};
    row.x = (const storage *)call->tensors->x + r * strides.x;
    row.y = (storage *)call->tensors->y + r * strides.y;
    if (call->form != RESIDUAL_NONE)
        row.residual = (const storage *)call->tensors->residual + r * strides.residual;
    if (call->form == RESIDUAL_WRITTEN)
        row.sum = (storage *)call->tensors->sum + r * strides.sum;
    return row;
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

/* From what was found of row r to what apply needs of it. */
LN_INLINE centre call_centre(const call *call, size_t r, moments found)
{
    factor rstd = convention_rstd(&call->convention, found);
    keep_moments(call->tensors, r, found, rstd);
    return centre_of(found, rstd, call->convention.quotient);
}

/* Row r from beginning to end. */
LN_INLINE void run_row(const call *call, size_t r)
{
    const row row = call_row(call, r);
    real pivot = statistics_pivot(&call->statistics, &row);
    moments found = statistics_of(&call->statistics, &row, pivot);
    factor rstd = convention_rstd(&call->convention, found);
    apply_row(&row, &call->convention, centre_of(found, rstd, call->convention.quotient));
    keep_moments(call->tensors, r, found, rstd);
}

LN_INLINE void run_rows(const call *call)
{
    for (size_t r = 0; r < call->problem->rows; r++)
        run_row(call, r);
}

#endif

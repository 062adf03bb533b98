/* ahead: while y of one row is made, the row after the next is swept, block by block in the same
 * loop: pipelined.h says why. For statistics that are not one sum of t and one of t^2 about one
 * pivot (lanewise.h), rows of any length one by one, and an apply that may set rows apart. */
#ifndef LN_SCHEDULE_H
#define LN_SCHEDULE_H

#include "schedule/rows.h"

#ifndef CENTRE_GUARDED
#error "the schedule ahead is for the apply guarded"
#endif

/* A call, and what is the same for all its rows. */
typedef struct call {
    const ln_problem *problem;
    const ln_tensors *tensors;
    const statistics *statistics;
    const convention *convention;
    residual_form form;
} call;

LN_INLINE row call_row(const call *call, size_t r)
{
    return row_at(call->problem, call->tensors, r, call->form, 1);
}

/* Of rows that are not there: of the first. */
LN_INLINE sweep_origin row_origin(const call *call, size_t r)
{
    const row row = call_row(call, r < call->problem->rows ? r : 0);
    return sweep_origin_of(call->statistics, &row);
}

LN_INLINE swept swept_alone(const call *call, size_t r)
{
    sweep_sums sums;
    const row row = call_row(call, r);
    sweep_origin origin = row_origin(call, r);
    sweep_row(&sums, &row, origin);
    return sweep_end(call->statistics, &sums, origin);
}

LN_INLINE centre swept_finish(const call *call, swept swept, size_t r)
{
    const row row = call_row(call, r);
    moments found = swept_moments(call->statistics, &row, swept);
    factor rstd = convention_rstd(call->convention, found);
    keep_moments(call->tensors, r, found, rstd);
    return centre_of(found, rstd, call->convention->quotient);
}

/* Sweeps `later` while y of `this` is made. */
LN_INLINE void sweep_and_apply(sweep_sums *sums, const row *later, sweep_origin origin,
                               const row *this, const convention *convention, centre centre)
{
    size_t i = 0, hidden = later->hidden;
    if (__builtin_expect(centre.strange, 0)) {
        sweep_row(sums, later, origin);
        apply_apart(*this, *convention, centre);
        return;
    }
    sweep_clear(sums);
    for (; hidden - i >= BLOCK; sweep_flush(sums))
        for (size_t end = sweep_chunk_end(i, hidden); i < end; i += BLOCK) {
            sweep_add(sums, later, origin, i, BLOCK);
            apply_block(this, convention, centre, i, BLOCK);
        }
    sweep_add(sums, later, origin, i, hidden - i);
    apply_block(this, convention, centre, i, hidden - i);
}

LN_INLINE void run_rows(const call *call)
{
    size_t rows = call->problem->rows, r = 0;
    swept first = swept_alone(call, 0), second = rows > 1 ? swept_alone(call, 1) : first;
    sweep_origin origin = row_origin(call, 2);
    for (; r + 2 < rows; r++) {
        sweep_sums sums;
        centre centre = swept_finish(call, first, r);
        sweep_origin next_origin = row_origin(call, r + 3);
        const row to_sweep = call_row(call, r + 2), to_apply = call_row(call, r);
        sweep_and_apply(&sums, &to_sweep, origin, &to_apply, call->convention, centre);
        first = second;
        second = sweep_end(call->statistics, &sums, origin);
        origin = next_origin;
    }
    for (; r < rows; r++) {
        const row to_apply = call_row(call, r);
        apply_row(&to_apply, call->convention, swept_finish(call, first, r));
        first = second;
    }
}

LN_INLINE void schedule_run(const ln_problem *problem, const ln_tensors *tensors, ln_affine affine,
                            residual_form form)
{
    const convention convention = convention_prepare(problem, tensors, affine);
    const statistics statistics = statistics_prepare(problem);
    const call call = {problem, tensors, &statistics, &convention, form};
    if (problem->rows > 0)
        run_rows(&call);
}

#endif

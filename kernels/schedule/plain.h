/* plain: row after row: its statistics, then y (and the sum, where one is wanted). */
#ifndef LN_SCHEDULE_H
#define LN_SCHEDULE_H

#include "schedule/call.h"

#ifdef STATISTICS_ONE_NAN
/* ---- The same NaN everywhere ----
 *
 * Which NaN an operation gives, and with which sign, differs between ISAs, and compilers swap operands.
 * So y of a row are added up on the way: a NaN among them makes the sum one, and then each NaN of the
 * row is replaced by the canonical one. That takes the place of an addition that does nothing, of -0
 * where no eps is on the quotient. Rows with such an eps go apart. */

LN_INLINE vec apply_and_add(ln_affine affine, const row *view, const convention *rules, centre by,
                            size_t i, size_t n, vec sum)
{
    vec xhat = centre_multiply(by, row_again(view, i, n));
    vec y = convention_finish(affine, rules, xhat, i, n);
    row_store(view->y + i, y, n);
    return lane_add(sum, y);
}

/* y of a row; returns their sum, in which what lies behind the row's end may count. */
LN_INLINE item apply_and_add_up(ln_affine affine, const row *view, const convention *rules,
                                centre by)
{
    size_t i = 0;
    vec sums[UNROLL];
    LN_UNROLLED
    for (size_t u = 0; u < UNROLL; u++)
        sums[u] = lane_set(0);
    for (; view->hidden - i >= BLOCK; i += BLOCK) {
        LN_UNROLLED
        for (size_t u = 0; u < UNROLL; u++)
            sums[u] = apply_and_add(affine, view, rules, by, i + u * LANES, LANES, sums[u]);
    }
    for (; view->hidden > i; i += LANES) {
        size_t n = view->hidden - i < LANES ? view->hidden - i : LANES;
        sums[0] = apply_and_add(affine, view, rules, by, i, n, sums[0]);
    }
    return lane_sum(items_sum(sums));
}

/* An eps of 0 too: adding it to -0 is not nothing. */
LN_INLINE int has_quotient(const convention *rules)
{
    return !(rules->quotient == 0 && signbit(rules->quotient));
}

/* A row that may hold NaNs, or has an eps on the quotient: then y are still to be made. */
LN_RARE void finish_row(const ln_problem *problem, const ln_tensors *tensors, residual_form form,
                        size_t r, real mean, real rest, factor rstd)
{
    const call run = call_of(problem, tensors, form_of(problem), form);
    const row view = call_row(&run, r);
    size_t hidden = view.hidden;
    centre by = centre_of((moments){mean, rest, 0, 1}, rstd, run.convention.quotient);
    if (has_quotient(&run.convention))
        for (size_t i = 0; i < hidden; i += LANES)
            apply_stored(run.convention.affine, &view, &run.convention, by, i, hidden - i);
    make_one_nan(view.y, hidden);
    if (form != RESIDUAL_NONE && view.sum != view.y)
        make_one_nan(view.sum, hidden);
    keep_moments(tensors, r,
                 isnan(mean + rest) ? (moments){LN_PASTE(NAN_, LN_ACCUMULATOR), 0, 0, 1}
                                    : (moments){mean, rest, 0, 1},
                 isnan(rstd) ? LN_PASTE(NAN_, LN_ACCUMULATOR) : rstd);
}

LN_INLINE void run_row_to_one_nan(const call *run, size_t r)
{
    const row view = call_row(run, r);
    const convention *rules = &run->convention;
    moments found = statistics_of(&run->statistics, &view, 0);
    factor rstd = convention_rstd(rules, found);
    centre by = centre_of(found, rstd, 0);
    item sum = NAN;
    if (__builtin_expect(!has_quotient(rules), 1))
        sum = LN_BY_AFFINE(rules, apply_and_add_up, &view, rules, by);
    keep_moments(run->tensors, r, found, rstd);
    if (__builtin_expect(isnan(sum), 0))
        finish_row(run->problem, run->tensors, run->form, r, found.mean, found.rest, rstd);
}
#endif

LN_INLINE void schedule_run(const ln_problem *problem, const ln_tensors *tensors, ln_affine affine,
                            residual_form form)
{
    const call run = call_of(problem, tensors, affine, form);
#ifdef STATISTICS_ONE_NAN
    for (size_t r = 0; r < problem->rows; r++)
        run_row_to_one_nan(&run, r);
#else
    run_rows(&run);
#endif
}

#endif

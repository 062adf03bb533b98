/* plain: one row after the other: its statistics, then y. */
#ifndef LN_SCHEDULE_H
#define LN_SCHEDULE_H

#include "schedule/call.h"

/* A single f32 row of RMSNorm has its own code (kernel.h), but not in plain C, where gcc 12 warns of loops that never
 * run. */
#if defined(SWEEP_SQUARES) && STORES_F32 && LN_LANES > 1
#define STATISTICS_OF_ONE
#endif

#ifdef STATISTICS_ONE_NAN
/* ---- The same NaN everywhere ----
 *
 * The bits and the sign of a computed NaN differ between ISAs, and compilers swap operands. So all y of some rows are
 * added: a NaN among them makes the sum a NaN, and then each NaN of these rows is replaced by the canonical one. This
 * addition replaces the addition of -0, which stands for the eps on the quotient if there is none, and so takes no
 * extra time. Rows with such an eps have another loop. */

enum { ROWS_ADDED_UP = 16 };

LN_INLINE vec apply_and_add(ln_affine affine, const row *view, const convention *rules, centre by,
                            size_t i, size_t n, vec sum)
{
    vec xhat = centre_multiply(by, row_again(view, i, n));
    vec y = convention_finish(affine, rules, xhat, i, n);
    row_store(view->y + i, y, n);
    return lane_add(sum, y);
}

/* Computes y of a row and adds it to sums, which may include numbers after the row's end. */
LN_INLINE void apply_and_add_up(ln_affine affine, const row *view, const convention *rules,
                                centre by, vec sums[UNROLL])
{
    size_t i = 0;
    for (; view->hidden - i >= BLOCK; i += BLOCK) {
        LN_UNROLLED
        for (size_t u = 0; u < UNROLL; u++)
            sums[u] = apply_and_add(affine, view, rules, by, i + u * LANES, LANES, sums[u]);
    }
    for (; view->hidden > i; i += LANES) {
        size_t n = view->hidden - i < LANES ? view->hidden - i : LANES;
        sums[0] = apply_and_add(affine, view, rules, by, i, n, sums[0]);
    }
}

/* Replaces all NaNs of rows by the canonical one. */
LN_RARE void make_rows_one_nan(const ln_problem *problem, const ln_tensors *tensors,
                               residual_form form, size_t first, size_t count)
{
    const call run = call_of(problem, tensors, form_of(problem), form);
    real *const kept[] = {tensors->mean, tensors->rstd};
    for (size_t r = first; r < first + count; r++) {
        const row view = call_row(&run, r);
        make_one_nan(view.y, view.hidden);
        if (form != RESIDUAL_NONE && view.sum != view.y)
            make_one_nan(view.sum, view.hidden);
        for (int k = 0; k < 2; k++)
            if (kept[k] && isnan(kept[k][r]))
                kept[k][r] = LN_PASTE(NAN_, LN_ACCUMULATOR);
    }
}

/* Returns whether there is an eps on the quotient, even one of 0: adding 0 would change a -0. */
LN_INLINE int has_quotient(const convention *rules)
{
    return !(rules->quotient == 0 && signbit(rules->quotient));
}

LN_RARE void apply_quotient(call run, row view, moments found, factor rstd)
{
    centre by = centre_of(found, rstd, run.convention.quotient);
    for (size_t i = 0; i < view.hidden; i += LANES)
        apply_stored(run.convention.affine, &view, &run.convention, by, i, view.hidden - i);
}

LN_INLINE void run_rows_to_one_nan(const call *run, size_t first, size_t count)
{
    const convention *rules = &run->convention;
    int quotient = has_quotient(rules);
    vec sums[UNROLL];
    LN_UNROLLED
    for (size_t u = 0; u < UNROLL; u++)
        sums[u] = lane_set(0);
    row view = call_row(run, first);
    for (size_t r = first; r < first + count; r++, row_advance(&view, &run->strides)) {
        moments found = statistics_of(&run->statistics, &view, 0);
        factor rstd = convention_rstd(rules, found);
        if (__builtin_expect(quotient, 0))
            apply_quotient(*run, view, found, rstd);
        else
            LN_BY_AFFINE(rules, apply_and_add_up, &view, rules, centre_of(found, rstd, 0), sums);
        keep_moments(run->tensors, r, found, rstd);
    }
    if (__builtin_expect(quotient || isnan(lane_sum(items_sum(sums))), 0))
        make_rows_one_nan(run->problem, run->tensors, run->form, first, count);
}
#endif

LN_INLINE void schedule_run(const ln_problem *problem, const ln_tensors *tensors, ln_affine affine,
                            residual_form form)
{
    const call run = call_of(problem, tensors, affine, form);
#ifdef STATISTICS_ONE_NAN
    for (size_t r = 0; r < problem->rows; r += ROWS_ADDED_UP)
        run_rows_to_one_nan(&run, r,
                            problem->rows - r < ROWS_ADDED_UP ? problem->rows - r : ROWS_ADDED_UP);
#else
    run_rows(&run);
#endif
}

#endif

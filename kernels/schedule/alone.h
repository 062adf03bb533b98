/* alone: one row after another, for the statistics `doubled` and the apply `in_pairs`. */
#ifndef LN_SCHEDULE_H
#define LN_SCHEDULE_H

#include "statistics/doubled.h"
#include "convention.h"

#ifndef APPLY_IN_PAIRS
#error "the schedule alone is for the apply in_pairs"
#endif

/* The numbers from which y of a row is computed. */
typedef struct paired_centre {
    doubled_moments found;
    doubled_factor rstd;
} paired_centre;

/* Applies the affine form to p + l. */
LN_INLINE vec paired_finish(ln_affine affine, const convention *rules, vec p, vec l, size_t i,
                            size_t n)
{
    if (affine == LN_AFFINE_NONE)
        return lane_add(p, l);
    vec rest, beta, gamma = rules->gamma_scalar;
    if (affine != LN_AFFINE_SCALAR)
        gamma = param_load(rules->gamma + i, n);
    if (affine == LN_AFFINE_GAMMA)
        return fused(p, gamma, lane_multiply(l, gamma));
    beta = affine == LN_AFFINE_SCALAR ? rules->beta_scalar : param_load(rules->beta + i, n);
    if (affine != LN_AFFINE_GAMMA1)
        return fused(p, gamma, multiply_add(l, gamma, beta));
    gamma = lanes_sum(lane_set(1), gamma, &rest);
    return fused(p, gamma, lane_add(multiply_add(l, gamma, lane_multiply(p, rest)), beta));
}

LN_INLINE void paired_apply(ln_affine affine, const row *view, const convention *rules,
                            const paired_centre *by)
{
    vec scale = lane_set(by->found.scale), minus = lane_set(0 - by->found.mean[0]);
    vec second = lane_set(by->found.mean[1]), third = lane_set(by->found.mean[2]);
    two factor_of_row = by->rstd.value;
    vec rstd = lane_set(factor_of_row.high), opposite = lane_set(0 - factor_of_row.high);
    vec rest = lane_set(factor_of_row.low), quotient = lane_set(rules->quotient);
    int has_quotient = rules->quotient > 0;
    for (size_t i = 0; i < view->hidden; i += LANES) {
        size_t n = view->hidden - i;
        vec e, error, x = lane_multiply(row_again(view, i, n), scale);
        vec t = lanes_sum(x, minus, &e), low = lane_subtract(e, second), d = lane_add(t, low);
        e = lane_subtract(lane_subtract(low, lane_subtract(d, t)), third);
        vec p = lane_multiply(d, rstd), l = product_rest(d, rstd, lane_multiply(d, opposite));
        l = multiply_add(d, rest, multiply_add(e, rstd, l));
        if (has_quotient) {
            p = lanes_sum(p, quotient, &error);
            l = lane_add(l, error);
        }
        row_store(view->y + i, paired_finish(affine, rules, p, l, i, n), n);
    }
}

/* Computes a row whose xhat may be subnormal: element by element, with a scale that is removed after the multiplication
 * by gamma. */
LN_RARE void paired_apply_far(row view, convention rules, paired_centre by)
{
    ln_affine affine = rules.affine;
    const two rstd = by.rstd.value;
    int exponent = 0, back;
    (void)frexp(by.found.scale, &back);
    back += by.rstd.exponent - 1;
    for (size_t i = 0; i < view.hidden; i++) {
        size_t at = affine == LN_AFFINE_SCALAR ? 0 : i;
        item lanes[LANES];
        item_store(lanes, row_again(&view, i, 1));
        two gamma = {1, 0}, t = two_sum(lanes[0] * by.found.scale, 0 - by.found.mean[0]);
        real beta = -0.0, low = t.low - by.found.mean[1];
        two d = two_sum_ordered(t.high, low), p = two_product(d.high, rstd.high);
        real l = p.low + (d.low - by.found.mean[2]) * rstd.high + d.high * rstd.low;
        if (ln_has_gamma(affine))
            gamma.high = LN_PASTE(item_of_, LN_PARAM)(rules.gamma[at]);
        if (affine == LN_AFFINE_GAMMA1)
            gamma = two_sum(1, gamma.high);
        if (ln_has_beta(affine))
            beta = LN_PASTE(item_of_, LN_PARAM)(rules.beta[at]);
        gamma.high = frexp(gamma.high, &exponent);
        gamma.low = ldexp(gamma.low, -exponent);
        real y = fma(p.high, gamma.high, l * gamma.high + p.high * gamma.low);
        lanes[0] = ldexp(y, exponent - back) + beta;
        view.y[i] = lanes[0];
    }
}

LN_INLINE void schedule_run(const ln_problem *problem, const ln_tensors *tensors, ln_affine affine,
                            residual_form form)
{
    const statistics stats = statistics_prepare(problem);
    const convention rules = convention_prepare(problem, tensors, affine, form);
    for (size_t r = 0; r < problem->rows; r++) {
        row view = row_of(problem, tensors, form, r);
        if (!view.sum)
            view.sum = view.y;
        paired_centre by;
        by.found = doubled_of(&stats, &view);
        by.rstd = doubled_rstd(&stats, &by.found);
        if (tensors->mean)
            ((real *)tensors->mean)[r] = doubled_mean(&by.found);
        if (tensors->rstd)
            ((real *)tensors->rstd)[r] = doubled_rstd_of_row(&by.found, &by.rstd);
        if (__builtin_expect(by.rstd.far, 0))
            paired_apply_far(view, rules, by);
        else
            LN_BY_AFFINE(&rules, paired_apply, &view, &rules, &by);
    }
}

#endif

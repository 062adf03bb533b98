/* Divisor, eps and affine: the only file that knows them.
 *
 * rstd = 1 / (sqrt(m2 / (N - ddof) + eps_in_variance) + eps_on_std), one of the two eps being 0
 * (and adding 0 is exact), so that no row branches on the place of eps. The eps on the quotient is
 * the addend of (x - mean) * rstd + quotient, which is -0 elsewhere: adding -0 changes nothing, not
 * even the sign of a zero.
 *
 * Bound. Each step of rstd is monotone, so the interval of m2 / N gives one of rstd: N - ddof and
 * the quotient round, eps rounds to the accumulator's type, then the sum, the root, the second sum
 * and the reciprocal; a scale, being a power of two, is exact but for underflow. Where items are
 * shorter than accumulators, rstd is rounded to one. That is r (1 + rho). With deviations d' within
 * D of the exact d, xhat = fl(d' r' + q):
 *     |xhat - (d r + q)|
 *         <= r (1 + rho) D + max|d| r rho         what comes in
 *          + u r (1 + rho)(max|d| + D) + tiny     one rounding, or the product's; and where eps is
 *          + u eps + tiny                         on the quotient, eps and a sum
 *          + u (r (1 + rho)(max|d| + D)(1 + u) + eps (1 + u)) + tiny.
 * Affine: fl(gamma xhat + beta) rounds once where fused or where there is no beta, else twice; 1 +
 * gamma once more. Those roundings are relative to |gamma xhat| + |beta|, with xhat as computed:
 * the exact one gives affine_rel, its error a factor on xhat_abs. Subnormal products are in the
 * 2^-148 of ln_bound. */
#ifndef LN_CONVENTION_H
#define LN_CONVENTION_H

typedef struct convention {
    real divisor;
    real eps_in_variance;
    real eps_on_std;
    vec quotient;
    const param *gamma;
    const param *beta;
    vec gamma_scalar;
    vec beta_scalar;
    ln_affine affine; /* a constant of always-inline bodies */
} convention;

LN_INLINE convention convention_prepare(const ln_problem *problem, const ln_tensors *tensors,
                                        ln_affine affine)
{
    const ln_convention *wanted = &problem->convention;
    real eps = (real)wanted->eps;
    convention convention = {
        .divisor = (real)(problem->hidden - (size_t)wanted->ddof),
        .eps_in_variance = wanted->eps_place == LN_EPS_VAR ? eps : 0,
        .eps_on_std = wanted->eps_place == LN_EPS_STD ? eps : 0,
        .quotient = lane_set(wanted->eps_place == LN_EPS_QUOTIENT ? (item)eps : -(item)0),
        .gamma = tensors->gamma,
        .beta = tensors->beta,
        .affine = affine,
    };
    if (affine == LN_AFFINE_SCALAR) {
        convention.gamma_scalar = lane_set(*convention.gamma);
        convention.beta_scalar = lane_set(*convention.beta);
    }
    return convention;
}

/* The factor that multiplies x - mean. */
LN_INLINE real convention_rstd(const convention *convention, moments moments)
{
    real var = moments.m2 / convention->divisor, scale = moments.scale;
    real eps_in_variance = (convention->eps_in_variance * scale) * scale;
    real std = real_square_root(var + eps_in_variance) + convention->eps_on_std * scale;
    return scale * (1 / std);
}

/* y of n elements (LANES of them if n is more) from column i on. */
LN_INLINE vec convention_finish(const convention *convention, vec deviation, vec rstd, size_t i,
                                size_t n)
{
    vec xhat = multiply_add(deviation, rstd, convention->quotient);
    switch (convention->affine) {
    case LN_AFFINE_NONE:
        return xhat;
    case LN_AFFINE_SCALAR:
        return multiply_add(xhat, convention->gamma_scalar, convention->beta_scalar);
    case LN_AFFINE_GAMMA:
        return lane_multiply(xhat, row_load(convention->gamma + i, n));
    case LN_AFFINE_VECTOR:
        return multiply_add(xhat, row_load(convention->gamma + i, n),
                            row_load(convention->beta + i, n));
    case LN_AFFINE_GAMMA1: {
        vec gamma = lane_add(lane_set(1), row_load(convention->gamma + i, n));
        return multiply_add(xhat, gamma, row_load(convention->beta + i, n));
    }
    }
    return xhat;
}

/* Outward roundings of an end of an interval: `roundings` of them, and an underflow. */
LN_INLINE double bound_below(double value, double roundings)
{
    double below = value - fabs(value) * (bound_gamma(roundings) + 1e-14) - REAL_TINY;
    return value >= 0 ? fmax(below, 0.0) : below; /* rounding never crosses zero */
}

LN_INLINE double bound_above(double value, double roundings)
{
    return value + fabs(value) * (bound_gamma(roundings) + 1e-14) + REAL_TINY;
}

/* rho: |rstd / exact - 1|, infinite for no claim. */
LN_INLINE double convention_rstd_bound(const ln_problem *problem, const ln_row_facts *facts,
                                       const moments_bound *moments)
{
    const ln_convention *wanted = &problem->convention;
    double n = (double)problem->hidden, scale = moments->scale;
    double ratio = n / (n - wanted->ddof) * scale * scale;
    double in_variance = wanted->eps_place == LN_EPS_VAR ? wanted->eps * scale * scale : 0.0;
    double on_std = wanted->eps_place == LN_EPS_STD ? wanted->eps * scale : 0.0;
    double lo = bound_below(moments->var_lo * ratio, 2),
           hi = bound_above(moments->var_hi * ratio, 2);
    if (in_variance > 0) {
        lo = bound_below(lo + bound_below(in_variance, 2), 1);
        hi = bound_above(hi + bound_above(in_variance, 2), 1);
    }
    if (!(lo >= 0 && hi < REAL_MAX / 2))
        return INFINITY;
    lo = bound_below(sqrt(lo), 1);
    hi = bound_above(sqrt(hi), 1);
    if (on_std > 0) {
        lo = bound_below(lo + bound_below(on_std, 1), 1);
        hi = bound_above(hi + bound_above(on_std, 1), 1);
    }
    if (!(2 / lo < REAL_MAX && hi < REAL_MAX / 2 && 1 / hi > 2 * REAL_MIN))
        return INFINITY;
    double largest = scale / lo * (1 + REAL_UNIT), smallest = scale / hi * (1 - REAL_UNIT);
    if (!(2 * largest < ITEM_MAX && smallest > 2 * ITEM_MIN))
        return INFINITY;
    double item = WIDE ? ITEM_UNIT : 0.0;
    largest *= 1 + item;
    smallest *= 1 - item;
    return fmax(largest / facts->rstd - 1, 1 - smallest / facts->rstd) + 1e-13;
}

/* Roundings of the affine form after xhat. */
LN_INLINE double convention_roundings(ln_affine affine)
{
    double sum = LN_FMA ? 1 : 2;
    switch (affine) {
    case LN_AFFINE_NONE:
        return 0;
    case LN_AFFINE_GAMMA:
        return 1;
    case LN_AFFINE_SCALAR:
    case LN_AFFINE_VECTOR:
        return sum;
    case LN_AFFINE_GAMMA1:
        return sum + 1;
    }
    return INFINITY;
}

/* deviation: the largest absolute error of x - mean. */
LN_INLINE ln_bound convention_bound(const ln_problem *problem, const ln_row_facts *facts,
                                    const moments_bound *moments, double deviation)
{
    double affine = item_gamma(convention_roundings(problem->convention.affine));
    double rho = convention_rstd_bound(problem, facts, moments), r = facts->rstd;
    if (!isfinite(rho) || !isfinite(r) || !isfinite(deviation))
        return (ln_bound){INFINITY, affine};
    double product = r * (1 + rho) * (facts->max_dev + deviation);
    double error =
        r * (1 + rho) * deviation + facts->max_dev * r * rho + ITEM_UNIT * product + ITEM_TINY;
    double eps = problem->convention.eps;
    if (problem->convention.eps_place == LN_EPS_QUOTIENT)
        error += ITEM_UNIT * (2 + ITEM_UNIT) * eps + ITEM_UNIT * (1 + ITEM_UNIT) * product +
                 2 * ITEM_TINY;
    if (!(2 * (product + eps) < ITEM_MAX))
        return (ln_bound){INFINITY, affine};
    return (ln_bound){error * (1 + affine) * bound_slack, affine};
}

#endif

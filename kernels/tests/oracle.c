#include "oracle.h"

#include <math.h>

uint64_t numbers_next(numbers *numbers)
{
    uint64_t z = numbers->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double numbers_uniform(numbers *numbers)
{
    return ((double)(numbers_next(numbers) >> 11) + 0.5) * 0x1p-53;
}

double numbers_normal(numbers *numbers)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += numbers_uniform(numbers);
    return sum;
}

static quad quad_square_root(quad a)
{
    if (!(a > 0))
        return a == 0 ? 0 : (quad)NAN;
    quad root = (quad)sqrt((double)a);
    for (int i = 0; i < 3; i++) /* each Newton step doubles the 53 digits */
        root = (root + a / root) / 2;
    return root;
}

static double gamma_of(const ln_convention *convention, const float *gamma, size_t i)
{
    switch (convention->affine) {
    case LN_AFFINE_NONE:
        return 1;
    case LN_AFFINE_SCALAR:
        return gamma[0];
    case LN_AFFINE_GAMMA:
    case LN_AFFINE_VECTOR:
        return gamma[i];
    case LN_AFFINE_GAMMA1:
        return 1 + (double)gamma[i];
    }
    return NAN;
}

static double beta_of(const ln_convention *convention, const float *beta, size_t i)
{
    if (convention->affine == LN_AFFINE_NONE || convention->affine == LN_AFFINE_GAMMA)
        return 0;
    return beta[convention->affine == LN_AFFINE_SCALAR ? 0 : i];
}

static quad find_facts(const ln_convention *convention, size_t hidden, const float *x, oracle *out,
                       quad *rstd)
{
    quad sum = 0, absolute = 0, squares = 0;
    double largest = 0, deviation = 0;
    for (size_t i = 0; i < hidden; i++) {
        sum += (quad)x[i];
        absolute += (quad)fabs((double)x[i]);
        largest = isnan(x[i]) ? NAN : fmax(largest, fabs((double)x[i]));
        if (!isfinite(x[i]))
            out->is_nan = true;
    }
    quad mean = sum / (quad)hidden;
    for (size_t i = 0; i < hidden; i++) {
        squares += ((quad)x[i] - mean) * ((quad)x[i] - mean);
        deviation = fmax(deviation, fabs((double)((quad)x[i] - mean)));
    }
    quad var = squares / ((quad)hidden - (quad)convention->ddof);
    quad eps = (quad)convention->eps;
    quad divisor = convention->eps_place == LN_EPS_VAR   ? quad_square_root(var + eps)
                   : convention->eps_place == LN_EPS_STD ? quad_square_root(var) + eps
                                                         : quad_square_root(var);
    if (!(divisor > 0) || hidden == (size_t)convention->ddof)
        out->is_nan = true;
    *rstd = 1 / divisor;
    out->facts = (ln_row_facts){
        .mean = (double)mean,
        .mean_abs = (double)(absolute / (quad)hidden),
        .max_abs = out->is_nan && !isfinite((double)sum) ? NAN : largest,
        .var = (double)(squares / (quad)hidden),
        .max_dev = deviation,
        .rstd = out->is_nan ? NAN : (double)*rstd,
    };
    return mean;
}

void oracle_row(const ln_convention *convention, size_t hidden, const float *x, const float *gamma,
                const float *beta, double *exact, oracle *out)
{
    *out = (oracle){0};
    quad rstd;
    quad mean = find_facts(convention, hidden, x, out, &rstd);
    quad quotient = convention->eps_place == LN_EPS_QUOTIENT ? (quad)convention->eps : 0;
    for (size_t i = 0; i < hidden; i++) {
        quad xhat = ((quad)x[i] - mean) * rstd + quotient;
        out->max_xhat = fmax(out->max_xhat, fabs((double)xhat));
        exact[i] = out->is_nan ? NAN
                               : (double)((quad)gamma_of(convention, gamma, i) * xhat +
                                          (quad)beta_of(convention, beta, i));
    }
}

/* |error| / allowed error of one element; infinite for a wrong class. */
static double used(const ln_convention *convention, size_t i, float y, double exact,
                   const oracle *oracle, const float *gamma, const float *beta,
                   const ln_bound *bound)
{
    if (oracle->is_nan)
        return isnan(y) ? 0 : (isfinite(bound->xhat_abs) ? INFINITY : 0);
    if (!isfinite(bound->xhat_abs))
        return 0;
    double g = fabs(gamma_of(convention, gamma, i)), b = fabs(beta_of(convention, beta, i));
    double allowed =
        g * bound->xhat_abs + bound->affine_rel * (g * oracle->max_xhat + b) + 0x1p-148;
    double share = fabs((double)y - exact) / (allowed + fabs(exact) * 0x1p-51);
    return isnan(share) ? INFINITY : share;
}

size_t oracle_first_breach(const ln_convention *convention, size_t hidden, const float *y,
                           const double *exact, const oracle *oracle, const float *gamma,
                           const float *beta, const ln_bound *bound)
{
    for (size_t i = 0; i < hidden; i++)
        if (used(convention, i, y[i], exact[i], oracle, gamma, beta, bound) > 1)
            return i;
    return hidden;
}

double oracle_bound_used(const ln_convention *convention, size_t hidden, const float *y,
                         const double *exact, const oracle *oracle, const float *gamma,
                         const float *beta, const ln_bound *bound)
{
    double most = 0;
    for (size_t i = 0; i < hidden; i++)
        most = fmax(most, used(convention, i, y[i], exact[i], oracle, gamma, beta, bound));
    return most;
}

/* The row ULP that a row has at most, in double arithmetic alone: what a search is rid of most rows
 * with, since only a row that may be worse than the worst so far needs its exact answer.
 *
 * Elements are exact in double, their squares neither overflow nor underflow (no f64 here); u is
 * 2^-53, N u < 2^-32. With Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed.,
 * sections 3.1 and 4.2, for sums one term after another:
 *
 *     m' = sum(x)/N       |m' - mean| <= e,  e = 2 N u sum|x|/N
 *     d' = x - m'         |d' - d| <= e + u|d'|
 *     q' = sqrt(sum d'^2) |q' - ||d||| <= sqrt(N) e + (N + 4) u q' = h q'
 *
 * rstd is 1/sqrt(var + eps) or 1/(std + eps), 0 <= eps < 2^300 so that no product with it
 * underflows: its relative error is at most that of the std. So xhat' = d' rstd' is off by less
 * than
 *
 *     t = 2 (rstd' e + |xhat'| (h + 8 u))
 *
 * where h < 1/8, and y' = g xhat' + b by less than |g| t + 4 u (|g xhat'| + |b|). Where |y'| and
 * that stay below the type's largest number together, no class is wrong. The scale of row ULP,
 * |g| max|xhat| + |b|, is at least what it comes out as with max|xhat'| less its t, less 8 u of it,
 * and ulp() does not fall as its argument grows. Of kappa = ||x|| / ||d||, the numerator is at
 * least (1 - (N + 4) u) of what it comes out as, the denominator at most (1 + h). */
#include "exact/scale.h"
#include "judge/layernorm/layernorm.h"

static const double unit = 0x1p-53;

/* The row about its mean, left in judge->values. */
typedef struct centred_row {
    double mean_error, norm, norm_error, largest; /* e, q', h, max|d'| */
    double kappa_at_least;
} centred_row;

static bool centre(row_judge *judge, size_t hidden, centred_row *row)
{
    double *x = judge->values, n = (double)hidden, sum = 0, absolute = 0, squares = 0, norm = 0;
    for (size_t i = 0; i < hidden; i++) {
        sum += x[i];
        absolute += fabs(x[i]);
        squares += x[i] * x[i];
    }
    double mean = sum / n;
    *row = (centred_row){.mean_error = 2 * unit * absolute};
    for (size_t i = 0; i < hidden; i++) {
        x[i] -= mean;
        norm += x[i] * x[i];
        row->largest = fabs(x[i]) > row->largest ? fabs(x[i]) : row->largest;
    }
    row->norm = sqrt(norm);
    row->norm_error = sqrt(n) * row->mean_error / row->norm + (n + 4) * unit;
    row->kappa_at_least = sqrt(squares) / row->norm * (1 - (n + 8) * unit) / (1 + row->norm_error);
    return row->norm_error < 0.125; /* false for a NaN */
}

/* NaN for a form that has no place here. */
static double rstd_of(const ln_convention *convention, size_t hidden, double norm)
{
    double degrees = (double)hidden - convention->ddof, eps = convention->eps;
    if (!(degrees > 0) || !(eps >= 0 && eps < 0x1p300) || convention->eps_place == LN_EPS_QUOTIENT)
        return NAN;
    if (convention->eps_place == LN_EPS_STD)
        return 1 / (norm / sqrt(degrees) + eps);
    return 1 / sqrt(norm * norm / degrees + (convention->eps_place == LN_EPS_VAR ? eps : 0));
}

row_screen layernorm_screen(row_judge *judge, const judge_block *block, size_t row, const void *y)
{
    row_screen screen = {INFINITY, 0};
    centred_row centred;
    type_format format = format_of(block->storage);
    metrics_row judged = judge_metrics_row(block, row);
    if (block->storage == LN_F64 || block->param == LN_F64 || block->inputs[ROLE_RESIDUAL] ||
        !judge_load_row(judge, block, row) || !centre(judge, block->hidden, &centred))
        return screen;
    double rstd = rstd_of(&block->convention, block->hidden, centred.norm);
    double relative = 2 * (centred.norm_error + 8 * unit), absolute = 2 * rstd * centred.mean_error;
    double largest = centred.largest * rstd, worst = 0;
    largest -= absolute + relative * largest;
    screen.kappa_at_least = centred.kappa_at_least;
    /* Half of where the type ends: what may be an infinity is not for here. */
    double finite = ldexp(1, block->storage == LN_F16 ? 15 : 127);
    for (size_t i = 0; i < block->hidden; i++) {
        double gamma = gamma_at(&judged, i), beta = beta_at(&judged, i),
               xhat = judge->values[i] * rstd;
        double product = gamma * xhat, given = load(block->storage, y, i);
        double far = fabs(gamma) * (absolute + relative * fabs(xhat)) +
                     4 * unit * (fabs(product) + fabs(beta));
        double off = fabs(given - (product + beta)) * (1 + 4 * unit) + far;
        double scale = (fabs(gamma) * largest + fabs(beta)) * (1 - 8 * unit);
        bool tells = scale > 0 && fabs(given) < finite && fabs(product) + fabs(beta) + far < finite;
        if (!tells) /* a NaN among them too */
            return screen;
        off /= ulp_in(format, scale);
        worst = off > worst ? off : worst;
    }
    screen.row_ulp_at_most = worst;
    return screen;
}

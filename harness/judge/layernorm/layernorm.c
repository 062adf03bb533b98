#include "judge/layernorm/layernorm.h"
#include "exact/scale.h"
#include "judge/tolerance.h"
#include <math.h>

static bool layernorm_answer(ln_reference *reference, const judge_block *block, size_t row)
{
    return ln_reference_row(reference, &block->convention, block->storage, block->param,
                            block->hidden, judge_input_row(block, ROLE_X, row),
                            judge_input_row(block, ROLE_RESIDUAL, row), block->inputs[ROLE_GAMMA],
                            block->inputs[ROLE_BETA], &block->results[row]);
}

/* Of y as x s + t, s = gamma rstd. */
static double layernorm_reach(const metrics_row *row, const double *x, size_t column)
{
    const ln_row_facts *facts = &row->answer->facts;
    double q = row->convention->eps_place == LN_EPS_QUOTIENT ? row->convention->eps : 0;
    return gamma_size(row, column) * (facts->rstd * (fabs(x[column]) + fabs(facts->mean)) + q) +
           fabs(beta_at(row, column));
}

static judged_statistic layernorm_statistic(const ln_reference_result *answer, size_t role,
                                            double given)
{
    const ln_row_facts *facts = &answer->facts;
    double rms = hypot(facts->mean, sqrt(facts->var));
    if (role == ROLE_MEAN)
        return (judged_statistic){.exact = facts->mean,
                                  .off = fabs(given - facts->mean),
                                  .size = fabs(facts->mean),
                                  .weight = facts->rstd,
                                  .error = rms > 0 ? (given - facts->mean) / rms : NAN};
    return (judged_statistic){.exact = facts->rstd,
                              .off = fabs(given / facts->rstd - 1),
                              .size = 1,
                              .weight = answer->max_xhat,
                              .error = facts->rstd > 0 ? (given - facts->rstd) / facts->rstd : NAN,
                              .relative = true};
}

/* ---- the sum with a residual, which is rounded to the storage type before it is normalised ---- */

/* Two roundings are one here (Figueroa 1995: 53 >= 2 p + 2), and f64 is added as it is. */
static double layernorm_sum(const judge_block *block, size_t i)
{
    return stored_in(block->storage, sum_in_double(block, i));
}

static double taken(const judge_block *block, const metrics_row *row, size_t at, size_t i,
                    const void *which)
{
    (void)which;
    return gamma_at(row, i) * row->answer->facts.rstd *
           (sum_in_double(block, at) - layernorm_sum(block, at));
}

static uint64_t layernorm_rounded_otherwise(const judge_block *block, const void *y)
{
    bool is = block->inputs[ROLE_RESIDUAL] && judge_follows(block, y, taken, NULL);
    return (uint64_t)is << MISTAKE_SUM;
}

const operation_judging layernorm_judging = {.answer = layernorm_answer,
                                             .any_order = layernorm_any_order,
                                             .textbook = layernorm_textbook,
                                             .poorest = layernorm_poorest,
                                             .mistakes = norm_mistakes,
                                             .say_mistake = norm_say_mistake,
                                             .reach = layernorm_reach,
                                             .statistic = layernorm_statistic,
                                             .added = layernorm_sum,
                                             .sum = layernorm_sum,
                                             .rounded_otherwise = layernorm_rounded_otherwise};

/* The proof, in the model of kernels/bounds/bounds.h: fl(a op b) = (a op b)(1 + e) + t, |e| <= u, and |t| <=
 * tiny where the result is subnormal; u is the accumulator's unit, a that of the arithmetic behind
 * the sums (the coarser of the accumulator's and the storage type's, but f32's for 16-bit rows,
 * which nobody computes in). mu, V: exact mean and biased variance; A = sum |x| / N; Q = V + mu^2;
 * D = max |x - mu|; r = exact rstd.
 *
 * Sums. A sum of N terms in any order is fl(sum) = sum t_i (1 + e_i), |e_i| <= g, since no term goes
 * through more than N - 1 additions, one rounding of its own and three of what the sum is divided
 * or multiplied by: g = gamma(N + 4) = (N + 4) u / (1 - (N + 4) u) (Higham, "Accuracy and Stability
 * of Numerical Algorithms", 2nd ed., 3.1 and 4.2). No claim where (N + 4) u >= 1/2.
 *     |mean' - mu| <= delta = g A + tiny, or E as below where means run.
 * Where roundings are independent and zero on average, g may be exp(l sqrt(n) u + n u^2 / (1 - u))
 * - 1, n = N + 4, but with a probability of 2 n exp(-l^2 (1 - u)^2 / 2) at most (Higham and Mary,
 * "A New Approach to Probabilistic Rounding Error Analysis", SIAM J. Sci. Comput. 41, 2019, theorem
 * 2.4, over n terms); l is solved from `chance`.
 *
 * Variance, N times it divided by N - ddof.
 *   Sum of squares less the square of the mean:
 *     |V' - V| <= g Q + 2 |mu| delta + delta^2 + 4 u (Q + mu^2) + 4 tiny.
 *   Two passes: sum (x - mean')^2 / N = V + (mean' - mu)^2, so |V' - V| <= g (V + delta^2) + delta^2
 *     + 4 tiny: no more than the above, as g < 1 and delta <= g sqrt(Q) + tiny.
 *   Running means of n = ceil(N / 2^L) elements a lane and L levels of merges (for every L):
 *     F / N + gamma(n + 2 L + 7)(V + F / N) + 4 tiny, with E and F as kernels/statistics/
 *     welford_lanes.h proves them.
 *   `lost` is the largest of these, times N / (N - ddof), and 4 u S for the divisor and the sum with
 *   eps, S = N V / (N - ddof).
 *
 * rstd. W = S + eps in the variance: |W' / W - 1| <= q = lost / W (1 + 4 u) + 4 u; q >= 1/2: no
 * claim. 1 / sqrt: rho = 1 / sqrt(1 - q) - 1 + 4 u. On the std: |sqrt(S') - sqrt(S)| <= lost /
 * sqrt(S) and S' may not be negative: lost < S, or nothing is claimed; q = (lost / sqrt(S)) /
 * (sqrt(S) + eps), rho = q / (1 - q) + 6 u.
 *
 * xhat. Each form is a sum of products of x, mean', r' with at most six roundings, each of a number
 * of at most r (1 + rho)(|mu| + D + delta):
 *     |xhat' - xhat| <= r (1 + rho)(delta + 6 a (|mu| + D + delta)) + r D rho + 6 a eps,
 * eps where it is on the quotient. Affine: five roundings of numbers of at most |gamma| |xhat| +
 * |beta|, of 16-bit rows each perhaps to the storage type (v), and the last to it always:
 * affine_rel = 5 max(a, v) + v.
 *
 * Overflow: no claim where N Q or N A may come within a factor 4 of the accumulator's largest
 * number, nor where var and eps are subnormal, which estimates of a root take for 0. Underflow: squares below tiny are lost, which is in `lost`; a kernel that flushes loses up
 * to its least normal number of every x, mean and y: that stands for tiny then, and for v of the
 * results through affine_rel of the smallest scale, added to xhat_abs.
 *
 * Facts are doubles within one ulp; a factor 1 + 1e-12 pays for that, as there. */

static const double slack = 1 + 1e-12;
static const order_answer no_claim = {{INFINITY, 0},
                                      {[ROLE_MEAN] = INFINITY, [ROLE_RSTD] = INFINITY}};

/* Running means and merges: what welford_lanes.h proves for n elements a lane and L levels. The sums
 * in it of N roundings of one kind take `chance` too. Raises *lost and *delta. */
static void take_running(const order_question *asked, const ln_row_facts *facts,
                         const arithmetic *sums, unsigned levels, double *lost, double *delta)
{
    double u = sums->unit, all = (double)asked->hidden, L = levels;
    double n = ceil(all / exp2(L)), g4 = gamma_of(4, u), V = facts->var;
    double S = sqrt(V + facts->mean * facts->mean);
    double growth = exp(n * u + g4 * (1 + log(n)));
    double chain = asked->chance > 0 ? gamma_with(n, u, asked->chance) / u : n;
    double P = fmin(chain * S, facts->max_abs * (chain + 1) / 2);
    double e = growth * (2 * sqrt(2) * g4 * sqrt(V) + u * P + sums->tiny * (n + 1) / 2);
    double E = pow(1 + gamma_of(5, u), L) * (e + g4 * sqrt(L * V) + L * (u * S + sums->tiny));
    double off = E * sqrt(V) * sqrt((1 + sqrt(2)) * (1 + sqrt(2)) + 4 * L) + (1 + L) * E * E;
    off += gamma_with(n + 2 * L + 7, u, asked->chance) * (V + off) + 4 * sums->tiny;
    *lost = fmax(*lost, off);
    *delta = fmax(*delta, E);
}

/* *delta: of sums; raised to that of any formula. */
static double lost_of_var(const order_question *asked, const ln_row_facts *facts,
                          const arithmetic *sums, double g, double *delta)
{
    double u = sums->unit, mu = fabs(facts->mean), Q = facts->var + mu * mu;
    double lost = g * Q + (2 * mu + *delta) * *delta + 4 * u * (Q + mu * mu) + 4 * sums->tiny;
    for (unsigned levels = 0; levels < 64 && asked->hidden >> levels > 0; levels++)
        take_running(asked, facts, sums, levels, &lost, delta);
    return lost;
}

order_answer layernorm_any_order(const order_question *asked, const ln_row_facts *facts)
{
    const ln_convention *convention = asked->convention;
    arithmetic sums = arithmetic_of(asked->accumulator, asked->flushes);
    double n = (double)asked->hidden, mu = fabs(facts->mean), r = facts->rstd;
    double g = gamma_with(n + 4, sums.unit, asked->chance);
    double Q = facts->var + mu * mu;
    if (!isfinite(r) || !isfinite(g) || !rstd_is_ordinary(asked->accumulator, asked->storage, r) ||
        asked->hidden <= (size_t)convention->ddof || !(4 * n * Q < sums.largest) ||
        !(4 * n * facts->mean_abs < sums.largest))
        return no_claim;
    double delta = g * facts->mean_abs + sums.tiny;
    double divided = n / (n - convention->ddof);
    double lost = lost_of_var(asked, facts, &sums, g, &delta) * divided;
    double rho = rstd_error(convention, facts->var * divided, lost, sums.unit);
    if (!isfinite(rho))
        return no_claim;
    double a = unit_behind(asked), v = unit_roundoff(asked->storage);
    double eps = convention->eps_place == LN_EPS_QUOTIENT ? convention->eps : 0;
    double xhat = r * (1 + rho) * (delta + 6 * a * (mu + facts->max_dev + delta)) +
                  r * facts->max_dev * rho + 6 * a * eps + 4 * sums.tiny;
    if (asked->flushes)
        xhat += r * (1 + rho) * 4 * arithmetic_of(asked->storage, true).tiny;
    return (order_answer){{xhat * slack, 5 * fmax(a, v) + v},
                          {[ROLE_MEAN] = (delta + 4 * sums.unit * (mu + delta)) * slack,
                           [ROLE_RSTD] = (rho + sums.unit) * slack}};
}

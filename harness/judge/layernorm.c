/* The part of the judge that depends on the operation (judging.h), for LayerNorm. */
#include "base/arena.h"
#include "judge/judging.h"

static bool layernorm_answer(ln_reference *reference, const judge_block *block, size_t row)
{
    return ln_reference_row(reference, &block->convention, block->storage, block->param,
                            block->hidden, judge_input_row(block, ROLE_X, row),
                            judge_input_row(block, ROLE_RESIDUAL, row), block->inputs[ROLE_GAMMA],
                            block->inputs[ROLE_BETA], &block->results[row]);
}

/* ---- the sum with a residual, which is rounded to the storage type before it is normalised ---- */

static double layernorm_taken(const judge_block *block, const metrics_row *row, size_t at, size_t i,
                              const void *which)
{
    (void)which;
    return gamma_at(row, i) * row->answer->facts.rstd *
           (sum_in_double(block, at) - judge_right_sum(block, at));
}

static uint64_t layernorm_rounded_otherwise(const judge_block *block, const void *y)
{
    bool is = block->inputs[ROLE_RESIDUAL] && judge_follows(block, y, layernorm_taken, NULL);
    return (uint64_t)is << MISTAKE_SUM;
}

/* ---- any order of summation ---- */

/* The bound covers sums of x and x^2, two passes, and running means with merges (Welford; Chan, Golub, LeVeque), in any
 * order and any number of lanes; and xhat as (x - mean) rstd or x rstd - mean rstd, both also with gamma multiplied
 * into the factors.
 *
 * The proof, in the model of kernels/bounds/bounds.h: fl(a op b) = (a op b)(1 + e) + t, |e| <= u, and
 * |t| <= tiny if the result is subnormal; u is the unit roundoff of the accumulator, v that of the storage type, a
 * that of the steps after the sums: the larger of u and v, but f32's instead of v for 16-bit rows, since no kernel
 * computes in 16 bits. mu, V: exact mean and biased variance; A = sum |x| / N; Q = V + mu^2; D = max |x - mu|;
 * r = exact rstd; a prime marks a computed value.
 *
 * Sums. A sum of N terms in any order is fl(sum) = sum t_i (1 + e_i), |e_i| <= g, since each term has at
 * most N - 1 additions, one rounding of its own and three in factors and divisors of the
 * sum: g = gamma(N + 4) = (N + 4) u / (1 - (N + 4) u) (Higham, "Accuracy and Stability
 * of Numerical Algorithms", 2nd ed., 3.1 and 4.2). There is no bound if (N + 4) u >= 1/2.
 *     |mean' - mu| <= delta = g A + tiny, or E (below) for running means.
 * If roundings are independent with mean 0, g may be exp(l sqrt(n) u + n u^2 / (1 - u)) - 1 with
 * n = N + 4, which fails with a probability of at most 2 n exp(-l^2 (1 - u)^2 / 2) (Higham and Mary,
 * "A New Approach to Probabilistic Rounding Error Analysis", SIAM J. Sci. Comput. 41, 2019, theorem
 * 2.4, over n terms); l is computed from `chance`.
 *
 * Variance S = N V / (N - ddof).
 *   Sum of squares minus the square of the mean:
 *     |V' - V| <= g Q + 2 |mu| delta + delta^2 + 4 u (Q + mu^2) + 4 tiny.
 *   Two passes: sum (x - mean')^2 / N = V + (mean' - mu)^2, so |V' - V| <= g (V + delta^2) + delta^2
 *     + 4 tiny: at most the bound before, since g < 1 and delta <= g sqrt(Q) + tiny.
 *   Running means of n = ceil(N / 2^L) elements in each lane and L levels of merges (for every L):
 *     F / N + gamma(n + 2 L + 7)(V + F / N) + 4 tiny, with E and F as proven in the comment on
 *     ln_moments_welford() in kernels/bounds/bounds.c.
 *   `lost` is the largest of these, times N / (N - ddof), plus 4 u S for the divisor and the sum with eps.
 *
 * rstd. With eps in the variance, W = S + eps: |W' / W - 1| <= q = lost / W (1 + 4 u) + 4 u, no bound if q >= 1/2.
 * 1 / sqrt: rho = 1 / sqrt(1 - q) - 1 + 4 u. With eps on the std: |sqrt(S') - sqrt(S)| <= lost / sqrt(S), and no bound
 * unless lost < S, since S' could be negative; q = (lost / sqrt(S)) / (sqrt(S) + eps), rho = q / (1 - q) + 6 u.
 *
 * xhat. Each form is a sum of products of x, mean', r' with at most six roundings, each of a number
 * of at most r (1 + rho)(|mu| + D + delta):
 *     |xhat' - xhat| <= r (1 + rho)(delta + 6 a (|mu| + D + delta)) + r D rho + 6 a eps,
 * with eps only if it is on the quotient. Affine: five roundings of numbers of at most |gamma| |xhat| +
 * |beta|, which a kernel for 16-bit rows may round to the storage type (v), and the rounding of y to that type:
 * affine_rel = 5 max(a, v) + v.
 *
 * Overflow: there is no bound if N Q or N A is within a factor of 4 of the accumulator's largest number. Underflow:
 * there is no bound if var and eps are subnormal, since instructions that estimate a root treat them as 0. The loss of
 * squares below tiny is included in `lost`. A kernel that flushes loses up to its smallest normal number of every x,
 * mean and y: tiny is then that number, and 4 r (1 + rho) times that of the storage type is added to xhat_abs.
 *
 * The facts (mean, var, ...) are doubles within one ulp, which a factor of 1 + 1e-12 covers. */

static const double slack = 1 + 1e-12;
static const order_answer no_claim = {{INFINITY, 0},
                                      {[ROLE_MEAN] = INFINITY, [ROLE_RSTD] = INFINITY}};

/* Raises *lost and *delta to the errors of running means and merges, proven in kernels/bounds/bounds.c for n elements
 * in each lane and L levels. Here `chance` also reduces the sums of N similar roundings in that proof. */
static void add_running_means(const order_question *question, const ln_row_facts *facts,
                              const arithmetic *sums, unsigned levels, double *lost, double *delta)
{
    double u = sums->unit, all = (double)question->hidden, L = levels;
    double n = ceil(all / exp2(L)), g4 = gamma_of(4, u), V = facts->var;
    double S = sqrt(V + facts->mean * facts->mean);
    double growth = exp(n * u + g4 * (1 + log(n)));
    double chain = question->chance > 0 ? gamma_with(n, u, question->chance) / u : n;
    double P = fmin(chain * S, facts->max_abs * (chain + 1) / 2);
    double e = growth * (2 * sqrt(2) * g4 * sqrt(V) + u * P + sums->tiny * (n + 1) / 2);
    double E = pow(1 + gamma_of(5, u), L) * (e + g4 * sqrt(L * V) + L * (u * S + sums->tiny));
    double off = E * sqrt(V) * sqrt((1 + sqrt(2)) * (1 + sqrt(2)) + 4 * L) + (1 + L) * E * E;
    off += gamma_with(n + 2 * L + 7, u, question->chance) * (V + off) + 4 * sums->tiny;
    *lost = fmax(*lost, off);
    *delta = fmax(*delta, E);
}

static order_answer layernorm_any_order(const order_question *question, const ln_row_facts *facts)
{
    const ln_convention *convention = question->convention;
    arithmetic sums = arithmetic_of(question->accumulator, question->flushes);
    double n = (double)question->hidden, mu = fabs(facts->mean), r = facts->rstd;
    double g = gamma_with(n + 4, sums.unit, question->chance);
    double Q = facts->var + mu * mu;
    if (!isfinite(r) || !isfinite(g) || question->hidden <= (size_t)convention->ddof ||
        !(4 * n * Q < sums.largest) || !(4 * n * facts->mean_abs < sums.largest) ||
        !rstd_is_ordinary(question->accumulator, question->storage, r))
        return no_claim;
    double delta = g * facts->mean_abs + sums.tiny;
    double divided = n / (n - convention->ddof);
    double lost = g * Q + (2 * mu + delta) * delta + 4 * sums.unit * (Q + mu * mu) + 4 * sums.tiny;
    for (unsigned levels = 0; levels < 64 && question->hidden >> levels > 0; levels++)
        add_running_means(question, facts, &sums, levels, &lost, &delta);
    lost *= divided;
    double rho = rstd_error(convention, facts->var * divided, lost, sums.unit);
    if (!isfinite(rho))
        return no_claim;
    double a = unit_behind(question), v = unit_roundoff(question->storage);
    double eps = convention->eps_place == LN_EPS_QUOTIENT ? convention->eps : 0;
    double xhat = r * (1 + rho) * (delta + 6 * a * (mu + facts->max_dev + delta)) +
                  r * facts->max_dev * rho + 6 * a * eps + 4 * sums.tiny;
    if (question->flushes)
        xhat += r * (1 + rho) * 4 * arithmetic_of(question->storage, true).tiny;
    return (order_answer){{xhat * slack, 5 * fmax(a, v) + v},
                          {[ROLE_MEAN] = (delta + 4 * sums.unit * (mu + delta)) * slack,
                           [ROLE_RSTD] = (rho + sums.unit) * slack}};
}

/* ---- the textbook algorithms ---- */

/* These are the sum of squares minus the square of the mean, two passes, running means, and one pass about the first
 * element. The error of each statistic counts as at least 2 ULP of the accumulator.
 *
 * The errors dm and dr of an algorithm's mean and rstd change element i by
 *     gamma_i (xhat_i dr - r' dm) / ulp(scale_i),
 * which is at most |dr| max_i |gamma_i xhat_i| / ulp_i + |r' dm| max_i |gamma_i| / ulp_i. So each algorithm needs two
 * sums and no loop over the elements of y. The error of the steps after the sums is measured with one algorithm only,
 * as (x - mean) rstd gamma + beta and as x s + t.
 *
 * One order of summation may be right by luck when the next one is not: 0.1 summed in lanes of powers of two, or sums
 * of squares whose last roundings cancel. So each algorithm is given the error of N independent roundings and of the
 * last few in any order: (4 + sqrt(N)) u |mean| in the mean; and in m2, the sum of squared deviations, u N (4 var +
 * (4 + sqrt(N)) mean^2) for the sum of squares minus the square of the mean, 4 u N sqrt(var (var + mean^2)) for running
 * means (Chan, Golub, LeVeque 1983), and 4 u N var + N dm^2 for two passes. The row has no limit if m2 may then be
 * negative, if squares of twice the largest element may overflow in a sum (for example of x minus a pivot), or if var
 * and eps are subnormal (instructions that estimate a root treat them as 0). */

static const textbook_errors nothing_known = {
    .row_ulp = INFINITY, .statistics = {[ROLE_MEAN] = INFINITY, [ROLE_RSTD] = INFINITY}};

/* A row's mean and sum of squared deviations as computed by an algorithm. */
typedef struct moments {
    double mean, m2;
} moments;

static moments running(ln_type type, const double *x, size_t count)
{
    moments found = {0, 0};
    for (size_t i = 0; i < count; i++) {
        double before = rounded_to(type, x[i] - found.mean);
        found.mean = rounded_to(
            type, found.mean + rounded_to(type, before / rounded_to(type, (double)(i + 1))));
        double after = rounded_to(type, x[i] - found.mean);
        found.m2 = rounded_to(type, found.m2 + rounded_to(type, before * after));
    }
    return found;
}

static double rstd_of(ln_type type, const metrics_row *row, double m2)
{
    const ln_convention *convention = row->convention;
    double count = rounded_to(type, (double)row->hidden - convention->ddof);
    double eps = rounded_to(type, convention->eps), var = rounded_to(type, m2 / count);
    if (convention->eps_place == LN_EPS_VAR)
        var = rounded_to(type, var + eps);
    double std = rounded_to(type, sqrt(var));
    if (convention->eps_place == LN_EPS_STD)
        std = rounded_to(type, std + eps);
    return rounded_to(type, 1 / std);
}

/* The largest |gamma_i xhat_i| and |gamma_i| in ulps of element i. */
typedef struct row_leverage {
    double deviation, offset;
} row_leverage;

static row_leverage leverage_of(const metrics_row *row, const double *x)
{
    const ln_row_facts *facts = &row->answer->facts;
    type_format format = format_of(row->storage);
    row_leverage most = {0, 0};
    for (size_t i = 0; i < row->hidden; i++) {
        double gamma = gamma_size(row, i) / ulp_in(format, element_scale(row, i));
        most.deviation = fmax(most.deviation, gamma * fabs(x[i] - facts->mean) * facts->rstd);
        most.offset = fmax(most.offset, gamma);
    }
    return most;
}

/* Raises *worst to the errors of an algorithm. `off` is added to and subtracted from its m2, and its mean is given an
 * error of (4 + sqrt(N)) u |mean| more, since its order of summation may be right by luck. */
static void add_algorithm(ln_type type, const metrics_row *row, const row_leverage *most,
                          const moments *way, double off, textbook_errors *worst)
{
    const ln_row_facts *facts = &row->answer->facts;
    double low = rstd_of(type, row, way->m2 + off), high = rstd_of(type, row, way->m2 - off);
    double n = (double)row->hidden;
    double dm =
        fabs(way->mean - facts->mean) + (4 + sqrt(n)) * unit_roundoff(type) * fabs(facts->mean);
    double dr = fmax(fabs(low / facts->rstd - 1), fabs(high / facts->rstd - 1));
    double off_by = dr * most->deviation + high * dm * most->offset;
    if (!isfinite(off_by) || !isfinite(low)) {
        *worst = nothing_known;
        return;
    }
    worst->row_ulp = fmax(worst->row_ulp, off_by);
    worst->statistics[ROLE_MEAN] = fmax(worst->statistics[ROLE_MEAN], dm);
    worst->statistics[ROLE_RSTD] = fmax(worst->statistics[ROLE_RSTD], dr);
}

/* Returns the error in row ULP of the roundings after the sums. way: the statistics of two passes in the order of the
 * elements. */
static double error_of_rest(ln_type type, const metrics_row *row, const double *x,
                            const moments *way)
{
    ln_affine affine = row->convention->affine;
    double rstd = rstd_of(type, row, way->m2), worst = 0;
    double q = row->convention->eps_place == LN_EPS_QUOTIENT ? row->convention->eps : 0;
    for (size_t i = 0; i < row->hidden; i++) {
        size_t at = affine == LN_AFFINE_SCALAR ? 0 : i;
        double gamma = ln_has_gamma(affine) ? load(row->param, row->gamma, at) : 1;
        double beta = beta_at(row, i);
        if (affine == LN_AFFINE_GAMMA1)
            gamma = rounded_to(type, 1 + gamma);
        double xhat =
            rounded_to(type, rounded_to(type, rounded_to(type, x[i] - way->mean) * rstd) + q);
        double direct = rounded_to(type, rounded_to(type, xhat * gamma) + beta);
        double s = rounded_to(type, rstd * gamma);
        double t = rounded_to(type, rounded_to(type, beta + rounded_to(type, q * gamma)) -
                                        rounded_to(type, way->mean * s));
        double folded = rounded_to(type, rounded_to(type, x[i] * s) + t);
        double most = fmax(fabs(row_ulp_of(row, i, direct)), fabs(row_ulp_of(row, i, folded)));
        worst = fmax(worst, most);
        if (isnan(most) && isfinite(load(row->storage, row->answer->rounded, i)))
            return INFINITY;
    }
    return worst + 0.5; /* the storage type's own rounding */
}

/* Raises *worst to the errors of the sum of squares and of two passes with sums in one order. Returns the statistics of
 * two passes in *way. */
static void add_order(double *terms, ln_type type, const metrics_row *row, const double *x,
                      int order, const row_leverage *most, moments *way, textbook_errors *worst)
{
    const ln_row_facts *facts = &row->answer->facts;
    size_t hidden = row->hidden;
    double unit = unit_roundoff(type), n = (double)hidden, mean = facts->mean;
    double sum = add_in_order(type, x, hidden, order);
    way->mean = rounded_to(type, sum / rounded_to(type, (double)hidden));
    for (size_t i = 0; i < hidden; i++)
        terms[i] = rounded_to(type, x[i] * x[i]);
    way->m2 = rounded_to(type, add_in_order(type, terms, hidden, order) -
                                   rounded_to(type, sum * way->mean));
    add_algorithm(type, row, most, way, unit * n * (4 * facts->var + (4 + sqrt(n)) * mean * mean),
                  worst);
    for (size_t i = 0; i < hidden; i++) {
        double off = rounded_to(type, x[i] - way->mean);
        terms[i] = rounded_to(type, off * off);
    }
    way->m2 = add_in_order(type, terms, hidden, order);
    double dm = fabs(way->mean - facts->mean) + (4 + sqrt(n)) * unit * fabs(mean);
    add_algorithm(type, row, most, way, 4 * unit * n * facts->var + n * dm * dm, worst);
}

static const double near_mean = 3; /* std */

/* Raises *worst to the errors of sums of x minus a pivot (Chan, Golub, LeVeque 1983), if the pivot is within `near`
 * standard deviations of the mean. With a pivot farther away, as in rows that begin with a spike, the algorithm loses
 * digits that the others keep. */
static void add_pivot(double *terms, ln_type type, const metrics_row *row, const double *x,
                      const row_leverage *most, double pivot, double near, textbook_errors *worst)
{
    const ln_row_facts *facts = &row->answer->facts;
    double n = (double)row->hidden, off = pivot - facts->mean;
    if (!(fabs(off) <= near * sqrt(facts->var)))
        return;
    for (int order = 0; order < SUM_ORDERS; order++) {
        moments way;
        for (size_t i = 0; i < row->hidden; i++)
            terms[i] = rounded_to(type, x[i] - pivot);
        double sum = add_in_order(type, terms, row->hidden, order);
        double mean = rounded_to(type, sum / rounded_to(type, n));
        for (size_t i = 0; i < row->hidden; i++)
            terms[i] = rounded_to(type, terms[i] * terms[i]);
        way.m2 = rounded_to(type, add_in_order(type, terms, row->hidden, order) -
                                      rounded_to(type, sum * mean));
        way.mean = rounded_to(type, pivot + mean);
        add_algorithm(type, row, most, &way, 4 * unit_roundoff(type) * n * (facts->var + off * off),
                      worst);
    }
}

/* Returns whether every algorithm computes 0 / 0 for N equal elements: the sums of N elements and of N squares are
 * exact, or N - ddof is 0. */
static bool is_surely_undefined(ln_type type, double element, size_t hidden, int ddof)
{
    const double most = ceil(log2((double)hidden)), precision = -log2(unit_roundoff(type));
    const double square = element * element;
    int exponent, bits = 0; /* the significant bits of the element */
    for (double left = frexp(fabs(element), &exponent); left != 0; bits++)
        left = 2 * left - floor(2 * left);
    return hidden == (size_t)ddof ||
           (2 * bits + most <= precision && (element == 0 || square > ln_ulp(type, 0)) &&
            16 * square * (double)hidden < largest_power(type));
}

static textbook_errors layernorm_textbook(const metrics_row *row, const double *x,
                                          ln_type accumulator)
{
    const ln_row_facts *facts = &row->answer->facts;
    double n = (double)row->hidden, unit = unit_roundoff(accumulator), var = facts->var;
    textbook_errors made = nothing_known;
    if (!isfinite(facts->rstd)) {
        made.undefined = isfinite(facts->max_abs) && facts->max_dev == 0 &&
                         is_surely_undefined(accumulator, x[0], row->hidden, row->convention->ddof);
        return made;
    }
    if (!(16 * n * facts->max_abs * facts->max_abs < largest_power(accumulator)) ||
        !rstd_is_ordinary(accumulator, row->storage, facts->rstd))
        return made;
    double *terms = allocate(row->hidden * sizeof *terms);
    row_leverage most = leverage_of(row, x);
    moments way = running(accumulator, x, row->hidden);
    made = (textbook_errors){0};
    add_algorithm(accumulator, row, &most, &way,
                  4 * unit * n * sqrt(var * (var + facts->mean * facts->mean)), &made);
    double rest = 0;
    for (int order = 0; order < SUM_ORDERS; order++) {
        add_order(terms, accumulator, row, x, order, &most, &way, &made);
        if (order == 0)
            rest = error_of_rest(accumulator, row, x, &way);
    }
    add_pivot(terms, accumulator, row, x, &most, x[0], near_mean, &made);
    free(terms);
    made.row_ulp += rest;
    /* Errors below 4 u of the root mean square (mean) and of rstd are allowed on every row. */
    made.statistics[ROLE_MEAN] =
        fmax(made.statistics[ROLE_MEAN],
             4 * unit * hypot(facts->mean, sqrt(var)) + n * ln_ulp(accumulator, 0));
    made.statistics[ROLE_RSTD] = fmax(made.statistics[ROLE_RSTD], fmax(4, 2 + sqrt(n) / 2) * unit);
    return made;
}

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Includes algorithms that lose more digits on some rows: sums of sorted values, and a pivot far from the mean. */
static textbook_errors layernorm_poorest(const metrics_row *row, const double *x,
                                         ln_type accumulator)
{
    textbook_errors worst = layernorm_textbook(row, x, accumulator);
    moments way;
    if (!isfinite(worst.statistics[ROLE_RSTD]))
        return worst;
    double *sorted = allocate_copy(x, row->hidden * sizeof *sorted);
    double *terms = allocate(row->hidden * sizeof *terms);
    qsort(sorted, row->hidden, sizeof *sorted, by_value);
    row_leverage most = leverage_of(row, x);
    for (int order = 0; order < 2; order++) /* ascending, and descending */
        add_order(terms, accumulator, row, sorted, order, &most, &way, &worst);
    free(sorted);
    /* Kernels take their pivot from the first elements or the middle one: this is the farthest from the mean. */
    double pivot = x[row->hidden / 2];
    for (size_t i = 0; i < row->hidden && i < 8; i++)
        if (fabs(x[i] - row->answer->facts.mean) > fabs(pivot - row->answer->facts.mean))
            pivot = x[i];
    add_pivot(terms, accumulator, row, x, &most, pivot, INFINITY, &worst);
    free(terms);
    return worst;
}

const operation_judging layernorm_judging = {.answer = layernorm_answer,
                                             .any_order = layernorm_any_order,
                                             .textbook = layernorm_textbook,
                                             .poorest = layernorm_poorest,
                                             .rounded_otherwise = layernorm_rounded_otherwise};

/* Compares every kernel with an oracle of 113 bits, also on rows for which a pivot is hard to choose. */
#include "tests.h"

/* ---- Every convention and hidden size -------------------------------------------------------- */

/* All conventions are tested at all small hidden sizes and near the powers of two: each element must be within the
 * kernel's proven bound. */

#ifdef LN_EMULATED /* quad arithmetic is slow there */
enum { LARGEST = 130, ROWS = 3 };
#else
enum { LARGEST = 4097, ROWS = 3 };
#endif

OPERANDS(ROWS, LARGEST);
static exact_number exact[ROWS * LARGEST];

static size_t next_hidden(size_t hidden)
{
    if (hidden < 257)
        return hidden + 1;
    if ((hidden & (hidden - 1)) == 0)
        return hidden + 1;
    if ((hidden & (hidden + 1)) == 0) /* 2^k - 1 */
        return hidden + 1;
    size_t power = 512;
    while (power <= hidden)
        power *= 2;
    return power - 1;
}

static void fill(numbers *draws, types pair, size_t hidden)
{
    fill_normal(draws, x_values, ROWS * hidden, 0.5, 1.5);
    fill_normal(draws, gammas_values, hidden, 1, 0.25);
    fill_normal(draws, betas_values, hidden, 0, 0.5);
    elements_store(pair.storage, x, x_values, ROWS * hidden);
    elements_store(pair.param, gammas, gammas_values, hidden);
    elements_store(pair.param, betas, betas_values, hidden);
}

static claim claim_of(const ln_kernel *kernel, const ln_problem *problem, const oracle *truth,
                      size_t row)
{
    return (claim){.convention = &problem->convention,
                   .storage = problem->storage,
                   .hidden = problem->hidden,
                   .gamma = gammas_values,
                   .beta = betas_values,
                   .exact = exact + row * problem->hidden,
                   .oracle = truth,
                   .bound = kernel->bound(problem, &truth->facts)};
}

static void check_statistics(const ln_kernel *kernel, size_t hidden, const ln_row_facts *facts,
                             bool claims, double mean, double rstd)
{
    /* Twice the error of any order of summation: 2 N roundings of numbers up to max_abs. */
    double unit = kernel->accumulator == LN_F64 ? 0x1p-53 : 0x1p-24;
    double roundings = (double)hidden;
    /* In f64 sums of retry, chains of 16-bit storage are items: at most ten roundings, here eight. */
    if ((kernel->storage == LN_BF16 || kernel->storage == LN_F16) &&
        strcmp(kernel->statistics, "retry") == 0 && kernel->accumulator == LN_F64) {
        unit = 0x1p-24;
        roundings = 8;
    }
    double loose = 4 * roundings * unit * facts->max_abs + 32 * unit;
    assert_true(fabs(mean - facts->mean) <= loose);
    /* The variance's relative error is at most about this squared-kappa multiple of it. */
    if (claims && isfinite(facts->rstd) && facts->var > 0.1)
        assert_true(fabs(rstd / facts->rstd - 1) <=
                    loose * (1 + facts->max_abs * facts->max_abs / facts->var));
}

static void check_kernel(const ln_kernel *kernel, const ln_problem *problem,
                         const oracle oracles[ROWS], size_t *claims)
{
    size_t hidden = problem->hidden, size = element_size(problem->storage);
    statistics_room means[ROWS], rstds[ROWS];
    const ln_tensors tensors = {
        .x = x, .gamma = gammas, .beta = betas, .y = y, .mean = means, .rstd = rstds};
    memset(y, 0x7f, size * ROWS * hidden);
    assert_int_equal(ln_layernorm_with(kernel, problem, &tensors), LN_OK);
    for (size_t r = 0; r < ROWS; r++) {
        claim claimed = claim_of(kernel, problem, &oracles[r], r);
        const unsigned char *row = y + r * hidden * size;
        size_t at = claim_first_breach(&claimed, row);
        if (at < hidden)
            fail_msg("%s ddof %d eps place %d affine %d hidden %zu row %zu column %zu: %a, not %a",
                     kernel->name, problem->convention.ddof, (int)problem->convention.eps_place,
                     (int)problem->convention.affine, hidden, r, at,
                     element_get(problem->storage, row, at), claimed.exact[at].high);
        bool is_claim = isfinite(claimed.bound.xhat_abs);
        *claims += is_claim ? 1 : 0;
        check_statistics(kernel, hidden, &oracles[r].facts, is_claim,
                         statistic_at(kernel, means, r), statistic_at(kernel, rstds, r));
    }
}

/* Checks all kernels of these types that are in the sample by `mix`. Tensors are filled only if there are any. */
static void check_types(numbers *draws, types pair, size_t hidden, size_t c, size_t mix,
                        size_t *checks, size_t *claims)
{
    ln_problem problem = problem_of(pair, ROWS, hidden, convention_number(c));
    oracle oracles[ROWS];
    bool ready = false;
    const ln_kernel *kernel;
    for (size_t k = 0; (kernel = kernel_number(k)); k++) {
        if (!has_types(kernel, pair) || !is_sampled(k, mix, 3))
            continue;
        if (!ready) {
            fill(draws, pair, hidden);
            for (size_t r = 0; r < ROWS; r++)
                oracle_row(&problem.convention, hidden, x_values + r * hidden, gammas_values,
                           betas_values, exact + r * hidden, &oracles[r]);
        }
        ready = true;
        check_kernel(kernel, &problem, oracles, claims);
        *checks += ROWS;
    }
}

/* Each size uses one convention in three and one f32 kernel in three. Each pair of other types uses one of these in
 * three, and one of its kernels in three, chosen by the quotient of the same number, so that every combination
 * occurs. */
TEST(every_convention_and_hidden)
{
    numbers draws = {1};
    size_t checks = 0, claims = 0;
    for (size_t hidden = 1; hidden <= LARGEST; hidden = next_hidden(hidden)) {
        for (size_t c = 0; c < CONVENTIONS; c++) {
            if (hidden > 257 && (c * 7 + hidden) % 4 != 0) /* a quarter of them at large sizes */
                continue;
            if (!is_sampled(c, 2 * hidden, 3))
                continue;
            size_t mix = hidden + c / 3;
            for (size_t t = 0; t < TYPE_PAIRS; t++)
                if (t == 0 || is_sampled(t, mix, 3))
                    check_types(&draws, type_pairs[t], hidden, c, t == 0 ? mix : mix / 3, &checks,
                                &claims);
        }
    }
    /* The rows are easy: all have bounds, except the smallest, whose variance may be tiny. */
    assert_true(claims > checks - checks / 50);
}

/* A bound is useful only if it distinguishes conventions. On normal rows of 768 elements it must be
 * less than half of the effect of the divisor N - 1, which is 1 / (2 N) of max|xhat|; and on 16 elements less than
 * half of 1000 units in the last place (f32, or f64 if all is f64), by which the conventions of probe rows
 * differ. The rounding of a 16-bit y may exceed the first limit, and is left out of both. */
static void check_usefulness(const ln_kernel *kernel, size_t hidden)
{
    numbers draws = {2};
    double place = kernel->storage == LN_F64 ? 0x1p-53 : 0x1p-24;
    double most = hidden == 16 ? 500 * place : 1 / (4 * (double)hidden);
    ln_problem problem = problem_of(types_of(kernel), 1, hidden, convention_number(2));
    fill(&draws, types_of(kernel), hidden);
    oracle truth;
    oracle_row(&problem.convention, hidden, x_values, gammas_values, betas_values, exact, &truth);
    ln_bound bound = kernel->bound(&problem, &truth.facts);
    double claimed = bound.xhat_abs / truth.max_xhat;
    if (!(claimed < most))
        fail_msg("%s, hidden %zu: the bound is %g of max|xhat|, more than %g", kernel->name, hidden,
                 claimed, most);
    /* Without an affine form only the rounding of y is left, half a unit in the last place. */
    double unit = ldexp(1, -element_format(kernel->storage).bits);
    assert_true(bound.affine_rel <= unit * (1 + 1e-9));
}

TEST(bounds_are_useful)
{
    static const size_t sizes[] = {16, 768};
    const ln_kernel *kernel;
    for (size_t s = 0; s < 2 && sizes[s] <= LARGEST; s++)
        for (size_t k = 0; (kernel = kernel_number(k)); k++)
            check_usefulness(kernel, sizes[s]);
}

/* 1e5 +- 1e-2, hidden 1024, eps 1e-6: a row that the tests of a well-known runtime omit as a limit of float, since its
 * mean, rounded to f32, has an error of up to a third of a standard deviation. Kernels with a more precise mean, which
 * include all of the classes fast, accurate and reproducible, have errors of at most 1e-6 of the largest |y|. */
static void check_far_row(const ln_kernel *kernel, const oracle *truth, const ln_problem *problem)
{
    const ln_tensors tensors = {.x = x, .gamma = gammas, .beta = betas, .y = y};
    double most = 0;
    assert_int_equal(ln_layernorm_with(kernel, problem, &tensors), LN_OK);
    for (size_t i = 0; i < problem->hidden; i++)
        most = fmax(most, fabs(element_get(problem->storage, y, i) - exact[i].high));
    if (!(most <= 1e-6 * truth->max_xhat))
        fail_msg("%s: off by %g of max|xhat|", kernel->name, most / truth->max_xhat);
}

/* Returns whether the mean is rounded to one f32 before it is subtracted, which is too inaccurate for such a row. */
static bool has_one_number_mean(const ln_kernel *kernel)
{
    return strcmp(kernel->apply, "direct") == 0;
}

TEST(rows_far_from_zero_are_right)
{
    enum { FAR = LARGEST < 1024 ? LARGEST : 1024 };
    const types pair = {LN_F32, LN_F32};
    ln_problem problem = problem_of(pair, 1, FAR, convention_number(2)); /* no affine form */
    problem.convention.eps = 1e-6;
    for (size_t i = 0; i < FAR; i++)
        x_values[i] = 1e5 + (i % 3 == 0 ? 1e-2 : -1e-2);
    elements_store(LN_F32, x, x_values, FAR);
    oracle truth;
    oracle_row(&problem.convention, FAR, x_values, gammas_values, betas_values, exact, &truth);
    const ln_kernel *kernel;
    size_t checked = 0;
    for (size_t k = 0; (kernel = kernel_number(k)); k++)
        if (has_types(kernel, pair) && !has_one_number_mean(kernel)) {
            check_far_row(kernel, &truth, &problem);
            checked++;
        }
    assert_true(checked >= (is_thinned() ? 5 : 8));
}

/* Eight elements, with eps as large as their variance: divisor, eps, its place and the affine form
 * all change the first digits of every type. By the kernel's own bound its result must be right under the convention of
 * the problem, and wrong under each of the others. */
static void check_probes(const ln_kernel *kernel, size_t hidden)
{
    ln_problem problems[CONVENTIONS];
    oracle oracles[CONVENTIONS];
    static exact_number answers[CONVENTIONS][8];
    for (size_t c = 0; c < CONVENTIONS; c++) {
        problems[c] = problem_of(types_of(kernel), 1, hidden, convention_number(c));
        problems[c].convention.eps = problems[c].convention.eps_place == LN_EPS_NONE ? 0 : 0.25;
        oracle_row(&problems[c].convention, hidden, x_values, gammas_values, betas_values,
                   answers[c], &oracles[c]);
    }
    for (size_t c = 0; c < CONVENTIONS; c++) {
        const ln_tensors tensors = {.x = x, .gamma = gammas, .beta = betas, .y = y};
        kernel->run(&problems[c], &tensors);
        for (size_t other = 0; other < CONVENTIONS; other++) {
            claim claimed = claim_of(kernel, &problems[other], &oracles[other], 0);
            claimed.exact = answers[other];
            assert_true(isfinite(claimed.bound.xhat_abs));
            if ((claim_first_breach(&claimed, y) == hidden) != (c == other))
                fail_msg("%s: what it computes under convention %zu is %s under %zu", kernel->name,
                         c, c == other ? "wrong" : "right, too,", other);
        }
    }
}

TEST(probe_rows_tell_conventions_apart)
{
    static const double row[] = {0.75, -0.25, 0.5, -1, 0.125, 0.625, -0.375, 0.25};
    static const double gamma[] = {1.5, -0.75, 2, 0.5, 1.25, -2.5, 3, 0.875};
    static const double beta[] = {0.25, 1, -0.5, 2, -1.25, 0.75, 0.5, -3};
    const ln_kernel *kernel;
    for (size_t k = 0; (kernel = kernel_number(k)); k++) {
        memcpy(x_values, row, sizeof(row));
        memcpy(gammas_values, gamma, sizeof(gamma));
        memcpy(betas_values, beta, sizeof(beta));
        elements_store(kernel->storage, x, x_values, 8);
        elements_store(kernel->param, gammas, gammas_values, 8);
        elements_store(kernel->param, betas, betas_values, 8);
        check_probes(kernel, 8);
    }
}

/* The row a, -a has mean 0 and variance a^2, exactly for numbers of 12 bits, so that rstd is
 * 1 / a, apart from the roundings of root and reciprocal, 2 u. */
TEST(rstd_is_rounded_as_proven)
{
    enum { NUMBERS = 2048 };
    const types pair = {LN_F32, LN_F32};
    const ln_problem problem = problem_of(pair, 1, 2, convention_number(0)); /* no eps */
    const ln_kernel *kernel;
    for (int i = 0; i < NUMBERS; i++) {
        double a = ldexp(NUMBERS + i, i % 101 - 61);
        element_put(LN_F32, x, 0, a);
        element_put(LN_F32, x, 1, -a);
        for (size_t k = 0; (kernel = kernel_number(k)); k++) {
            statistics_room rstd;
            const ln_tensors tensors = {.x = x, .y = y, .rstd = &rstd};
            if (!has_types(kernel, pair) || strcmp(kernel->statistics, "two_pass") != 0)
                continue;
            kernel->run(&problem, &tensors);
            double error = fabs(statistic_at(kernel, &rstd, 0) * a - 1) * 0x1p24;
            if (!(error <= 2 * (1 + 0x1p-20)))
                fail_msg("%s: rstd of +-%a is off by %g u", kernel->name, a, error);
        }
    }
}

TEST(there_are_kernels)
{
    assert_non_null(kernel_number(3));
}

/* ---- Pivots ---------------------------------------------------------------------------------- */

/* The pivots of `shifted`, which an outlier at any position must not spoil; and rows that `retry` sums without one.
 *
 * Each row has one element S = (1 + 2^-7) 2^30 among whole numbers from 1 to 8, in types that hold all of them, with
 * f32 sums. About a pivot near the small numbers, S - p rounds to S or a neighbour (2 u of its square), its square is
 * rounded (u), all other terms of the same sum are too small to matter, and m2 = sum(t^2) - sum(t) d is a subtraction
 * of a number N times smaller (u, and a little for the errors of sum(t) and d). So with the quotient by N (1/N and a
 * product: 2 u), eps (u), root and reciprocal (u each) the error of rstd is at most (2 + 1 + 1 + 2 + 1) / 2 + 2 = 5.5
 * u, and a hundredth of that for higher orders and these small errors.
 *
 * About a pivot that depends on S, or about the mean, t^2 of all others is (S / N)^2: for N = 4096 this is 0.51 units
 * in the last place of S^2, and each is rounded to one unit. */

enum { PIVOT_HIDDEN = 8192 };
static const double outlier = 0x1.02p30;

OPERAND(pivot_x, PIVOT_HIDDEN);
static _Alignas(64) unsigned char pivot_y[PIVOT_HIDDEN * LARGEST_ELEMENT];

static int is_ours(const ln_kernel *kernel)
{
    return strcmp(kernel->statistics, "shifted") == 0 && kernel->accumulator == LN_F32 &&
           kernel->storage != LN_F16; /* whose largest number is 65504 */
}

/* Computes rstd with whole numbers, exactly except for one rounding and quotients. */
static double exact_rstd(const double *row, size_t hidden, double eps)
{
    long double sum = 0, square = 0, n = (long double)hidden;
    for (size_t i = 0; i < hidden; i++) {
        sum += row[i];
        square += (long double)row[i] * row[i];
    }
    return (double)(1 / sqrtl((square - sum * sum / n) / n + eps));
}

static void check_outlier(const ln_kernel *kernel, size_t hidden, size_t column)
{
    const ln_convention convention = {.eps_place = LN_EPS_VAR, .eps = 1e-5};
    const ln_problem problem = problem_of(types_of(kernel), 1, hidden, convention);
    statistics_room rstd;
    const ln_tensors tensors = {.x = pivot_x, .y = pivot_y, .rstd = &rstd};
    for (size_t i = 0; i < hidden; i++)
        pivot_x_values[i] = i == column ? outlier : (double)(1 + (i * i + i / 16) % 8);
    elements_store(kernel->storage, pivot_x, pivot_x_values, hidden);
    kernel->run(&problem, &tensors);
    double wanted = exact_rstd(pivot_x_values, hidden, convention.eps);
    double error = fabs(statistic_at(kernel, &rstd, 0) / wanted - 1) * 0x1p24;
    if (!(error <= 5.5 * 1.01))
        fail_msg("%s, hidden %zu, an outlier in column %zu: rstd is off by %g u", kernel->name,
                 hidden, column, error);
}

TEST(outliers_lead_no_pivot_astray)
{
    static const size_t sizes[] = {2176, 3000, 4096, 5000, PIVOT_HIDDEN};
    const ln_kernel *kernel;
    size_t checked = 0;
    for (size_t k = 0; (kernel = kernel_number(k)); k++)
        for (size_t s = 0; is_ours(kernel) && s < sizeof(sizes) / sizeof(sizes[0]); s++) {
            size_t hidden = sizes[s];
            const size_t columns[] = {0, 1, 15, 16, hidden / 2, hidden / 2 - 64, hidden - 1};
            for (size_t c = 0; c < sizeof(columns) / sizeof(columns[0]); c++, checked++)
                check_outlier(kernel, hidden, columns[c]);
        }
    assert_true(checked > 0);
}

/* In rows of two values, five standard deviations from zero, all roundings of the sum of squares have the same sign:
 * rstd of f16 is within 2^-17, 0.01 row ULP, as `fast` promises. */
TEST(sums_of_two_values_are_not_too_long)
{
    const ln_convention convention = {.eps_place = LN_EPS_VAR, .eps = 1e-5};
    const ln_kernel *kernel;
    for (size_t i = 0; i < PIVOT_HIDDEN; i++)
        pivot_x_values[i] = (i * i + i / 16) % 8 < 3 ? 1229 : 821;
    elements_store(LN_F16, pivot_x, pivot_x_values, PIVOT_HIDDEN);
    double wanted = exact_rstd(pivot_x_values, PIVOT_HIDDEN, convention.eps);
    for (size_t k = 0; (kernel = kernel_number(k)); k++) {
        if (strcmp(kernel->statistics, "retry") != 0 || kernel->storage != LN_F16)
            continue;
        const ln_problem problem = problem_of(types_of(kernel), 1, PIVOT_HIDDEN, convention);
        statistics_room rstd;
        const ln_tensors tensors = {.x = pivot_x, .y = pivot_y, .rstd = &rstd};
        kernel->run(&problem, &tensors);
        double error = fabs(statistic_at(kernel, &rstd, 0) / wanted - 1);
        if (!(error <= 0x1p-17))
            fail_msg("%s: rstd is %g off", kernel->name, error);
    }
}

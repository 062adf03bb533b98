/* Every kernel is compared with an oracle of 113 bits, also on rows that mislead the choice of a pivot. */
#include "tests.h"

/* ---- Every convention and hidden size -------------------------------------------------------- */

/* Every kernel against the oracle: all conventions over all small hidden sizes and around the
 * powers of two, each element within the kernel's proven bound. */

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
    /* In any order of summation, 2 N roundings of numbers up to max_abs, twice over. */
    double unit = kernel->accumulator == LN_F64 ? 0x1p-53 : 0x1p-24;
    double roundings = (double)hidden;
    /* Of retry's sums of f64, chains of 16-bit storage are items: ten roundings at most, eight here. */
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

/* All kernels of these types that the sample takes by `mix`; nothing is filled in where there are none. */
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

/* Each size takes one convention in three, and of f32 one kernel in three. Of the other types each
 * takes one in three, and of its kernels one in three by what is left of the same number, so that
 * none is never taken. */
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
    /* The rows are easy: but for the smallest, whose variance may be tiny, all bounds claim. */
    assert_true(claims > checks - checks / 50);
}

/* A bound is of use only if it tells conventions apart: on normal rows of 768 elements it must be
 * under half of what divisor N - 1 for N changes, 1 / (2 N) of max|xhat|; and on 16 elements under
 * half of the 1000 units in the last place, of f32 or of f64 where all is f64, by which probe rows'
 * conventions differ. Where y is stored in 16 bits that rounding alone may be more than the first,
 * and is left out of both. */
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
    /* No affine form: what is left is storing y, half a unit in the last place. */
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

/* 1e5 +- 1e-2, hidden 1024, eps 1e-6: a row that a big runtime's tests leave out as a float limit,
 * since its mean, rounded to f32, is off by up to a third of a standard deviation. Kernels whose
 * mean is more than that, all of the classes fast, accurate and reproducible, are off by 1e-6 of
 * the largest |y| at most. */
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

/* Whether the mean is rounded to one f32 before it is subtracted: that is what such a row does not
 * forgive. */
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

/* Eight elements, eps as large as their variance: there divisor, eps, its place and the affine form
 * all show in every type's first digits. What a kernel computes is right under the convention that
 * was asked for, by the kernel's own bound, and wrong under each of the others. */
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

/* Of a and -a the mean is 0 and the variance a^2, exactly for numbers of 12 digits, so that rstd is
 * 1 / a but for the roundings of root and reciprocal, 2 u. */
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

/* The pivots of `shifted`: an outlier must not lead them astray, wherever it stands; and rows that
 * `retry` sums up without one.
 *
 * Rows of one element S = (1 + 2^-7) 2^30 among whole numbers from 1 to 8, of types that hold all
 * of them, summed up in f32. About a pivot among the many, S - p rounds to S or next to it (2 u of
 * its square), its square rounds (u), whatever else is added to it in the same sum is too small to
 * be seen, and m2 = sum(t^2) - sum(t) d is a subtraction of a number N times smaller (u, and a
 * little of what sum(t) and d are off by). So with the quotient by N (1/N and a product: 2 u), eps
 * (u), root and reciprocal (u each) rstd is off by (2 + 1 + 1 + 2 + 1) / 2 + 2 = 5.5 u at most, and
 * a hundredth of that for higher orders, and for the little.
 *
 * About a pivot that S has a share in, or about the mean, t^2 of all others is (S / N)^2: where N
 * is 4096, 0.51 units in the last place of S^2, and rounds to one, each time. */

enum { PIVOT_HIDDEN = 8192 };
static const double outlier = 0x1.02p30;

OPERAND(pivot_x, PIVOT_HIDDEN);
static _Alignas(64) unsigned char pivot_y[PIVOT_HIDDEN * LARGEST_ELEMENT];

static int is_ours(const ln_kernel *kernel)
{
    return strcmp(kernel->statistics, "shifted") == 0 && kernel->accumulator == LN_F32 &&
           kernel->storage != LN_F16; /* which ends at 65504 */
}

/* By whole numbers, exactly but for one rounding and quotients. */
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

/* Rows of two values, five standard deviations from zero, whose sums of squares round alike: rstd of
 * f16 is within 2^-17, .01 row ULP, as `fast` promises. */
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

/* Every kernel against the oracle: all conventions over all small hidden sizes and around the
 * powers of two, each element within the kernel's proven bound. */
#include "tests.h"

#ifdef LN_EMULATED /* quad arithmetic is slow there */
enum { LARGEST = 130, ROWS = 3 };
#else
enum { LARGEST = 4097, ROWS = 3 };
#endif

static float x[ROWS * LARGEST], y[ROWS * LARGEST], gamma_values[LARGEST], beta_values[LARGEST];
static double exact[ROWS * LARGEST];

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

static void fill(numbers *numbers, size_t hidden)
{
    fill_normal(numbers, x, ROWS * hidden, 0.5, 1.5);
    fill_normal(numbers, gamma_values, hidden, 1, 0.25);
    fill_normal(numbers, beta_values, hidden, 0, 0.5);
}

static void check_kernel(const ln_kernel *kernel, const ln_problem *problem,
                         const oracle oracles[ROWS], size_t *claims)
{
    size_t hidden = problem->hidden;
    statistics_room means[ROWS], rstds[ROWS];
    const ln_tensors tensors = {
        .x = x, .gamma = gamma_values, .beta = beta_values, .y = y, .mean = means, .rstd = rstds};
    memset(y, 0x7f, sizeof(float) * ROWS * hidden);
    assert_int_equal(ln_layernorm_with(kernel->name, problem, &tensors), LN_OK);
    for (size_t r = 0; r < ROWS; r++) {
        const ln_row_facts *facts = &oracles[r].facts;
        ln_bound bound = kernel->bound(problem, facts);
        size_t at =
            oracle_first_breach(&problem->convention, hidden, y + r * hidden, exact + r * hidden,
                                &oracles[r], gamma_values, beta_values, &bound);
        if (at < hidden)
            fail_msg("%s ddof %d eps place %d affine %d hidden %zu row %zu column %zu: %a, not %a",
                     kernel->name, problem->convention.ddof, (int)problem->convention.eps_place,
                     (int)problem->convention.affine, hidden, r, at, (double)y[r * hidden + at],
                     exact[r * hidden + at]);
        *claims += isfinite(bound.xhat_abs) ? 1 : 0;
        /* In any order of summation, 2 N roundings of numbers up to max_abs, twice over. */
        double loose = 4 * (double)hidden * 0x1p-24 * facts->max_abs + 1e-6;
        assert_true(fabs(statistic_at(kernel, means, r) - facts->mean) <= loose);
        /* The variance's relative error is at most about this squared-kappa multiple of it. */
        if (isfinite(bound.xhat_abs) && isfinite(facts->rstd) && facts->var > 0.1)
            assert_true(fabs(statistic_at(kernel, rstds, r) / facts->rstd - 1) <=
                        loose * (1 + facts->max_abs * facts->max_abs / facts->var));
    }
}

static void every_convention_and_hidden(void **state)
{
    (void)state;
    numbers numbers = {1};
    size_t checks = 0, claims = 0;
    for (size_t hidden = 1; hidden <= LARGEST; hidden = next_hidden(hidden)) {
        fill(&numbers, hidden);
        for (size_t c = 0; c < CONVENTIONS; c++) {
            if (hidden > 257 && (c * 7 + hidden) % 4 != 0) /* a quarter of them at large sizes */
                continue;
            ln_problem problem = problem_of(ROWS, hidden, convention_number(c));
            oracle oracles[ROWS];
            for (size_t r = 0; r < ROWS; r++)
                oracle_row(&problem.convention, hidden, x + r * hidden, gamma_values, beta_values,
                           exact + r * hidden, &oracles[r]);
            const ln_kernel *kernel;
            for (size_t k = 0; (kernel = kernel_number(k)); k++) {
                if (!is_sampled(k, hidden + c, 3))
                    continue;
                check_kernel(kernel, &problem, oracles, &claims);
                checks += ROWS;
            }
        }
    }
    /* The rows are easy: but for the smallest, whose variance may be tiny, all bounds claim. */
    assert_true(claims > checks - checks / 50);
}

/* A bound is of use only if it tells conventions apart: on normal rows of 768 elements it must be
 * under half of what divisor N - 1 for N changes, 1 / (2 N) of max|xhat|; and on 16 elements under
 * half of the 1000 units in the last place by which probe rows' conventions differ. */
static void bounds_are_useful(void **state)
{
    (void)state;
    numbers numbers = {2};
    static const size_t sizes[] = {16, 768};
    for (size_t s = 0; s < 2 && sizes[s] <= LARGEST; s++) {
        size_t hidden = sizes[s];
        double most = hidden == 16 ? 500 * 0x1p-24 : 1 / (4 * (double)hidden);
        ln_problem problem = problem_of(1, hidden, convention_number(2));
        fill(&numbers, hidden);
        oracle oracle;
        oracle_row(&problem.convention, hidden, x, gamma_values, beta_values, exact, &oracle);
        const ln_kernel *kernel;
        for (size_t k = 0; (kernel = kernel_number(k)); k++) {
            double claim = kernel->bound(&problem, &oracle.facts).xhat_abs / oracle.max_xhat;
            if (!(claim < most))
                fail_msg("%s, hidden %zu: the bound is %g of max|xhat|, more than %g", kernel->name,
                         hidden, claim, most);
        }
    }
}

static void there_are_kernels(void **state)
{
    (void)state;
    assert_non_null(kernel_number(3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_are_kernels),
        cmocka_unit_test(every_convention_and_hidden),
        cmocka_unit_test(bounds_are_useful),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

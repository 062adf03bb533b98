/* The proven bounds hold where rows are nasty. LN_BOUND_REPORT=1 prints how much of each kernel's
 * bound was used up at most, by family. */
#include "tests.h"
#include <stdio.h>

#ifdef LN_EMULATED /* quad arithmetic is slow there */
enum { LARGEST = 129, REPEATS = 1 };
#else
enum { LARGEST = 5000, REPEATS = 3 };
#endif

static float x[LARGEST], y[LARGEST], gamma_values[LARGEST], beta_values[LARGEST];
static double exact[LARGEST];

typedef struct family {
    const char *name;
    void (*fill)(numbers *numbers, size_t hidden, double scale);
    double scales[10]; /* up to a 0 */
} family;

static void fill_offset(numbers *numbers, size_t hidden, double kappa)
{
    fill_normal(numbers, x, hidden, kappa, 1);
}

static void fill_scaled(numbers *numbers, size_t hidden, double scale)
{
    fill_normal(numbers, x, hidden, 0, scale);
}

static void fill_constant(numbers *numbers, size_t hidden, double scale)
{
    float value = (float)(scale * numbers_normal(numbers));
    for (size_t i = 0; i < hidden; i++)
        x[i] = value;
}

static void fill_spike(numbers *numbers, size_t hidden, double scale)
{
    fill_constant(numbers, hidden, 1);
    x[numbers_next(numbers) % hidden] += (float)scale;
}

static void fill_first_is_outlier(numbers *numbers, size_t hidden, double scale)
{
    fill_normal(numbers, x, hidden, 1, 0.01);
    x[numbers_next(numbers) % (hidden < 64 ? hidden : 64)] = (float)scale;
}

static void fill_first_block_is_off(numbers *numbers, size_t hidden, double scale)
{
    fill_normal(numbers, x, hidden, 3, 0.01);
    for (size_t i = 0; i < hidden && i < 64; i++)
        x[i] += (float)scale;
}

static void fill_alternating(numbers *numbers, size_t hidden, double scale)
{
    for (size_t i = 0; i < hidden; i++)
        x[i] = (float)((i % 2 ? scale : -scale) * (1 + 1e-3 * numbers_uniform(numbers)));
}

static void fill_ramp(numbers *numbers, size_t hidden, double scale)
{
    double slope = numbers_uniform(numbers);
    for (size_t i = 0; i < hidden; i++)
        x[i] = (float)(scale + slope * (double)i);
}

static void fill_wide(numbers *numbers, size_t hidden, double scale)
{
    for (size_t i = 0; i < hidden; i++)
        x[i] = (float)(exp(scale * numbers_normal(numbers)) * (numbers_next(numbers) & 1 ? 1 : -1));
}

static void fill_last_bits(numbers *numbers, size_t hidden, double scale)
{
    for (size_t i = 0; i < hidden; i++)
        x[i] = nextafterf((float)scale, (numbers_next(numbers) & 1) ? INFINITY : -INFINITY);
}

static const family families[] = {
    {"offset", fill_offset, {1, -10, 100, 1e3, -1e4, 1e5, 1e6, -1e7, 1e8}},
    {"scaled", fill_scaled, {1, 1e-3, 1e10, 1e17, 1e18, 1e19, 1e30, 1e37, 1e-6}},
    {"small", fill_scaled, {1e-10, 1e-18, 1e-20, 1e-22, 1e-30, 1e-37, 1e-40, 1e-44}},
    {"constant", fill_constant, {1, 1e3, 1e5, 1e8, 1e18, 1e30, 1e-10, 1e-30, 1e-42}},
    {"spike", fill_spike, {1, 1e-6, 1e3, 1e6, -1e10, 1e18, 1e30}},
    {"first is outlier", fill_first_is_outlier, {10, 1e3, 1e5, -1e7, 1e12, 1e18, 1e20}},
    {"first block is off", fill_first_block_is_off, {1, 100, 1e4, -1e6, 1e8, 1e16}},
    {"alternating", fill_alternating, {1, 1e4, 1e12, 1e19}},
    {"ramp", fill_ramp, {1, -1e3, 1e6}},
    {"wide", fill_wide, {1, 3, 8, 12}},
    {"last bits", fill_last_bits, {1, 3e4, 1.6e7, 1e10, 1e-20}},
};
enum { FAMILIES = sizeof(families) / sizeof(families[0]) };

typedef struct tally {
    double most;
    unsigned rows, claims;
} tally;

static void judge(const ln_kernel *kernel, const ln_problem *problem, const oracle *oracle,
                  const char *family, double scale, tally *tally)
{
    const ln_tensors tensors = {.x = x, .gamma = gamma_values, .beta = beta_values, .y = y};
    assert_int_equal(ln_layernorm_with(kernel->name, problem, &tensors), LN_OK);
    ln_bound bound = kernel->bound(problem, &oracle->facts);
    assert_true(bound.xhat_abs >= 0 && bound.affine_rel >= 0); /* so neither is NaN */
    double share = oracle_bound_used(&problem->convention, problem->hidden, y, exact, oracle,
                                     gamma_values, beta_values, &bound);
    if (!(share <= 1))
        fail_msg("%s on %s %g, hidden %zu, ddof %d, eps %g at place %d, affine %d: the error is %g "
                 "times the bound",
                 kernel->name, family, scale, problem->hidden, problem->convention.ddof,
                 problem->convention.eps, (int)problem->convention.eps_place,
                 (int)problem->convention.affine, share);
    tally->most = fmax(tally->most, share);
    tally->rows++;
    tally->claims += isfinite(bound.xhat_abs) ? 1 : 0;
}

static void try_row(numbers *numbers, const family *family, size_t hidden, double scale,
                    tally *tallies)
{
    static const double eps[] = {1e-5, 1e-12, 1e-3, 0.5};
    family->fill(numbers, hidden, scale);
    fill_normal(numbers, gamma_values, hidden, 1, 0.5);
    fill_normal(numbers, beta_values, hidden, 0, numbers_next(numbers) & 1 ? 1e3 : 1);
    for (int i = 0; i < 2; i++) {
        ln_problem problem =
            problem_of(1, hidden, convention_number(numbers_next(numbers) % CONVENTIONS));
        if (problem.convention.eps_place != LN_EPS_NONE)
            problem.convention.eps = eps[numbers_next(numbers) % 4];
        oracle oracle;
        oracle_row(&problem.convention, hidden, x, gamma_values, beta_values, exact, &oracle);
        const ln_kernel *kernel;
        for (size_t k = 0; (kernel = kernel_number(k)); k++)
            judge(kernel, &problem, &oracle, family->name, scale, &tallies[k]);
    }
}

static void report(const char *family, const tally *tallies)
{
    if (!getenv("LN_BOUND_REPORT"))
        return;
    const ln_kernel *kernel;
    for (size_t k = 0; (kernel = kernel_number(k)); k++)
        printf("%-20s %-22s used %.3f, claims on %u of %u rows\n", family, kernel->name,
               tallies[k].most, tallies[k].claims, tallies[k].rows);
}

static void bounds_hold(void **state)
{
    (void)state;
    static const size_t sizes[] = {1,  2,  3,  4,   5,   15,  16,  17,   31,   33,
                                   63, 64, 65, 100, 129, 500, 768, 1000, 1024, 4999};
    numbers numbers = {3};
    for (size_t f = 0; f < FAMILIES; f++) {
        tally tallies[256] = {{0, 0, 0}};
        for (size_t s = 0; s < 10 && families[f].scales[s] != 0; s++)
            for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && sizes[i] <= LARGEST; i++)
                for (int repeat = 0; repeat < REPEATS; repeat++)
                    try_row(&numbers, &families[f], sizes[i], families[f].scales[s], tallies);
        report(families[f].name, tallies);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bounds_hold)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

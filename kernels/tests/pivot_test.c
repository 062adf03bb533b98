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
#include "elements.h"
#include "tests.h"

enum { HIDDEN = 8192 };
static const double outlier = 0x1.02p30;

OPERAND(x, HIDDEN);
static _Alignas(64) unsigned char y[HIDDEN * LARGEST_ELEMENT];

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
    const ln_tensors tensors = {.x = x, .y = y, .rstd = &rstd};
    for (size_t i = 0; i < hidden; i++)
        x_values[i] = i == column ? outlier : (double)(1 + (i * i + i / 16) % 8);
    elements_store(kernel->storage, x, x_values, hidden);
    kernel->run(&problem, &tensors);
    double exact = exact_rstd(x_values, hidden, convention.eps);
    double error = fabs(statistic_at(kernel, &rstd, 0) / exact - 1) * 0x1p24;
    if (!(error <= 5.5 * 1.01))
        fail_msg("%s, hidden %zu, an outlier in column %zu: rstd is off by %g u", kernel->name,
                 hidden, column, error);
}

TEST(outliers_lead_no_pivot_astray)
{
    static const size_t sizes[] = {2176, 3000, 4096, 5000, HIDDEN};
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
    for (size_t i = 0; i < HIDDEN; i++)
        x_values[i] = (i * i + i / 16) % 8 < 3 ? 1229 : 821;
    elements_store(LN_F16, x, x_values, HIDDEN);
    double exact = exact_rstd(x_values, HIDDEN, convention.eps);
    for (size_t k = 0; (kernel = kernel_number(k)); k++) {
        if (strcmp(kernel->statistics, "retry") != 0 || kernel->storage != LN_F16)
            continue;
        const ln_problem problem = problem_of(types_of(kernel), 1, HIDDEN, convention);
        statistics_room rstd;
        const ln_tensors tensors = {.x = x, .y = y, .rstd = &rstd};
        kernel->run(&problem, &tensors);
        double error = fabs(statistic_at(kernel, &rstd, 0) / exact - 1);
        if (!(error <= 0x1p-17))
            fail_msg("%s: rstd is %g off", kernel->name, error);
    }
}

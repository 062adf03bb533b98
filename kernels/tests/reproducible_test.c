/* Kernels that promise the same bits on every ISA and with any unroll factor keep that promise, and every NaN is the
 * canonical one. aarch64_test runs this test on another architecture and compares bits. */
#include "tests.h"

enum { ROWS = 4, LARGEST = 1100 };
#ifdef LN_EMULATED
enum { EMULATED = 7 }; /* the divisor of the number of cases */
#else
enum { EMULATED = 1 };
#endif

OPERAND(x, ROWS *LARGEST);
OPERAND(residuals, ROWS *LARGEST);
OPERAND(gammas, LARGEST);
OPERAND(betas, LARGEST);
typedef struct outputs { /* room for any type */
    double y[ROWS * LARGEST], sum[ROWS * LARGEST], mean[ROWS], rstd[ROWS];
} outputs;
static outputs given, first_given;

/* Makes rows in which another order of summation, or a fused operation, changes bits. */
static void fill(numbers *draws, types pair, size_t hidden)
{
    static const double means[ROWS] = {0, 3, -1e4, 1e4}, deviations[ROWS] = {1, 1e3, 1, 1e-1};
    for (size_t r = 0; r < ROWS; r++)
        fill_normal(draws, x_values + r * hidden, hidden, means[r], deviations[r]);
    fill_normal(draws, gammas_values, hidden, 1, 1);
    fill_normal(draws, betas_values, hidden, 0, 1);
    elements_store(pair.storage, x, x_values, ROWS * hidden);
    elements_store(pair.param, gammas, gammas_values, hidden);
    elements_store(pair.param, betas, betas_values, hidden);
}

/* Replaces one element in `part` by infinities, NaNs (with signs and payloads, quiet and signalling), zeros and numbers
 * that overflow. */
static void plant(numbers *draws, ln_type type, unsigned char *elements, size_t count, size_t part)
{
    static const uint64_t bits[][8] = {
        [LN_F32] = {0x7f800000, 0xff800000, 0x7fc00123, 0xffffffff, 0x7f800001, 0, 0x7f7fffff,
                    0x80000001},
        [LN_F64] = {0x7ffull << 52, 0xfffull << 52, 0x7ff8000000000123, ~0ull, (0x7ffull << 52) + 1,
                    0, (0x7ffull << 52) - 1, (1ull << 63) + 1},
        [LN_BF16] = {0x7f80, 0xff80, 0x7fd3, 0xffff, 0x7f81, 0, 0x7f7f, 0x8001},
        [LN_F16] = {0x7c00, 0xfc00, 0x7e12, 0xffff, 0x7c01, 0, 0x7bff, 0x8001}};
    size_t size = element_size(type);
    for (size_t i = 0; i < count; i++)
        if (numbers_next(draws) % part == 0)
            memcpy(elements + i * size, &bits[type][numbers_next(draws) % 8], size);
}

static void check_nans(const char *name, ln_type type, const void *values, size_t count)
{
    static const uint64_t canonical[] = {0x7fc00000, 0x7ffull << 52 | 1ull << 51, 0x7fc0, 0x7e00};
    size_t size = element_size(type);
    for (size_t i = 0; i < count; i++)
        if (isnan(element_get(type, values, i)) &&
            memcmp((const char *)values + i * size, &canonical[type], size) != 0)
            fail_msg("%s gives another NaN than the canonical one", name);
}

/* Checks that all kernels for a problem give the bits of the first, and returns their number. */
static size_t compare(const ln_problem *problem, types pair, const void *residual)
{
    size_t hidden = problem->hidden, found = 0;
    const ln_kernel *kernel;
    for (size_t k = 0; (kernel = kernel_that_runs(k, 1)); k++) {
        if (strcmp(kernel->statistics, "reproducible") != 0 || !has_types(kernel, pair))
            continue;
        const ln_tensors tensors = {.x = x,
                                    .residual = residual,
                                    .gamma = gammas,
                                    .beta = betas,
                                    .y = given.y,
                                    .sum = residual ? given.sum : NULL,
                                    .mean = given.mean,
                                    .rstd = given.rstd};
        memset(&given, 0, sizeof(given));
        kernel->run(problem, &tensors);
        check_nans(kernel->name, pair.storage, given.y, ROWS * hidden);
        check_nans(kernel->name, pair.storage, given.sum, ROWS * hidden);
        check_nans(kernel->name, kernel->accumulator, given.mean, ROWS);
        check_nans(kernel->name, kernel->accumulator, given.rstd, ROWS);
        if (found++ == 0)
            first_given = given;
        if (memcmp(&first_given, &given, sizeof(given)) != 0)
            fail_msg("%s gives other bits at hidden %zu, affine %d", kernel->name, hidden,
                     (int)problem->convention.affine);
    }
    return found;
}

TEST(same_bits_everywhere)
{
    numbers draws = {11};
    for (size_t t = 0; t < TYPE_PAIRS; t++) {
        /* f32: every size of whole tiles and of the rest after them; other types: each of them once. */
        size_t dense = t == 0 ? 260 : 130, step = t == 0 && !is_thinned() ? 3 : 11 * EMULATED;
        for (size_t hidden = 2; hidden <= LARGEST; hidden += hidden < dense ? 1 : 61) {
            fill(&draws, type_pairs[t], hidden);
            for (size_t c = hidden % step; c < CONVENTIONS; c += step) {
                ln_problem problem = problem_of(type_pairs[t], ROWS, hidden, convention_number(c));
                assert_true(compare(&problem, type_pairs[t], NULL) > 0);
            }
        }
    }
}

TEST(one_nan_everywhere)
{
    static const double eps[] = {1e-5, 0, 1e300, 5e-324};
    numbers draws = {12};
    for (size_t i = 0; i < (is_thinned() ? 700 / EMULATED : 7000); i++) {
        types pair = type_pairs[i % TYPE_PAIRS];
        size_t hidden = 1 + numbers_next(&draws) % (i % 9 ? 40 : 300), part = 4 * hidden;
        ln_problem problem = problem_of(pair, ROWS, hidden, convention_number(i / TYPE_PAIRS));
        problem.convention.ddof *= hidden > 1;
        if (problem.convention.eps_place != LN_EPS_NONE)
            problem.convention.eps = eps[numbers_next(&draws) % 4];
        fill(&draws, pair, hidden);
        fill_normal(&draws, residuals_values, ROWS * hidden, 0, 1);
        elements_store(pair.storage, residuals, residuals_values, ROWS * hidden);
        plant(&draws, pair.storage, x, ROWS * hidden, part);
        plant(&draws, pair.storage, residuals, ROWS * hidden, part);
        plant(&draws, pair.param, gammas, hidden, part);
        plant(&draws, pair.param, betas, hidden, part);
        assert_true(compare(&problem, pair, numbers_next(&draws) % 2 ? residuals : NULL) > 0);
    }
}

/* Every kernel reads and writes every number of its storage type, and rounds to it as IEEE 754
 * says, in whole vectors and in what is left of them. Read and written by the sum of x and -0;
 * rounded by gamma 0, where y is beta. */
#include "tests.h"

enum { ROWS = 3, LARGEST = 301 };

OPERAND(x, ROWS *LARGEST);
OPERAND(betas, LARGEST);
static _Alignas(64) unsigned char residual[ROWS * LARGEST * LARGEST_ELEMENT];
static _Alignas(64) unsigned char gammas[LARGEST * LARGEST_ELEMENT];
static _Alignas(64) unsigned char y[ROWS * LARGEST * LARGEST_ELEMENT];
static _Alignas(64) unsigned char sum[ROWS * LARGEST * LARGEST_ELEMENT];

static const size_t sizes[] = {7, 15, 29, 64, 301}; /* so that every part of a tail is met */
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

/* Emulated, two statistics of 16-bit storage that have all lanes among them: over f32 and f64. */
static bool is_taken(const ln_kernel *kernel)
{
    return element_size(kernel->storage) == 2 &&
           (!is_thinned() ||
            (kernel->param == LN_F32 && (strcmp(kernel->statistics, "reproducible") == 0 ||
                                         strcmp(kernel->statistics, "exact") == 0)));
}

static void expect(const ln_kernel *kernel, const char *what, double from, double found,
                   double expected)
{
    bool same = isnan(expected) ? (bool)isnan(found)
                                : found == expected && signbit(found) == signbit(expected);
    if (!same)
        fail_msg("%s: %s of %a is %a, not %a", kernel->name, what, from, found, expected);
}

/* All 2^16 numbers, in rows of a size. x + -0 is x. */
static void check_sums(const ln_kernel *kernel, size_t hidden)
{
    ln_problem problem = problem_of(types_of(kernel), ROWS, hidden, convention_number(0));
    const ln_tensors tensors = {.x = x, .residual = residual, .y = y, .sum = sum};
    for (size_t i = 0; i < ROWS * hidden; i++)
        element_put(kernel->storage, residual, i, -0.0);
    for (size_t first = 0; first < 0x10000; first += ROWS * hidden) {
        for (size_t i = 0; i < ROWS * hidden; i++)
            ((uint16_t *)(void *)x)[i] = (uint16_t)(first + i);
        kernel->run(&problem, &tensors);
        for (size_t i = 0; i < ROWS * hidden; i++) {
            double number = element_get(kernel->storage, x, i);
            double flushed = fabs(number) < ldexp(1, element_format(kernel->storage).least)
                                 ? copysign(0, number)
                                 : number;
            bool flushes = kernel->traits & LN_TRAIT_FLUSHES_SUBNORMALS;
            expect(kernel, "the sum", number, element_get(kernel->storage, sum, i),
                   flushes ? flushed : number);
        }
    }
}

TEST(every_number_is_read_and_written)
{
    const ln_kernel *kernel;
    for (size_t k = 0; (kernel = kernel_number(k)); k++)
        for (size_t s = 0; is_taken(kernel) && s < SIZES; s++)
            if (is_sampled(k, s, SIZES))
                check_sums(kernel, sizes[s]);
}

/* A number between two neighbours of the storage type, or one of those: number `at` of the first
 * and its distance from it in quarters, and a little, of theirs. */
static double number_between(ln_type type, unsigned at, unsigned part)
{
    uint16_t pair[2] = {(uint16_t)at, (uint16_t)(at + 1)};
    double here = element_get(type, pair, 0), next = element_get(type, pair, 1);
    if (isinf(next)) /* where it would be if exponents went on */
        next = copysign(ldexp(1, element_format(type).most + 1), here);
    static const double parts[] = {0, 0.25, 0.5 - 0x1p-13, 0.5, 0.5 + 0x1p-13, 0.75};
    return isfinite(here) ? here + (next - here) * parts[part] : here;
}

static void check_rounding(const ln_kernel *kernel, size_t hidden)
{
    ln_convention convention = {.eps_place = LN_EPS_VAR, .eps = 1e-5, .affine = LN_AFFINE_VECTOR};
    ln_problem problem = problem_of(types_of(kernel), 1, hidden, convention);
    const ln_tensors tensors = {.x = x, .gamma = gammas, .beta = betas, .y = y};
    numbers draws = {hidden};
    fill_normal(&draws, x_values, hidden, 0, 1);
    elements_store(kernel->storage, x, x_values, hidden);
    memset(gammas, 0, sizeof(gammas));
    unsigned step = (unsigned)hidden * (is_thinned() ? 5 : 1);
    for (unsigned at = 0; at < 6 * 0x10000; at += step) {
        for (size_t i = 0; i < hidden; i++)
            betas_values[i] = number_between(kernel->storage, (at + (unsigned)i) / 6 & 0xffffu,
                                             (at + (unsigned)i) % 6);
        elements_store(LN_F32, betas, betas_values, hidden);
        kernel->run(&problem, &tensors);
        for (size_t i = 0; i < hidden; i++) {
            double beta = betas_values[i], rounded = element_rounded(kernel->storage, beta);
            if (beta == 0) /* 0 xhat + beta: either sign */
                assert_true(element_get(kernel->storage, y, i) == 0);
            else if (!(kernel->traits & LN_TRAIT_FLUSHES_SUBNORMALS) ||
                     fabs(beta) >= ldexp(1, element_format(kernel->storage).least))
                expect(kernel, "the rounding", beta, element_get(kernel->storage, y, i), rounded);
        }
    }
}

TEST(rounding_is_to_nearest_even)
{
    const ln_kernel *kernel;
    size_t checked = 0;
    for (size_t k = 0; (kernel = kernel_number(k)); k++)
        for (size_t s = 0; is_taken(kernel) && kernel->param == LN_F32 && s < SIZES; s++)
            if (is_one_in(k, s, SIZES)) {
                check_rounding(kernel, sizes[s]);
                checked++;
            }
    assert_true(checked > 1);
}

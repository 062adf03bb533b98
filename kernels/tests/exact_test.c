/* Tests kernels that round correctly (LN_TRAIT_CORRECTLY_ROUNDED): ties, zeros and special values have known answers,
 * and all of these kernels give the same bits on every machine, in place or not, whose hashes are below. (lnbench run
 * compares them with the certified reference.)
 *
 *     exact_test CASES     prints a hash for each ISA, from so many cases of each pair of types, which are equal on
 *                          every machine (exact_everywhere.sh) */
#include "tests.h"
#include <stdio.h>

enum { ROWS = 5, LARGEST = 1024, CASES = 160 };

OPERAND(x, ROWS *LARGEST);
OPERAND(residual, ROWS *LARGEST);
OPERAND(gammas, LARGEST);
OPERAND(betas, LARGEST);
static _Alignas(64) unsigned char y[ROWS * LARGEST * LARGEST_ELEMENT];
static float mean[ROWS], rstd[ROWS];

static const ln_kernel *exact_kernel(size_t number)
{
    const ln_kernel *kernel;
    for (size_t k = 0; (kernel = kernel_number(k)); k++)
        if ((kernel->traits & LN_TRAIT_CORRECTLY_ROUNDED) && number-- == 0)
            return kernel;
    return NULL;
}

static uint32_t bits_at(ln_type type, const void *elements, size_t i)
{
    uint32_t word;
    if (type != LN_F32)
        return ((const uint16_t *)elements)[i];
    memcpy(&word, (const float *)elements + i, sizeof word);
    return word;
}

/* ---- Known answers ---- */

static uint32_t bits_of_number(ln_type type, double value)
{
    float element;
    element_put(type, &element, 0, value);
    return bits_at(type, &element, 0);
}

/* A row of +c and -c has mean 0, variance c^2 and, without eps, xhat 1 and -1: y is +-gamma + beta,
 * which a double holds exactly. */
static void check_ties(const ln_kernel *kernel, numbers *draws)
{
    format to = element_format(kernel->storage), from = element_format(kernel->param);
    size_t hidden = 2 + 2 * (numbers_next(draws) % 30);
    ln_convention rules = {.affine = LN_AFFINE_VECTOR};
    ln_problem problem = problem_of(types_of(kernel), 1, hidden, rules);
    double c = element_rounded(kernel->storage, 1 + numbers_uniform(draws));
    for (size_t i = 0; i < hidden; i++) {
        double last = ldexp(1, 1 - to.bits),
               near = ldexp((double)(numbers_next(draws) % 3) - 1, 1 - from.bits);
        double step = (double)(numbers_next(draws) % 64);
        x_values[i] = i % 2 ? -c : c;
        gammas_values[i] = element_rounded(kernel->param, 1 + step * last);
        betas_values[i] = element_rounded(kernel->param, last / 2 * (1 + near));
        if (numbers_next(draws) % 8 == 0) /* an exact zero */
            betas_values[i] = i % 2 ? gammas_values[i] : -gammas_values[i];
        else if (i % 2)
            betas_values[i] = -betas_values[i];
    }
    elements_store(kernel->storage, x, x_values, hidden);
    elements_store(kernel->param, gammas, gammas_values, hidden);
    elements_store(kernel->param, betas, betas_values, hidden);
    const ln_tensors tensors = {
        .x = x, .gamma = gammas, .beta = betas, .y = y, .mean = mean, .rstd = rstd};
    kernel->run(&problem, &tensors);
    for (size_t i = 0; i < hidden; i++) {
        double exact = (i % 2 ? -1 : 1) * gammas_values[i] + betas_values[i];
        uint32_t wanted = bits_of_number(kernel->storage, exact == 0 ? 0 : exact);
        uint32_t found = bits_at(kernel->storage, y, i);
        if (found != wanted)
            fail_msg("%s: a tie or near one: %a * %a + %a came out as %x, not %x", kernel->name,
                     i % 2 ? -1.0 : 1.0, gammas_values[i], betas_values[i], found, wanted);
    }
    assert_true(mean[0] == 0 && !signbit(mean[0]));
    assert_true(rstd[0] == (float)(1 / c)); /* double has enough digits for one rounding */
}

TEST(ties_go_to_even)
{
    const ln_kernel *kernel;
    for (size_t k = 0; (kernel = exact_kernel(k)); k++) {
        numbers draws = {k};
        for (int round = 0; round < 40; round++)
            check_ties(kernel, &draws);
    }
    assert_non_null(exact_kernel(0));
}

static void check_specials(const ln_kernel *kernel)
{
    enum { HIDDEN = 8 };
    const ln_type type = kernel->storage;
    ln_convention rules = {.affine = LN_AFFINE_VECTOR};
    ln_problem problem = problem_of(types_of(kernel), 1, HIDDEN, rules);
    double least =
        ldexp(1, element_format(kernel->param).least + 1 - element_format(kernel->param).bits);
    static const double values[HIDDEN] = {-3, -2, -0.5, 0, 0, 0.5, 2, 3};
    const double gamma[HIDDEN] = {INFINITY, NAN, least, INFINITY, 1, -least, -INFINITY, 1};
    const double beta[HIDDEN] = {0, 0, 0, 1, -0.0, 0, INFINITY, -INFINITY};
    uint32_t nan = type == LN_F32    ? 0x7fc00000
                   : type == LN_BF16 ? 0x7fc0
                                     : 0x7e00,
             minus = type == LN_F32 ? 0x80000000u : 0x8000u;
    uint32_t infinity = bits_of_number(type, INFINITY);
    const uint32_t wanted[HIDDEN] = {
        infinity | minus,
        nan,
        minus, /* xhat is about 1/4: less than half of the smallest number */
        nan,
        0,
        minus,
        nan,
        infinity | minus};
    memcpy(x_values, values, sizeof values);
    elements_store(type, x, x_values, HIDDEN);
    for (size_t i = 0; i < HIDDEN; i++) {
        element_put(kernel->param, gammas, i, gamma[i]);
        element_put(kernel->param, betas, i, beta[i]);
    }
    const ln_tensors tensors = {.x = x, .gamma = gammas, .beta = betas, .y = y};
    kernel->run(&problem, &tensors);
    for (size_t i = 0; i < HIDDEN; i++)
        if (bits_at(type, y, i) != wanted[i])
            fail_msg("%s: column %zu is %x, not %x", kernel->name, i, bits_at(type, y, i),
                     wanted[i]);
}

TEST(zeros_and_special_values)
{
    const ln_kernel *kernel;
    for (size_t k = 0; (kernel = exact_kernel(k)); k++)
        check_specials(kernel);
}

/* ---- The same bits on every machine ---- */

/* Makes a number from integers only, so that its bits are the same on every machine. */
static double number(numbers *draws, ln_type type, unsigned family)
{
    uint64_t bits = numbers_next(draws);
    double even = (double)(bits >> 32) * 0x1p-31 - 1; /* -1 ... 1 */
    int spread = type == LN_F16 ? 10 : 120;
    switch (family) {
    case 0: /* ordinary, and few different values */
    case 1:
        return even;
    case 2: /* a large mean */
        return 1000 + even;
    case 3:
        return (double)(bits % 5) - 2;
    case 4: /* any exponent */
        return ldexp(even, (int)(bits % (unsigned)(2 * spread)) - spread);
    case 5: /* subnormal */
        return ldexp((double)(bits % 2001) - 1000, type == LN_F16 ? -24 : -149);
    case 6: /* squares that overflow, in most types */
        return ldexp(even, spread);
    default: /* constant */
        return 0x1.8p-1;
    }
}

static void fill(numbers *draws, ln_type type, void *to, double *values, size_t count,
                 unsigned family)
{
    for (size_t i = 0; i < count; i++)
        values[i] = number(draws, type, family);
    elements_store(type, to, values, count);
}

/* Adds a value to an FNV-1a hash of values, not of bytes, which is the same on big-endian machines. */
static void hash(uint64_t *sum, uint32_t value)
{
    for (int byte = 0; byte < 4; byte++)
        *sum = (*sum ^ (value >> 8 * byte & 0xff)) * 0x100000001b3u;
}

/* Adds the results of a case to the hash, and returns their number. */
static size_t hash_case(const ln_kernel *kernel, size_t number_of_case, int in_place,
                        unsigned threads, uint64_t *sum)
{
    static const size_t sizes[] = {1, 2, 3, 5, 8, 9, 17, 33, 64, 100, 255, 768, 1024};
    static const double eps[] = {1e-5, 1e-12, 1, 1e30, 0x1p-1074, 1e300};
    numbers draws = {number_of_case};
    size_t hidden = sizes[numbers_next(&draws) % 13];
    ln_convention rules = convention_number(number_of_case % CONVENTIONS);
    if (rules.eps_place != LN_EPS_NONE)
        rules.eps = eps[numbers_next(&draws) % (number_of_case % 3 ? 2 : 6)];
    ln_problem problem = problem_of(types_of(kernel), ROWS, hidden, rules);
    for (size_t r = 0; r < ROWS; r++) {
        size_t at = r * hidden;
        unsigned family = (unsigned)(numbers_next(&draws) % 8);
        fill(&draws, kernel->storage, x + at * element_size(kernel->storage), x_values + at, hidden,
             family);
        fill(&draws, kernel->storage, residual + at * element_size(kernel->storage),
             residual_values + at, hidden, family);
    }
    fill(&draws, kernel->param, gammas, gammas_values, hidden,
         (unsigned)(numbers_next(&draws) % 6));
    fill(&draws, kernel->param, betas, betas_values, hidden, (unsigned)(numbers_next(&draws) % 6));
    memcpy(y, x, ROWS * hidden * element_size(kernel->storage));
    const ln_tensors tensors = {.x = in_place ? y : x,
                                .residual = number_of_case % 4 ? NULL : residual,
                                .gamma = gammas,
                                .beta = betas,
                                .y = y,
                                .mean = mean,
                                .rstd = rstd};
    if (threads > 1)
        ln_layernorm_parallel_with(kernel, &problem, &tensors);
    else
        kernel->run(&problem, &tensors);
    for (size_t i = 0; i < ROWS * hidden; i++)
        hash(sum, bits_at(kernel->storage, y, i));
    for (size_t r = 0; r < ROWS; r++) {
        hash(sum, bits_at(LN_F32, mean, r));
        hash(sum, bits_at(LN_F32, rstd, r));
    }
    return ROWS * hidden + 2 * ROWS;
}

/* The hashes of about 120 000 results of each pair of types. */
static const struct {
    types pair;
    uint64_t hash;
} known[] = {
    {{LN_F32, LN_F32}, 0x8239537f070227c4},  {{LN_BF16, LN_BF16}, 0x158b4db5959f9eeb},
    {{LN_BF16, LN_F32}, 0xd520c4d80b4de4d6}, {{LN_F16, LN_F16}, 0xb601b93bdd65ba4b},
    {{LN_F16, LN_F32}, 0xd4875015c98d1ed0},
};

static uint64_t known_hash(const ln_kernel *kernel)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (has_types(kernel, known[i].pair))
            return known[i].hash;
    return 0;
}

TEST(same_bits_on_every_machine)
{
    const ln_kernel *kernel;
    for (size_t k = 0; (kernel = exact_kernel(k)); k++)
        for (int in_place = 0; in_place < 2; in_place++) {
            if (is_thinned() && in_place != (int)(k % 2))
                continue;
            uint64_t sum = 0xcbf29ce484222325u;
            for (size_t i = 0; i < CASES; i++)
                hash_case(kernel, i, in_place, 1, &sum);
            if (sum != known_hash(kernel))
                fail_msg("%s%s: hash %016llx", kernel->name, in_place ? " in place" : "",
                         (unsigned long long)sum);
        }
}

static void print_hash(const char *isa, unsigned threads, size_t cases)
{
    const ln_kernel *kernel;
    uint64_t sum = 0xcbf29ce484222325u;
    size_t results = 0;
    for (size_t k = 0; (kernel = kernel_that_runs(k, 1)); k++)
        for (size_t i = 0; i < cases && (kernel->traits & LN_TRAIT_CORRECTLY_ROUNDED) &&
                           strcmp(kernel->isa, isa) == 0;
             i++)
            results += hash_case(kernel, i, i % 8 == 7, threads, &sum);
    if (results)
        printf("%s, %u thread%s, %zu results: %016llx\n", isa, threads, threads > 1 ? "s" : "",
               results, (unsigned long long)sum);
}

static int print_hashes(size_t cases)
{
    static const char *const isas[] = {"scalar", "avx2", "avx512", "neon"};
    for (unsigned threads = 1; threads <= 2; threads++)
        for (size_t i = 0; i < sizeof isas / sizeof *isas && ln_set_threads(threads) == LN_OK; i++)
            print_hash(isas[i], threads, cases);
    return 0;
}

int main(int count, char **words)
{
    if (count > 1)
        return print_hashes(strtoul(words[1], NULL, 10));
    return test_run(NULL, NULL);
}

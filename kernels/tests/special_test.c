/* Kernels handle special values, and read and write every number of the 16-bit types. */
#include "tests.h"

/* ---- Special values and calls ---------------------------------------------------------------- */

/* Special values, and the errors of the public functions for invalid arguments. */

enum { ROWS = 3, LARGEST = 200 };

OPERANDS(ROWS, LARGEST);
static _Alignas(64) unsigned char plain_y[ROWS * LARGEST * LARGEST_ELEMENT];

static const types f32 = {LN_F32, LN_F32};

static ln_tensors all_tensors(void)
{
    return (ln_tensors){.x = x, .gamma = gammas, .beta = betas, .y = y};
}

static void fill(types pair, size_t hidden, size_t rows)
{
    numbers draws = {hidden};
    fill_normal(&draws, x_values, rows * hidden, 1, 1);
    fill_normal(&draws, gammas_values, hidden, 1, 1);
    fill_normal(&draws, betas_values, hidden, 0, 1);
    gammas_values[0] = 0;
    elements_store(pair.storage, x, x_values, rows * hidden);
    elements_store(pair.param, gammas, gammas_values, hidden);
    elements_store(pair.param, betas, betas_values, hidden);
}

/* A special value in the middle row makes all of it NaN, and the other rows are those without it (plain_y). */
static void check_special(const ln_kernel *kernel, size_t hidden, size_t c, double special,
                          size_t at)
{
    ln_problem problem = problem_of(types_of(kernel), ROWS, hidden, convention_number(c));
    ln_tensors tensors = all_tensors();
    size_t row = hidden * element_size(kernel->storage);
    element_put(kernel->storage, x, hidden + at, special);
    kernel->run(&problem, &tensors);
    element_put(kernel->storage, x, hidden + at, x_values[hidden + at]);
    for (size_t i = 0; i < hidden; i++)
        if (!isnan(element_get(kernel->storage, y, hidden + i)))
            fail_msg("%s, convention %zu, hidden %zu, %g at %zu: column %zu is %g", kernel->name, c,
                     hidden, special, at, i, element_get(kernel->storage, y, hidden + i));
    assert_memory_equal(y, plain_y, row);
    assert_memory_equal(y + 2 * row, plain_y + 2 * row, row);
    ln_row_facts facts = {.max_abs = special};
    assert_true(kernel->bound(&problem, &facts).xhat_abs == 0);
}

static void check_specials(const ln_kernel *kernel, size_t hidden, size_t c)
{
    static const double specials[] = {NAN, INFINITY, -INFINITY};
    ln_problem problem = problem_of(types_of(kernel), ROWS, hidden, convention_number(c));
    ln_tensors tensors = all_tensors();
    tensors.y = plain_y;
    kernel->run(&problem, &tensors);
    for (size_t v = 0; v < 3; v++)
        for (size_t at = 0; at < 3; at++)
            check_special(kernel, hidden, c, specials[v], at * (hidden - 1) / 2);
}

TEST(nan_and_inf_poison_their_row)
{
    static const size_t sizes[] = {1, 2, 5, 17, 64, 100, 200};
    const ln_kernel *kernel;
    for (size_t k = 0; (kernel = kernel_number(k)); k++)
        for (size_t s = 0; s < 7; s++) {
            fill(types_of(kernel), sizes[s], ROWS);
            for (size_t c = 0; c < CONVENTIONS; c++)
                if (is_sampled(k, s + c, 4))
                    check_specials(kernel, sizes[s], c);
        }
}

TEST(one_element_under_ddof_1_is_nan)
{
    static const double values[] = {0, 1, -0.1, 3e38, 1e-45, 123.456};
    const ln_kernel *kernel;
    for (size_t k = 0; (kernel = kernel_number(k)); k++)
        for (size_t c = 1; c < CONVENTIONS; c += 2)
            for (size_t v = 0; v < 6; v++) {
                ln_problem problem = problem_of(types_of(kernel), 1, 1, convention_number(c));
                ln_tensors tensors = all_tensors();
                fill(types_of(kernel), 1, 1);
                element_put(kernel->storage, x, 0, values[v]);
                element_put(kernel->storage, y, 0, 0);
                kernel->run(&problem, &tensors);
                assert_true(isnan(element_get(kernel->storage, y, 0)));
            }
}

/* Rows of one element have the same bits in one call and in single calls, including the sign of zeros. */
TEST(one_element_is_as_alone)
{
    static const double values[ROWS] = {1, -0.0, 0};
    const ln_kernel *kernel;
    for (size_t k = 0; (kernel = kernel_number(k)); k++)
        for (size_t c = 0; c < CONVENTIONS; c++) {
            ln_problem problem = problem_of(types_of(kernel), ROWS, 1, convention_number(c));
            ln_tensors tensors = all_tensors();
            size_t size = element_size(kernel->storage);
            fill(types_of(kernel), 1, 1);
            for (size_t row = 0; row < ROWS; row++)
                element_put(kernel->storage, x, row, values[row]);
            kernel->run(&problem, &tensors);
            problem.rows = 1;
            for (size_t row = 0; row < ROWS; row++) {
                tensors.x = x + row * size;
                tensors.y = plain_y + row * size;
                kernel->run(&problem, &tensors);
            }
            assert_memory_equal(y, plain_y, ROWS * size);
        }
}

/* NaNs in gamma or beta give NaN for every payload; a result that is too large for the storage type
 * becomes infinite, and a subnormal result is not flushed. */
static void check_affine_values(const ln_kernel *kernel, size_t hidden)
{
    ln_problem problem = problem_of(types_of(kernel), 1, hidden, convention_number(26));
    ln_tensors tensors = all_tensors();
    format kind = element_format(kernel->storage);
    double smallest = ldexp(1, kind.least - kind.bits + 1);
    fill(types_of(kernel), hidden, 1);
    for (size_t i = 0; i < hidden; i++) {
        element_put(kernel->param, gammas, i, 0);
        element_put(kernel->param, betas, i, 0);
    }
    size_t param = element_size(kernel->param);
    memset(gammas + 2 * param, 0xff, 2 * param); /* NaNs with all bits set, one positive */
    gammas[3 * param - 1] = 0x7f;
    element_put(kernel->param, betas, 4, INFINITY);
    element_put(kernel->param, betas, 5, -INFINITY);
    element_put(kernel->param, betas, 6, 3 * smallest);
    element_put(kernel->param, betas, 7, -5 * smallest);
    double small = element_get(kernel->param, betas, 6),
           less = element_get(kernel->param, betas, 7);
    kernel->run(&problem, &tensors);
    assert_true(isnan(element_get(kernel->storage, y, 2)));
    assert_true(isnan(element_get(kernel->storage, y, 3)));
    assert_true(element_get(kernel->storage, y, 4) == INFINITY);
    assert_true(element_get(kernel->storage, y, 5) == -INFINITY);
    double y6 = element_get(kernel->storage, y, 6), y7 = element_get(kernel->storage, y, 7);
    if (!(kernel->traits & LN_TRAIT_FLUSHES_SUBNORMALS) && !(y6 == small && y7 == less))
        fail_msg("%s, hidden %zu: subnormal %g and %g became %g and %g", kernel->name, hidden,
                 small, less, y6, y7);
}

TEST(affine_values_are_kept)
{
    static const size_t sizes[] = {8, 9, 13, 16, 17, 31, 33, 64, 100};
    const ln_kernel *kernel;
    for (size_t k = 0; (kernel = kernel_number(k)); k++)
        for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
            check_affine_values(kernel, sizes[s]);
}

TEST(rows_may_be_none)
{
    ln_problem none = problem_of(f32, 0, 16, convention_number(26));
    assert_int_equal(ln_layernorm(&none, NULL), LN_OK);
    memset(y, 0x42, sizeof(y));
    memset(plain_y, 0x42, sizeof(y));
    ln_tensors tensors = all_tensors();
    const ln_kernel *kernel;
    for (size_t k = 0; (kernel = kernel_number(k)); k++) {
        none = problem_of(types_of(kernel), 0, 16, convention_number(26));
        kernel->run(&none, &tensors);
    }
    assert_memory_equal(y, plain_y, sizeof(y));
}

static void check_choice(types pair)
{
    ln_problem problem = problem_of(pair, 2, 100, convention_number(26));
    const char *name = ln_layernorm_kernel_name(&problem);
    assert_non_null(name);
    const ln_kernel *kernel, *taken = NULL, *best = NULL;
    for (size_t k = 0; (kernel = kernel_number(k)); k++)
        if (strcmp(kernel->name, name) == 0)
            taken = kernel;
    if (!taken && getenv("LN_UNDER_QEMU"))
        return; /* a scalar kernel, which is not tested here */
    assert_non_null(taken);
    for (size_t k = 0; (kernel = kernel_number(k)); k++)
        if (strcmp(kernel->statistics, taken->statistics) == 0 &&
            strcmp(kernel->apply, taken->apply) == 0 &&
            strcmp(kernel->schedule, taken->schedule) == 0 && has_types(kernel, pair) &&
            kernel->unroll == taken->unroll)
            best = kernel; /* the table lists worse ISAs first */
    assert_string_equal(name, best->name);
    fill(pair, 100, 2);
    ln_tensors tensors = all_tensors();
    best->run(&problem, &tensors);
    memcpy(plain_y, y, sizeof(y));
    memset(y, 0, 200 * element_size(pair.storage));
    assert_int_equal(ln_layernorm(&problem, &tensors), LN_OK);
    assert_memory_equal(y, plain_y, sizeof(y));
}

/* Every type has an accurate kernel and a reproducible one. */
TEST(every_type_has_an_accurate_kernel)
{
    for (size_t t = 0; t < TYPE_PAIRS; t++) {
        ln_problem problem = problem_of(type_pairs[t], 2, 100, convention_number(26));
        problem.accuracy = LN_ACCURACY_ACCURATE;
        assert_non_null(ln_layernorm_kernel_name(&problem));
        problem.accuracy = LN_ACCURACY_REPRODUCIBLE;
        const char *name = ln_layernorm_kernel_name(&problem);
        assert_true(name && strncmp(name, "reproducible", 12) == 0);
    }
}

TEST(layernorm_takes_the_best_isa)
{
    for (size_t t = 0; t < TYPE_PAIRS; t++)
        check_choice(type_pairs[t]);
    ln_tensors tensors = all_tensors();
    ln_problem problem = problem_of((types){LN_F32, LN_BF16}, 2, 100, convention_number(26));
    assert_null(ln_layernorm_kernel_name(&problem));
    assert_null(ln_layernorm_kernel_name(NULL));
    assert_int_equal(ln_layernorm(&problem, &tensors), LN_ERROR_UNSUPPORTED);
    assert_int_equal(ln_layernorm_with(ln_layernorm_kernel("shifted_two_mean_fused_f32_scalar"),
                                       &problem, &tensors),
                     LN_ERROR_UNSUPPORTED);
}

static void expect_argument_error(ln_problem problem, ln_tensors tensors, const char *what)
{
    memset(y, 0x11, sizeof(y));
    memcpy(plain_y, y, sizeof(y));
    if (ln_layernorm(&problem, &tensors) != LN_ERROR_ARGUMENT ||
        ln_layernorm_with(ln_layernorm_kernel("shifted_two_mean_fused_f32_scalar"), &problem,
                          &tensors) != LN_ERROR_ARGUMENT)
        fail_msg("%s was not refused", what);
    assert_memory_equal(y, plain_y, sizeof(y));
}

#define REFUSES(change)                                                                            \
    do {                                                                                           \
        ln_problem problem = problem_of(f32, 2, 16, vector);                                       \
        ln_tensors tensors = all_tensors();                                                        \
        change;                                                                                    \
        expect_argument_error(problem, tensors, #change);                                          \
    } while (0)

TEST(bad_arguments_are_refused)
{
    const ln_convention vector = {.eps_place = LN_EPS_VAR, .eps = 1e-5, .affine = LN_AFFINE_VECTOR};
    REFUSES(tensors.x = NULL);
    REFUSES(tensors.y = NULL);
    REFUSES(tensors.gamma = NULL);
    REFUSES(tensors.beta = NULL);
    REFUSES(tensors.sum = y);
    REFUSES(problem.hidden = 0);
    REFUSES(problem.x_stride = 15);
    REFUSES(problem.y_stride = 15);
    REFUSES((problem.residual_stride = 15, tensors.residual = x));
    REFUSES(problem.sum_stride = 1);
    REFUSES(problem.rows = SIZE_MAX / 16);
    REFUSES(problem.hidden = SIZE_MAX);
    REFUSES(problem.y_stride = SIZE_MAX / 2);
    REFUSES(problem.convention.ddof = 2);
    REFUSES(problem.convention.ddof = -1);
    REFUSES(problem.convention.operation = LN_OPERATION_RMSNORM);
    REFUSES(problem.convention.cast = 1); /* a field of RMSNorm's */
    REFUSES(problem.convention.eps = -1e-5);
    REFUSES(problem.convention.eps = NAN);
    REFUSES(problem.convention.eps = INFINITY);
    REFUSES(problem.convention.eps_place = LN_EPS_NONE);
    REFUSES(problem.convention.eps_place = (ln_eps_place)4);
    REFUSES(problem.convention.affine = (ln_affine)5);
    REFUSES(problem.storage = (ln_type)4);

    ln_problem problem = problem_of(f32, 1, 16, vector);
    ln_tensors tensors = all_tensors();
    assert_int_equal(ln_layernorm(NULL, &tensors), LN_ERROR_ARGUMENT);
    assert_int_equal(ln_layernorm(&problem, NULL), LN_ERROR_ARGUMENT);
    assert_null(ln_layernorm_kernel(NULL));
    assert_null(ln_layernorm_kernel("fused"));
    assert_int_equal(ln_layernorm_with(NULL, &problem, &tensors), LN_ERROR_UNSUPPORTED);
    for (int status = -1; status < 4; status++)
        assert_non_null(ln_status_string((ln_status)status));
}

/* ---- 16-bit storage -------------------------------------------------------------------------- */

/* Every kernel reads and writes every number of its storage type, and rounds to it as in IEEE 754,
 * in whole vectors and in the elements after them. Reading and writing are tested by the sum of x and -0;
 * rounding by gamma 0, with which y is beta. */

enum { STORED_ROWS = 3, STORED_LARGEST = 301 };

OPERAND(stored_x, STORED_ROWS *STORED_LARGEST);
OPERAND(stored_betas, STORED_LARGEST);
static _Alignas(64) unsigned char residual[STORED_ROWS * STORED_LARGEST * LARGEST_ELEMENT];
static _Alignas(64) unsigned char stored_gammas[STORED_LARGEST * LARGEST_ELEMENT];
static _Alignas(64) unsigned char stored_y[STORED_ROWS * STORED_LARGEST * LARGEST_ELEMENT];
static _Alignas(64) unsigned char sum[STORED_ROWS * STORED_LARGEST * LARGEST_ELEMENT];

static const size_t tail_sizes[] = {7, 15, 29, 64, 301}; /* use the code of every part of a tail */
enum { TAIL_SIZES = sizeof(tail_sizes) / sizeof(tail_sizes[0]) };

/* On an emulator only two statistics of 16-bit storage are tested, which use all lanes: over f32 and f64. */
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

/* Checks that x + -0 is x for all 2^16 numbers, in rows of one size. */
static void check_sums(const ln_kernel *kernel, size_t hidden)
{
    ln_problem problem = problem_of(types_of(kernel), STORED_ROWS, hidden, convention_number(0));
    const ln_tensors tensors = {.x = stored_x, .residual = residual, .y = stored_y, .sum = sum};
    for (size_t i = 0; i < STORED_ROWS * hidden; i++)
        element_put(kernel->storage, residual, i, -0.0);
    for (size_t first = 0; first < 0x10000; first += STORED_ROWS * hidden) {
        for (size_t i = 0; i < STORED_ROWS * hidden; i++)
            ((uint16_t *)(void *)stored_x)[i] = (uint16_t)(first + i);
        kernel->run(&problem, &tensors);
        for (size_t i = 0; i < STORED_ROWS * hidden; i++) {
            double number = element_get(kernel->storage, stored_x, i);
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
        for (size_t s = 0; is_taken(kernel) && s < TAIL_SIZES; s++)
            if (is_sampled(k, s, TAIL_SIZES))
                check_sums(kernel, tail_sizes[s]);
}

/* Returns a number between two neighbours of the storage type, or the first of them, which is number `at`. part: its
 * distance from that, about a multiple of a quarter of theirs. */
static double number_between(ln_type type, unsigned at, unsigned part)
{
    uint16_t pair[2] = {(uint16_t)at, (uint16_t)(at + 1)};
    double here = element_get(type, pair, 0), next = element_get(type, pair, 1);
    if (isinf(next)) /* the number that would follow with a larger exponent */
        next = copysign(ldexp(1, element_format(type).most + 1), here);
    static const double parts[] = {0, 0.25, 0.5 - 0x1p-13, 0.5, 0.5 + 0x1p-13, 0.75};
    return isfinite(here) ? here + (next - here) * parts[part] : here;
}

static void check_rounding(const ln_kernel *kernel, size_t hidden)
{
    ln_convention convention = {.eps_place = LN_EPS_VAR, .eps = 1e-5, .affine = LN_AFFINE_VECTOR};
    ln_problem problem = problem_of(types_of(kernel), 1, hidden, convention);
    const ln_tensors tensors = {
        .x = stored_x, .gamma = stored_gammas, .beta = stored_betas, .y = stored_y};
    numbers draws = {hidden};
    fill_normal(&draws, stored_x_values, hidden, 0, 1);
    elements_store(kernel->storage, stored_x, stored_x_values, hidden);
    memset(stored_gammas, 0, sizeof(stored_gammas));
    unsigned step = (unsigned)hidden * (is_thinned() ? 5 : 1);
    for (unsigned at = 0; at < 6 * 0x10000; at += step) {
        for (size_t i = 0; i < hidden; i++)
            stored_betas_values[i] = number_between(
                kernel->storage, (at + (unsigned)i) / 6 & 0xffffu, (at + (unsigned)i) % 6);
        elements_store(LN_F32, stored_betas, stored_betas_values, hidden);
        kernel->run(&problem, &tensors);
        for (size_t i = 0; i < hidden; i++) {
            double beta = stored_betas_values[i], rounded = element_rounded(kernel->storage, beta);
            if (beta == 0) /* 0 xhat + beta: either sign */
                assert_true(element_get(kernel->storage, stored_y, i) == 0);
            else if (!(kernel->traits & LN_TRAIT_FLUSHES_SUBNORMALS) ||
                     fabs(beta) >= ldexp(1, element_format(kernel->storage).least))
                expect(kernel, "the rounding", beta, element_get(kernel->storage, stored_y, i),
                       rounded);
        }
    }
}

TEST(rounding_is_to_nearest_even)
{
    const ln_kernel *kernel;
    size_t checked = 0;
    for (size_t k = 0; (kernel = kernel_number(k)); k++)
        for (size_t s = 0; is_taken(kernel) && kernel->param == LN_F32 && s < TAIL_SIZES; s++)
            if (is_one_in(k, s, TAIL_SIZES)) {
                check_rounding(kernel, tail_sizes[s]);
                checked++;
            }
    assert_true(checked > 1);
}

/* Special values, shifts of the pivot, and the answers of the library's front to bad arguments. */
#include "tests.h"

enum { ROWS = 3, LARGEST = 200 };

static float x[ROWS * LARGEST], y[ROWS * LARGEST], plain_y[ROWS * LARGEST];
static float gamma_values[LARGEST], beta_values[LARGEST];

static ln_tensors all_tensors(void)
{
    return (ln_tensors){.x = x, .gamma = gamma_values, .beta = beta_values, .y = y};
}

/* The middle row is NaN from end to end, the others are as they would be without it. */
static void check_special(const ln_kernel *kernel, size_t hidden, size_t c, float special,
                          size_t at)
{
    ln_problem problem = problem_of(ROWS, hidden, convention_number(c));
    ln_tensors tensors = all_tensors();
    numbers numbers = {hidden};
    fill_normal(&numbers, x, ROWS * hidden, 1, 1);
    fill_normal(&numbers, gamma_values, hidden, 1, 1);
    fill_normal(&numbers, beta_values, hidden, 0, 1);
    gamma_values[0] = 0;
    tensors.y = plain_y;
    kernel->run(&problem, &tensors);
    x[hidden + at] = special;
    tensors.y = y;
    kernel->run(&problem, &tensors);
    for (size_t i = 0; i < hidden; i++)
        if (!isnan(y[hidden + i]))
            fail_msg("%s, convention %zu, hidden %zu, %g at %zu: column %zu is %g", kernel->name, c,
                     hidden, (double)special, at, i, (double)y[hidden + i]);
    assert_memory_equal(y, plain_y, hidden * sizeof(float));
    assert_memory_equal(y + 2 * hidden, plain_y + 2 * hidden, hidden * sizeof(float));
    ln_row_facts facts = {.max_abs = special};
    assert_true(kernel->bound(&problem, &facts).xhat_abs == 0);
}

static void nan_and_inf_poison_their_row(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 5, 17, 64, 100, 200};
    static const float specials[] = {NAN, INFINITY, -INFINITY};
    const ln_kernel *kernel;
    for (size_t k = 0; (kernel = kernel_number(k)); k++)
        for (size_t s = 0; s < 7; s++)
            for (size_t c = 0; c < CONVENTIONS; c++)
                for (size_t v = 0; v < 3 && is_sampled(k, s + c, 4); v++)
                    for (size_t at = 0; at < 3; at++)
                        check_special(kernel, sizes[s], c, specials[v], at * (sizes[s] - 1) / 2);
}

static void one_element_under_ddof_1_is_nan(void **state)
{
    (void)state;
    static const float values[] = {0, 1, -0.1f, 3e38f, 1e-45f, 123.456f};
    gamma_values[0] = beta_values[0] = 1;
    const ln_kernel *kernel;
    for (size_t k = 0; (kernel = kernel_number(k)); k++)
        for (size_t c = 1; c < CONVENTIONS; c += 2)
            for (size_t v = 0; v < 6; v++) {
                ln_problem problem = problem_of(1, 1, convention_number(c));
                ln_tensors tensors = all_tensors();
                x[0] = values[v], y[0] = 0;
                kernel->run(&problem, &tensors);
                assert_true(isnan(y[0]));
            }
}

static void rows_may_be_none(void **state)
{
    (void)state;
    ln_problem problem = problem_of(0, 16, convention_number(26));
    assert_int_equal(ln_layernorm(&problem, NULL), LN_OK);
    y[0] = 42;
    ln_tensors tensors = all_tensors();
    const ln_kernel *kernel;
    for (size_t k = 0; (kernel = kernel_number(k)); k++)
        kernel->run(&problem, &tensors);
    assert_true(y[0] == 42);
}

static void layernorm_is_the_best_fused(void **state)
{
    (void)state;
    ln_problem problem = problem_of(2, 100, convention_number(26));
    const char *name = ln_layernorm_kernel(&problem);
    assert_non_null(name);
    const ln_kernel *kernel, *best = NULL;
    for (size_t k = 0; (kernel = kernel_number(k)); k++)
        if (strcmp(kernel->schedule, "fused") == 0)
            best = kernel; /* the table goes from worse to better */
    assert_non_null(best);
    assert_string_equal(name, best->name);
    numbers numbers = {5};
    fill_normal(&numbers, x, 200, 1, 1);
    fill_normal(&numbers, gamma_values, 100, 1, 1);
    fill_normal(&numbers, beta_values, 100, 1, 1);
    ln_tensors tensors = all_tensors();
    best->run(&problem, &tensors);
    memcpy(plain_y, y, sizeof(y));
    memset(y, 0, sizeof(y));
    assert_int_equal(ln_layernorm(&problem, &tensors), LN_OK);
    assert_memory_equal(y, plain_y, 200 * sizeof(float));
    problem.storage = LN_BF16;
    assert_null(ln_layernorm_kernel(&problem));
    assert_null(ln_layernorm_kernel(NULL));
    assert_int_equal(ln_layernorm(&problem, &tensors), LN_ERROR_UNSUPPORTED);
    assert_int_equal(ln_layernorm_with(best->name, &problem, &tensors), LN_ERROR_UNSUPPORTED);
}

static void expect_argument_error(ln_problem problem, ln_tensors tensors, const char *what)
{
    memset(y, 0x11, sizeof(y));
    memcpy(plain_y, y, sizeof(y));
    if (ln_layernorm(&problem, &tensors) != LN_ERROR_ARGUMENT ||
        ln_layernorm_with("fused_f32_scalar", &problem, &tensors) != LN_ERROR_ARGUMENT)
        fail_msg("%s was not refused", what);
    assert_memory_equal(y, plain_y, sizeof(y));
}

#define REFUSES(change)                                                                            \
    do {                                                                                           \
        ln_problem problem = problem_of(2, 16, vector);                                            \
        ln_tensors tensors = all_tensors();                                                        \
        change;                                                                                    \
        expect_argument_error(problem, tensors, #change);                                          \
    } while (0)

static void bad_arguments_are_refused(void **state)
{
    (void)state;
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
    REFUSES(problem.convention.eps = -1e-5);
    REFUSES(problem.convention.eps = NAN);
    REFUSES(problem.convention.eps = INFINITY);
    REFUSES(problem.convention.eps_place = LN_EPS_NONE);
    REFUSES(problem.convention.eps_place = (ln_eps_place)4);
    REFUSES(problem.convention.affine = (ln_affine)5);
    REFUSES(problem.storage = (ln_type)4);

    ln_problem problem = problem_of(1, 16, vector);
    ln_tensors tensors = all_tensors();
    assert_int_equal(ln_layernorm(NULL, &tensors), LN_ERROR_ARGUMENT);
    assert_int_equal(ln_layernorm(&problem, NULL), LN_ERROR_ARGUMENT);
    assert_int_equal(ln_layernorm_with(NULL, &problem, &tensors), LN_ERROR_ARGUMENT);
    assert_int_equal(ln_layernorm_with("fused", &problem, &tensors), LN_ERROR_UNSUPPORTED);
    for (int status = -1; status < 4; status++)
        assert_non_null(ln_status_string((ln_status)status));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nan_and_inf_poison_their_row),
        cmocka_unit_test(one_element_under_ddof_1_is_nan),
        cmocka_unit_test(rows_may_be_none),
        cmocka_unit_test(layernorm_is_the_best_fused),
        cmocka_unit_test(bad_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

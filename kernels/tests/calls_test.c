/* Tests the library's calls as kernels (registry.c): each has the bits of ln_layernorm() of its class, on one thread
 * and on two, and gives mean and rstd in the type that it declares. */
#include "tests.h"

enum { ROWS = 64, LARGEST = 1030, THREADS = 2 };

static const size_t sizes[] = {1, 16, 255, 768, 1030}; /* for which the table has several kernels */
enum { SIZES = sizeof sizes / sizeof sizes[0] };
#ifdef LN_EMULATED
enum { STEP = 13 };
#else
enum { STEP = 1 };
#endif

OPERANDS(ROWS, LARGEST);
static _Alignas(64) unsigned char own_y[ROWS * LARGEST * LARGEST_ELEMENT];
static statistics_room mean[ROWS], rstd[ROWS], own_mean[ROWS], own_rstd[ROWS];

static const char *const class_names[] = {"library_fast_", "library_accurate_",
                                          "library_reproducible_", "library_exact_"};
enum { CLASSES = sizeof class_names / sizeof class_names[0] };

static ln_accuracy class_of(const ln_kernel *call)
{
    for (int class = 0; class < CLASSES; class ++)
        if (strncmp(call->name, class_names[class], strlen(class_names[class])) == 0)
            return (ln_accuracy) class;
    fail_msg("%s is of no class", call->name);
    return LN_ACCURACY_FAST;
}

static void store(types pair, size_t hidden)
{
    numbers draws = {hidden};
    fill_normal(&draws, x_values, ROWS * hidden, 0.5, 1);
    fill_normal(&draws, gammas_values, hidden, 1, 0.1);
    fill_normal(&draws, betas_values, hidden, 0, 1);
    elements_store(pair.storage, x, x_values, ROWS * hidden);
    elements_store(pair.param, gammas, gammas_values, hidden);
    elements_store(pair.param, betas, betas_values, hidden);
}

/* Returns a statistic of the kernel, converted to the type of the descriptor. */
static double as_said(const ln_kernel *call, ln_type from, const statistics_room *room, size_t row)
{
    double value = from == LN_F64 ? ((const double *)(const void *)room)[row]
                                  : (double)((const float *)(const void *)room)[row];
    return call->accumulator == LN_F32 ? (double)(float)value : value;
}

static bool is_same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static void check_call(const ln_kernel *call, size_t hidden, size_t convention)
{
    ln_problem problem = problem_of(types_of(call), ROWS, hidden, convention_number(convention));
    size_t bytes = ROWS * hidden * element_size(call->storage);
    ln_tensors own = {
        .x = x, .gamma = gammas, .beta = betas, .y = own_y, .mean = own_mean, .rstd = own_rstd};
    ln_tensors tensors = {
        .x = x, .gamma = gammas, .beta = betas, .y = y, .mean = mean, .rstd = rstd};
    void *prepared;
    memset(own_y, 0x55, bytes);
    if (call->supports(&problem)) /* missing_classes_are_said */
        return;
    assert_int_equal(call->prepare(&problem, &prepared), 0);
    call->run(prepared, &own);
    problem.accuracy = class_of(call);
    assert_int_equal(ln_layernorm(&problem, &tensors), LN_OK);
    assert_memory_equal(own_y, y, bytes);
    ln_type from = ln_layernorm_accumulator(&problem);
    for (size_t row = 0; row < ROWS; row++) {
        assert_true(is_same(statistic_at(call, own_mean, row), as_said(call, from, mean, row)));
        assert_true(is_same(statistic_at(call, own_rstd, row), as_said(call, from, rstd, row)));
    }
    /* The caller does not want mean and rstd. */
    memset(own_y, 0x55, bytes);
    own.mean = own.rstd = NULL;
    call->run(prepared, &own);
    call->release(prepared);
    assert_memory_equal(own_y, y, bytes);
}

TEST(calls_are_the_library)
{
    const ln_plugin_table *plugin = ln_plugin();
    size_t first = count_lines(plugin), found[CLASSES] = {0};
    for (unsigned threads = THREADS; threads >= 1; threads--) {
        assert_int_equal(plugin->set_threads(threads), 0);
        for (size_t i = first; i < count_layernorm(plugin); i++) {
            const ln_kernel *call = &plugin->kernels[i];
            found[class_of(call)]++;
            for (size_t size = i % STEP; size < SIZES; size += STEP) {
                store(types_of(call), sizes[size]);
                check_call(call, sizes[size], (i + size) % CONVENTIONS);
            }
        }
    }
    for (int class = 0; class < CLASSES; class ++)
        assert_true(found[class] > 0);
}

/* A call has the result of the kernel that the library names for it. */
static void check_call_by_name(const ln_problem *problem)
{
    ln_tensors tensors = {.x = x, .gamma = gammas, .beta = betas, .y = y};
    size_t bytes = problem->rows * problem->hidden * element_size(problem->storage);
    memset(y, 0x55, bytes);
    assert_int_equal(ln_layernorm(problem, &tensors), LN_OK);
    memcpy(own_y, y, bytes);
    memset(y, 0x55, bytes);
    const ln_kernel *taken = ln_layernorm_kernel(ln_layernorm_kernel_name(problem));
    assert_int_equal(ln_layernorm_with(taken, problem, &tensors), LN_OK);
    assert_memory_equal(own_y, y, bytes);
    tensors.gamma = NULL;
    assert_int_equal(ln_layernorm(problem, &tensors), LN_ERROR_ARGUMENT);
}

/* A call whose problem differs from the thread's last one in one member is checked, and its kernel chosen, again. */
TEST(no_call_is_taken_for_the_last)
{
    ln_problem first = problem_of((types){LN_F32, LN_F32}, 4, 768, convention_number(24));
    ln_problem others[12];
    size_t count = 0;
    store((types){LN_F32, LN_F32}, LARGEST);
    first.convention.eps_place = LN_EPS_VAR;
    first.convention.eps = 1e-5;
    for (; count < sizeof others / sizeof *others; count++)
        others[count] = first;
    others[0].rows = 1;
    others[1].rows = ROWS;
    others[2].hidden = 16;
    others[3].x_stride = 1000;
    others[4].accuracy = LN_ACCURACY_ACCURATE;
    others[5].accuracy = LN_ACCURACY_EXACT;
    others[6].convention.eps = 3;
    others[7].convention.ddof ^= 1;
    others[8].hidden = 0; /* from here on all are invalid */
    others[9].convention.eps = -1;
    others[10].convention.affine = (ln_affine)9;
    others[11].y_stride = 1;
    for (size_t i = 0; i < count; i++) {
        check_call_by_name(&first);
        ln_tensors tensors = {.x = x, .gamma = gammas, .beta = betas, .y = y};
        if (i < 8)
            check_call_by_name(&others[i]);
        else
            assert_int_equal(ln_layernorm(&others[i], &tensors), LN_ERROR_ARGUMENT);
    }
    check_call_by_name(&others[1]);
    assert_int_equal(ln_set_cache_bytes(1, 2, 3), LN_OK); /* now all calls are in memory */
    check_call_by_name(&others[1]);
    assert_int_equal(ln_set_cache_bytes(0, 0, 0), LN_OK);
}

static ln_bound larger(ln_bound a, ln_bound b)
{
    return (ln_bound){fmax(a.xhat_abs, b.xhat_abs), fmax(a.affine_rel, b.affine_rel)};
}

static bool is_equal(ln_bound a, ln_bound b)
{
    return a.xhat_abs == b.xhat_abs && a.affine_rel == b.affine_rel;
}

/* A bound is the largest of those of the kernels that are used for few rows and for as many as fit into each cache or
 * are in memory; it does not depend on the number of rows of its problem. */
TEST(bounds_are_the_kernels)
{
    static const size_t rows[] = {1, 4, 40, 1000, 100000};
    enum { NUMBERS = sizeof rows / sizeof *rows };
    const ln_plugin_table *plugin = ln_plugin();
    const ln_row_facts facts = {1, 1, 2, 1, 2, 1};
    assert_int_equal(ln_set_cache_bytes(1 << 16, 1 << 20, 1 << 25), LN_OK);
    for (size_t i = count_lines(plugin); i < count_layernorm(plugin); i++) {
        const ln_kernel *call = &plugin->kernels[i];
        ln_problem problem = problem_of(types_of(call), 512, 768, convention_number(24));
        ln_bound largest = {0, 0}, probable = {0, 0};
        if (call->supports(&problem))
            continue;
        for (size_t n = 0; n < NUMBERS; n++) {
            problem.rows = rows[n];
            problem.accuracy = class_of(call);
            const char *taken = ln_layernorm_kernel_name(&problem);
            size_t k = 0;
            while (strcmp(plugin->kernels[k].name, taken) != 0)
                k++;
            largest = larger(largest, plugin->kernels[k].bound(&problem, &facts));
            probable = larger(probable, plugin->kernels[k].probable_bound(&problem, &facts, 1e-9));
        }
        for (size_t n = 0; n < NUMBERS; n++) {
            problem.rows = rows[n];
            assert_true(is_equal(call->bound(&problem, &facts), largest));
            assert_true(is_equal(call->probable_bound(&problem, &facts, 1e-9), probable));
        }
        /* A call with a name needs a single kernel, not a class. */
        problem.rows = 0;
        assert_int_equal(ln_layernorm_with(ln_layernorm_kernel(call->name), &problem, NULL),
                         LN_ERROR_UNSUPPORTED);
    }
    assert_int_equal(ln_set_cache_bytes(0, 0, 0), LN_OK);
}

/* If a class has no kernel for these types, the call gives the reason, and nothing is prepared. */
TEST(missing_classes_are_said)
{
    const ln_plugin_table *plugin = ln_plugin();
    for (size_t i = count_lines(plugin); i < count_layernorm(plugin); i++) {
        const ln_kernel *call = &plugin->kernels[i];
        ln_problem problem = problem_of(types_of(call), 2, 8, convention_number(0));
        problem.accuracy = class_of(call);
        const char *reason = call->supports(&problem);
        assert_int_equal(reason != NULL, ln_layernorm_kernel_name(&problem) == NULL);
    }
}

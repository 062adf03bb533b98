/* Tests that parallel calls give the bits of calls on one thread for any number of rows and threads, and that unloading
 * the library ends its threads. */
#include "tests.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fenv.h>
#include <stdio.h>

/* Rows so long that each may have a thread of its own. */
enum { ROWS = 7, LONG = 16384, STRIDE = LONG + 3, SIZE = ROWS * STRIDE };

typedef struct output {
    float y[SIZE], sum[SIZE];
    double mean[ROWS], rstd[ROWS]; /* or floats */
} output;

static float x[SIZE], residual[SIZE], gamma_values[LONG], beta_values[LONG];
static output alone, together;

static void fill_floats(numbers *draws, float *to, size_t count, double mean)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (float)(mean + numbers_normal(draws));
}

static void fill(void)
{
    numbers draws = {5};
    fill_floats(&draws, x, SIZE, 3);
    fill_floats(&draws, residual, SIZE, 0);
    fill_floats(&draws, gamma_values, LONG, 1);
    fill_floats(&draws, beta_values, LONG, 0);
}

static ln_tensors tensors_into(output *result, int with_residual)
{
    memset(result, 0x55, sizeof *result);
    return (ln_tensors){.x = x,
                        .residual = with_residual ? residual : NULL,
                        .gamma = gamma_values,
                        .beta = beta_values,
                        .y = result->y,
                        .sum = with_residual ? result->sum : NULL,
                        .mean = result->mean,
                        .rstd = result->rstd};
}

static ln_problem strided(size_t rows)
{
    ln_problem problem = problem_of((types){LN_F32, LN_F32}, rows, LONG, convention_number(24));
    problem.x_stride = problem.y_stride = STRIDE;
    return problem;
}

static void compare(const ln_problem *problem, int with_residual)
{
    ln_tensors one = tensors_into(&alone, with_residual);
    assert_int_equal(ln_layernorm(problem, &one), LN_OK);
    for (unsigned threads = 1; threads <= 5; threads++) {
        ln_tensors many = tensors_into(&together, with_residual);
        assert_int_equal(ln_set_threads(threads), LN_OK);
        assert_int_equal(ln_layernorm_parallel(problem, &many), LN_OK);
        assert_memory_equal(&alone, &together, sizeof alone);
    }
}

TEST(bits_do_not_depend_on_threads)
{
    fill();
    for (size_t rows = 0; rows <= ROWS; rows++)
        for (int with_residual = 0; with_residual < 2; with_residual++) {
            ln_problem problem = strided(rows);
            compare(&problem, with_residual);
        }
}

TEST(every_class_works)
{
    fill();
    for (int class = LN_ACCURACY_FAST; class <= LN_ACCURACY_REPRODUCIBLE; class ++) {
        ln_problem problem = strided(ROWS);
        problem.accuracy = (ln_accuracy) class;
        assert_non_null(ln_layernorm_kernel_name(&problem));
        ln_type sums = ln_layernorm_accumulator(&problem);
        assert_true(sums == LN_F32 || sums == LN_F64);
        compare(&problem, 0);
    }
}

/* Tests a sample of kernels by name on many short rows. */
TEST(named_kernels_too)
{
    const ln_kernel *kernel;
    fill();
    for (size_t k = 0; (kernel = kernel_number(k)); k++) {
        ln_problem problem = problem_of(types_of(kernel), SIZE / 100, 100, convention_number(24));
        ln_tensors one = tensors_into(&alone, 0), many = tensors_into(&together, 0);
        one.mean = one.rstd = many.mean = many.rstd = NULL;
        if (!is_sampled(k, 0, 4) || kernel->storage != LN_F32 || kernel->param != LN_F32)
            continue;
        assert_int_equal(ln_set_threads(3), LN_OK);
        assert_int_equal(ln_layernorm_with(kernel, &problem, &one), LN_OK);
        assert_int_equal(ln_layernorm_parallel_with(kernel, &problem, &many), LN_OK);
        assert_memory_equal(alone.y, together.y, sizeof alone.y);
    }
}

/* Threads that were created before must use the caller's rounding mode, or bits would depend on the thread of a row. */
TEST(rounding_is_the_callers)
{
    fill();
    ln_problem problem = strided(ROWS);
    assert_int_equal(ln_set_threads(3), LN_OK);
    fesetround(FE_UPWARD);
    ln_tensors one = tensors_into(&alone, 0), many = tensors_into(&together, 0);
    ln_status first = ln_layernorm(&problem, &one);
    ln_status second = ln_layernorm_parallel(&problem, &many);
    fesetround(FE_TONEAREST);
    assert_true(first == LN_OK && second == LN_OK);
    assert_memory_equal(&alone, &together, sizeof alone);
}

TEST(errors_are_those_of_one_thread)
{
    ln_problem problem = strided(ROWS);
    ln_tensors tensors = tensors_into(&together, 0);
    tensors.gamma = NULL;
    assert_int_equal(ln_layernorm_parallel(&problem, &tensors), LN_ERROR_ARGUMENT);
    assert_int_equal(ln_layernorm_parallel(NULL, &tensors), LN_ERROR_ARGUMENT);
    tensors.gamma = gamma_values;
    assert_int_equal(ln_layernorm_parallel_with(ln_layernorm_kernel("nobody"), &problem, &tensors),
                     LN_ERROR_UNSUPPORTED);
    problem.accuracy = (ln_accuracy)(LN_ACCURACY_EXACT + 1);
    assert_int_equal(ln_layernorm_parallel(&problem, &tensors), LN_ERROR_ARGUMENT);
    assert_null(ln_layernorm_kernel_name(&problem));
    assert_int_equal(ln_layernorm_accumulator(&problem), LN_F64);
    assert_int_equal(ln_set_threads(LN_THREADS_MAX + 1), LN_ERROR_ARGUMENT);
    assert_string_equal(ln_status_string(LN_ERROR_THREADS),
                        "the system has no more threads, or no memory for them");
}

#if defined(__linux__) && !defined(LN_EMULATED) && !defined(__SANITIZE_ADDRESS__)
static int count_threads(void)
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    for (const struct dirent *entry; (entry = readdir(tasks));)
        count += entry->d_name[0] != '.';
    closedir(tasks);
    return count;
}
#endif

TEST(unloading_ends_the_threads)
{
#if defined(__SANITIZE_ADDRESS__)
    printf("skipped: AddressSanitizer can't be loaded a second time\n");
#elif defined(__linux__) && !defined(LN_EMULATED)
    fill();
    ln_problem problem = strided(ROWS);
    assert_int_equal(ln_set_threads(1), LN_OK);
    int before = count_threads();
    for (int i = 0; i < 5; i++) {
        void *library = dlmopen(LM_ID_NEWLM, LN_LIBRARY, RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            printf("skipped: no second copy of the library: %s\n", dlerror());
            return;
        }
        ln_status (*resize)(unsigned);
        ln_status (*run)(const ln_problem *, const ln_tensors *);
        *(void **)&resize = dlsym(library, "ln_set_threads");
        *(void **)&run = dlsym(library, "ln_layernorm_parallel");
        assert_true(resize && run);
        ln_tensors tensors = tensors_into(&together, 0);
        assert_int_equal(resize(4), LN_OK);
        assert_int_equal(run(&problem, &tensors), LN_OK);
        assert_int_equal(count_threads(), before + 3);
        dlclose(library);
        assert_int_equal(count_threads(), before);
    }
#else
    printf("skipped: needs Linux's /proc and a loader of its own\n");
#endif
}

/* Tests one peer: its description, its supported conventions, its answers for all placements of the tensors, and that
 * set_threads() sets the number of its threads. Without a plugin it tests the texts of versions.
 *     peer_test [PLUGIN.so] */
#include "../peer.h"
#include "tests.h"
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>

enum { ROWS = 3, MOST_HIDDEN = 768, GAP = 8, POISON = 0xff };

static const ln_plugin_table *plugin;

static bool is_taken(const ln_convention *convention)
{
    bool needs_eps = strcmp(plugin->name, "zendnn") == 0;
    return convention->ddof == 0 &&
           (convention->eps_place == LN_EPS_VAR ||
            (convention->eps_place == LN_EPS_NONE && !needs_eps)) &&
           convention->affine != LN_AFFINE_SCALAR && convention->affine != LN_AFFINE_GAMMA1;
}

/* oneDNN has 16-bit types on x86-64 only with AVX-512 (its documentation, "Data Types"); 3.x has some of them
 * on newer CPUs with AVX2. */
static bool cpu_may_lack(const ln_kernel *kernel)
{
#if defined(__x86_64__)
    return strcmp(plugin->name, "onednn") == 0 && kernel->storage != LN_F32 &&
           !__builtin_cpu_supports("avx512bw");
#else
    (void)kernel;
    return false;
#endif
}

/* Returns whether the peer has this kernel on this CPU. */
static bool is_here(const ln_kernel *kernel)
{
    const ln_problem problem = problem_of(types_of(kernel), ROWS, 64,
                                          (ln_convention){.eps_place = LN_EPS_VAR, .eps = 1e-5});
    const char *reason = kernel->supports(&problem);
    return !reason || !cpu_may_lack(kernel) ||
           !strstr(reason, "has no implementation of it for this CPU");
}

static size_t count_here(void)
{
    size_t count = 0;
    for (size_t i = 0; i < plugin->count; i++)
        count += is_here(&plugin->kernels[i]);
    return count;
}

/* ---- its description ---- */

static void describes_itself(void **state)
{
    (void)state;
    assert_int_equal(plugin->abi_version, LN_PLUGIN_ABI);
    assert_true(plugin->version && plugin->version[0]);
    if (strcmp(plugin->name, "libxsmm") != 0) /* it has no threads */
        assert_non_null(plugin->set_threads);
    for (size_t i = 0; i < plugin->count; i++) {
        const ln_kernel *kernel = &plugin->kernels[i];
        assert_int_equal(strncmp(kernel->name, plugin->name, strlen(plugin->name)), 0);
        assert_string_equal(kernel->statistics, plugin->name);
        assert_true(kernel->traits & LN_TRAIT_NO_RESIDUAL);
        assert_null(kernel->bound);
        if (!is_here(kernel))
            print_message("%s is left out: not for this CPU\n", kernel->name);
    }
}

static void takes_what_the_library_can(void **state)
{
    (void)state;
    for (size_t i = 0; i < plugin->count; i++)
        for (size_t number = 0; is_here(&plugin->kernels[i]) && number < CONVENTIONS; number++) {
            const ln_kernel *kernel = &plugin->kernels[i];
            const ln_problem problem =
                problem_of(types_of(kernel), ROWS, 64, convention_number(number));
            const char *reason = kernel->supports(&problem);
            if (is_taken(&problem.convention) != (reason == NULL) || (reason && !reason[0]))
                fail_msg("%s, convention %zu: '%s'", kernel->name, number, reason ? reason : "yes");
        }
}

/* ---- its results ---- */

/* Rows with room for gaps, and parameters; `values` are the numbers in `elements`. */
typedef struct guarded_tensor {
    double values[ROWS * (MOST_HIDDEN + GAP)];
    _Alignas(64) char elements[(ROWS * (MOST_HIDDEN + GAP) + 1) * LARGEST_ELEMENT];
} guarded_tensor;

typedef struct peer_scene {
    const ln_kernel *kernel;
    ln_problem problem;
    guarded_tensor x, gamma, beta;
    _Alignas(64) char y[(ROWS * (MOST_HIDDEN + GAP) + 1) * LARGEST_ELEMENT];
    double mean[ROWS], rstd[ROWS]; /* room for any accumulator */
    ln_tensors tensors;
} peer_scene;

static void fill(guarded_tensor *tensor, ln_type type, size_t count, double mean, double scale,
                 size_t offset, numbers *draws)
{
    for (size_t i = 0; i < count; i++)
        tensor->values[i] = mean + scale * numbers_normal(draws);
    elements_store(type, tensor->elements + offset * element_size(type), tensor->values, count);
}

typedef enum tensor_layout { DENSE, MISALIGNED, STRIDED, IN_PLACE, LAYOUTS } tensor_layout;

/* Makes rows with a variance near 1e-4, so that eps matters. Returns false if the kernel does not accept the layout. */
static bool set(peer_scene *scene, const ln_kernel *kernel, size_t hidden, ln_convention convention,
                tensor_layout layout)
{
    numbers draws = {hidden};
    size_t stride = hidden + (layout == STRIDED ? GAP : 0), offset = layout == MISALIGNED;
    size_t at = offset * element_size(kernel->storage);
    scene->kernel = kernel;
    scene->problem = problem_of(types_of(kernel), ROWS, hidden, convention);
    scene->problem.x_stride = scene->problem.y_stride = stride;
    if (kernel->supports(&scene->problem))
        return false;
    fill(&scene->x, kernel->storage, ROWS * stride, 0.02, 0.01, offset, &draws);
    fill(&scene->gamma, kernel->param, hidden, 1, 0.1, 0, &draws);
    fill(&scene->beta, kernel->param, hidden, 0, 0.1, 0, &draws);
    memset(scene->y, POISON, sizeof scene->y);
    memset(scene->mean, POISON, sizeof scene->mean);
    memset(scene->rstd, POISON, sizeof scene->rstd);
    scene->tensors = (ln_tensors){
        .x = scene->x.elements + at,
        .gamma = scene->gamma.elements,
        .beta = scene->beta.elements,
        .y = layout == IN_PLACE ? scene->x.elements : scene->y + at,
        .mean = scene->mean,
        .rstd = scene->rstd,
    };
    return true;
}

static int run(const ln_kernel *kernel, const ln_problem *problem, const ln_tensors *tensors)
{
    void *state = (void *)(uintptr_t)problem;
    if (kernel->prepare && kernel->prepare(problem, &state) != 0)
        return 1;
    kernel->run(state, tensors);
    if (kernel->release)
        kernel->release(state);
    return 0;
}

/* The error of a sum of N terms, in any order and with any updates, is at most a few N roundings of the sum of their
 * sizes (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., 4.2): four N here, since an update of
 * Welford's has three roundings. In 16 bits the factors of x and gamma are rounded to the storage type as well. */
static ln_bound class_bound(const peer_scene *scene, const oracle *answer)
{
    format sums = element_format(scene->kernel->accumulator);
    format storage = element_format(scene->kernel->storage);
    double size = answer->facts.mean_abs * answer->facts.rstd + answer->max_xhat;
    double of_sums = 4 * (double)scene->problem.hidden * ldexp(1, -sums.bits);
    double of_factors = 4 * ldexp(1, -storage.bits);
    return (ln_bound){.xhat_abs = (of_sums + of_factors) * size, .affine_rel = of_factors};
}

static double statistic(const peer_scene *scene, const double *statistics, size_t row, double right)
{
    const char *at = (const char *)statistics + row * element_size(scene->kernel->accumulator);
    double given = element_get(scene->kernel->accumulator, at, 0);
    return isnan(given) ? 0 : fabs(given - right);
}

static void check_row(const peer_scene *scene, size_t row)
{
    size_t hidden = scene->problem.hidden, stride = scene->problem.x_stride;
    const double *x = scene->x.values + row * stride;
    static exact_number exact[MOST_HIDDEN];
    oracle answer;
    oracle_row(&scene->problem.convention, hidden, x, scene->gamma.values, scene->beta.values,
               exact, &answer);
    ln_bound bound = class_bound(scene, &answer);
    const claim made = {&scene->problem.convention,
                        scene->kernel->storage,
                        hidden,
                        scene->gamma.values,
                        scene->beta.values,
                        exact,
                        &answer,
                        bound};
    const char *y = scene->tensors.y;
    size_t breach =
        claim_first_breach(&made, y + row * stride * element_size(scene->kernel->storage));
    if (breach < hidden)
        fail_msg("%s, hidden %zu, stride %zu: row %zu, element %zu is wrong", scene->kernel->name,
                 hidden, stride, row, breach);
    assert_true(statistic(scene, scene->mean, row, answer.facts.mean) <=
                bound.xhat_abs / answer.facts.rstd);
    assert_true(statistic(scene, scene->rstd, row, answer.facts.rstd) <=
                bound.xhat_abs * answer.facts.rstd);
}

static void check_gaps(const peer_scene *scene)
{
    size_t size = element_size(scene->kernel->storage), hidden = scene->problem.hidden;
    const unsigned char *y = scene->tensors.y;
    for (size_t row = 0; row + 1 < ROWS; row++)
        for (size_t i = hidden * size; i < scene->problem.y_stride * size; i++)
            assert_int_equal(y[row * scene->problem.y_stride * size + i], POISON);
}

static void is_right(void **state)
{
    static const size_t sizes[] = {1, 5, 16, 100, 768};
    static peer_scene scene;
    size_t checked = 0;
    (void)state;
    for (size_t i = 0; i < plugin->count * CONVENTIONS * LAYOUTS; i++) {
        const ln_kernel *kernel = &plugin->kernels[i / (CONVENTIONS * LAYOUTS)];
        ln_convention convention = convention_number(i / LAYOUTS % CONVENTIONS);
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            if ((sizes[s] == 1 && convention.eps == 0) || /* 0 / 0 */
                !set(&scene, kernel, sizes[s], convention, (tensor_layout)(i % LAYOUTS)))
                continue;
            assert_int_equal(run(kernel, &scene.problem, &scene.tensors), 0);
            for (size_t row = 0; row < ROWS; row++)
                check_row(&scene, row);
            if (i % LAYOUTS == STRIDED)
                check_gaps(&scene);
            checked++;
        }
    }
    size_t taken = 0;
    for (size_t number = 0; number < CONVENTIONS; number++) {
        ln_convention convention = convention_number(number);
        taken += is_taken(&convention);
    }
    /* Dense, misaligned and in place. */
    assert_true(checked >= count_here() * 3 * taken * (sizeof sizes / sizeof *sizes - 1));
    print_message("%zu calls checked\n", checked);
}

/* ---- threads ---- */

static size_t count_tasks(void)
{
    size_t count = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    for (const struct dirent *entry; (entry = readdir(tasks));)
        count += entry->d_name[0] != '.';
    closedir(tasks);
    return count;
}

enum { MANY_ROWS = 256, HIDDEN = 256 };

/* Runs the kernel on so many threads, and returns the number of threads of the process. */
static size_t run_on(const ln_kernel *kernel, unsigned threads, char *y, const char *x)
{
    const ln_problem problem = problem_of(types_of(kernel), MANY_ROWS, HIDDEN,
                                          (ln_convention){.eps_place = LN_EPS_VAR, .eps = 1e-5});
    const ln_tensors tensors = {.x = x, .y = y};
    assert_int_equal(plugin->set_threads(threads), 0);
    assert_int_equal(run(kernel, &problem, &tensors), 0);
    return count_tasks();
}

/* Returns whether `more` new threads are right: OpenMP creates threads when they are first needed and keeps them.
 * PyTorch has a second pool of the same size for work other than its loops. */
static bool are_threads(size_t more, unsigned threads)
{
    return more == threads - 1 || more == 2 * (threads - 1);
}

static void sets_threads(void **state)
{
    static char x[MANY_ROWS * HIDDEN * LARGEST_ELEMENT], y[2][sizeof x];
    static double values[MANY_ROWS * HIDDEN];
    numbers draws = {1};
    size_t before = count_tasks();
    (void)state;
    if (!plugin->set_threads)
        skip();
    for (size_t i = 0; i < MANY_ROWS * HIDDEN; i++)
        values[i] = numbers_normal(&draws);
    for (unsigned threads = 1; threads <= 3; threads++)
        for (size_t i = 0; i < plugin->count; i++) {
            const ln_kernel *kernel = &plugin->kernels[i];
            if (!is_here(kernel))
                continue;
            elements_store(kernel->storage, x, values, MANY_ROWS * HIDDEN);
            size_t bytes = MANY_ROWS * HIDDEN * element_size(kernel->storage);
            assert_true(are_threads(run_on(kernel, threads, y[0], x) - before, threads));
            run_on(kernel, 1, y[1], x);
            assert_memory_equal(y[0], y[1], bytes);
        }
}

/* ---- versions ---- */

static const char *version_of(int major, int minor)
{
    static const peer_release releases[] = {{2, 1, 2021}, {2, 6, 2022}, {3, 1, 2023}, {3, 14, 0}};
    static char text[32];
    peer_version(text, sizeof text, "A", major, minor, 7, releases);
    return text;
}

static void dates_versions(void **state)
{
    (void)state;
    assert_string_equal(version_of(2, 0), "A 2.0.7"); /* older than all known versions */
    assert_string_equal(version_of(2, 1), "A 2.1.7 (2021)");
    assert_string_equal(version_of(2, 5), "A 2.5.7 (2021)");
    assert_string_equal(version_of(3, 0), "A 3.0.7 (2022)");
    assert_string_equal(version_of(3, 13), "A 3.13.7 (2023)");
    assert_string_equal(version_of(3, 14), "A 3.14.7"); /* newer */
    assert_string_equal(version_of(4, 0), "A 4.0.7");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(describes_itself),
        cmocka_unit_test(takes_what_the_library_can),
        cmocka_unit_test(is_right),
        cmocka_unit_test(sets_threads),
    };
    const struct CMUnitTest versions[] = {cmocka_unit_test(dates_versions)};
    if (argc == 1)
        return cmocka_run_group_tests_name("versions", versions, NULL, NULL);
    void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    const ln_plugin_table *(*entry)(void) = NULL;
    if (library)
        *(void **)&entry = dlsym(library, LN_PLUGIN_SYMBOL);
    if (!entry || !(plugin = entry()) || (plugin->set_threads && plugin->set_threads(1) != 0)) {
        const char *why = argc == 2 ? dlerror() : NULL;
        fprintf(stderr, "usage: peer_test [PLUGIN.so]%s%s\n", why ? ": " : "", why ? why : "");
        return 2;
    }
    return cmocka_run_group_tests_name(plugin->name, tests, NULL, NULL);
}

/* Compares every kernel of RMSNorm with the formulas of rmsnorm.h in about 113 bits, under all conventions and at sizes
 * near the powers of two: each element is within the kernel's proven bound. The calls check their arguments. */
#include "rmsnorm.h"
#include "tests.h"

#ifdef LN_EMULATED
enum { LARGEST = 260, ROWS = 3 };
#else
enum { LARGEST = 4100, ROWS = 3 };
#endif
enum { STRIDE = LARGEST + 5, RMS_CONVENTIONS = 48 };

OPERAND(x, ROWS *STRIDE);
OPERAND(gammas, LARGEST);
static _Alignas(64) unsigned char y[ROWS * STRIDE * LARGEST_ELEMENT];
OPERAND(residuals, ROWS *STRIDE);
static _Alignas(64) unsigned char sums[ROWS * STRIDE * LARGEST_ELEMENT];

static ln_convention rms_number(size_t number)
{
    static const ln_eps_place places[] = {LN_EPS_VAR, LN_EPS_STD, LN_EPS_NONE};
    ln_convention convention = {.operation = LN_OPERATION_RMSNORM, .eps_place = places[number % 3]};
    convention.weight = (ln_rms_weight)(number / 3 % 4);
    convention.root = number / 12 % 2;
    convention.cast = number / 24 % 2;
    convention.eps = convention.eps_place == LN_EPS_NONE ? 0 : 1e-2;
    return convention;
}

static quad root_of(quad value)
{
    quad root = sqrtl((long double)value);
    return root > 0 ? (root + value / root) / 2 : 0;
}

typedef struct truth {
    ln_row_facts facts;
    quad root;
    double max_xhat;
} truth;

static truth truth_of(const ln_problem *problem, const double *row)
{
    truth found = {{0}, 0, 0};
    quad square = 0;
    for (size_t i = 0; i < problem->hidden; i++) {
        square += (quad)row[i] * row[i];
        found.facts.mean_abs += fabs(row[i]) / (double)problem->hidden;
        found.facts.max_abs = fmax(found.facts.max_abs, fabs(row[i]));
    }
    square /= problem->hidden;
    double eps = problem->convention.eps;
    bool on_root = problem->convention.eps_place == LN_EPS_STD;
    found.root = on_root ? root_of(square) + (quad)eps : root_of(square + (quad)eps);
    if (problem->convention.root)
        found.root = element_rounded(problem->storage, (double)found.root);
    found.facts.var = (double)square;
    found.facts.max_dev = found.facts.max_abs;
    found.facts.rstd = (double)(1 / found.root);
    found.max_xhat = (double)(found.facts.max_abs / found.root);
    return found;
}

static double weight_of(const ln_problem *problem, size_t i)
{
    double w = gammas_values[i];
    ln_rms_weight form = problem->convention.weight;
    return form == LN_RMS_WEIGHT_NONE     ? 1
           : form == LN_RMS_WEIGHT        ? w
           : form == LN_RMS_WEIGHT_OFFSET ? 1 + w
                                          : element_rounded(problem->param, 1 + w);
}

/* Counts for 16-bit storage with f64 sums: a missing rounding is smaller than the bound, but changes many elements. */
static struct {
    size_t all, equal;
} right;

/* Compares the error of an element with the bound. */
static void check_element(const ln_kernel *kernel, const ln_problem *problem, const truth *row,
                          const ln_bound *bound, double value, size_t i, double got)
{
    double weight = weight_of(problem, i);
    quad xhat = value / row->root;
    if (problem->convention.cast && problem->convention.weight != LN_RMS_WEIGHT_NONE)
        xhat = element_rounded(problem->storage, (double)xhat);
    format kind = element_format(problem->storage);
    double allowed = fabs(weight) * (bound->xhat_abs + bound->affine_rel * row->max_xhat) +
                     ldexp(2, kind.least - kind.bits + 1);
    right.all += kernel->accumulator == LN_F64 && element_format(problem->storage).bits < 24;
    right.equal += kernel->accumulator == LN_F64 && element_format(problem->storage).bits < 24 &&
                   got == element_rounded(problem->storage, (double)(xhat * weight));
    double off = fabs((double)(got - xhat * weight));
    if (!(off <= allowed * (1 + 1e-9)))
        fail_msg(
            "%s, hidden %zu, weight %d root %d cast %d, element %zu: %g where %g is right, off "
            "by %g, allowed %g",
            kernel->name, problem->hidden, (int)problem->convention.weight,
            problem->convention.root, problem->convention.cast, i, got, (double)(xhat * weight),
            off, allowed);
}

static void fill(numbers *draws, const ln_problem *problem)
{
    fill_normal(draws, x_values, ROWS * STRIDE, 0.5, 1.5);
    fill_normal(draws, residuals_values, ROWS * STRIDE, 0, 0.5);
    fill_normal(draws, gammas_values, LARGEST, 0.1, 0.5);
    elements_store(problem->storage, x, x_values, ROWS * STRIDE);
    elements_store(problem->storage, residuals, residuals_values, ROWS * STRIDE);
    elements_store(problem->param, gammas, gammas_values, LARGEST);
}

/* Runs a kernel. Calls of the library are prepared first. */
static void run_kernel(const ln_kernel *kernel, const ln_problem *problem,
                       const ln_tensors *tensors)
{
    void *state = NULL;
    if (kernel->prepare)
        assert_int_equal(kernel->prepare(problem, &state), 0);
    kernel->run(state ? state : problem, tensors);
    if (state)
        kernel->release(state);
}

/* Checks one call. form: in place, with a residual, or neither. */
static void check_call(const ln_kernel *kernel, const ln_problem *problem, unsigned form)
{
    bool in_place = form == 1, adds = form == 2;
    statistics_room rrms[ROWS];
    size_t stride = problem->x_stride, bytes = ROWS * stride * element_size(problem->storage);
    if (in_place)
        memcpy(y, x, bytes);
    const ln_tensors tensors = {.x = in_place ? y : x,
                                .residual = adds ? residuals : NULL,
                                .gamma = gammas,
                                .y = y,
                                .sum = adds ? sums : NULL,
                                .rstd = rrms};
    run_kernel(kernel, problem, &tensors);
    for (size_t r = 0; r < ROWS; r++) {
        double row[LARGEST];
        for (size_t i = 0; i < problem->hidden; i++) {
            double sum = x_values[r * stride + i];
            if (adds)
                sum = element_rounded(problem->storage, sum + residuals_values[r * stride + i]);
            row[i] = sum;
            if (adds)
                assert_true(element_get(problem->storage, sums, r * stride + i) == sum);
        }
        truth found = truth_of(problem, row);
        if (found.root == 0) /* 0 / 0 */
            continue;
        ln_bound bound = kernel->bound(problem, &found.facts);
        if (!isfinite(bound.xhat_abs))
            fail_msg("%s, hidden %zu, rstd %g: no bound", kernel->name, problem->hidden,
                     found.facts.rstd);
        if (strcmp(kernel->name, "library_accurate_rms_f32") == 0 && !problem->convention.root &&
            !problem->convention.cast) /* 2 row ULP, as promised, evaluated as in accurate_test.c */
            assert_true(bound.xhat_abs / found.max_xhat + bound.affine_rel <=
                        0x1p-23 * (1 + 0x1p-14));
        double given = kernel->accumulator == LN_F64 ? rrms[0].f64 : (double)rrms[0].f32;
        if (r == 0)
            assert_true(fabs(given / found.facts.rstd - 1) <
                        (problem->convention.root ? 0x1p-7 : 1e-5));
        for (size_t i = 0; i < problem->hidden; i++)
            check_element(kernel, problem, &found, &bound, row[i], i,
                          element_get(problem->storage, y, r * stride + i));
    }
}

TEST(kernels_stay_within_their_bounds)
{
    const ln_plugin_table *plugin = ln_plugin();
    static const size_t sizes[] = {1,  2,  3,  7,   15,  16,  17,  31,  33,   63,   64,   65,
                                   96, 97, 99, 127, 129, 255, 257, 768, 1025, 2049, 4096, 4097};
    numbers draws = {1};
    for (size_t k = 0; k < plugin->count; k++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes && sizes[s] <= LARGEST; s++)
            for (size_t c = 0; c < RMS_CONVENTIONS; c++) {
                const ln_kernel *kernel = &plugin->kernels[k];
                size_t stride = c % 2 ? sizes[s] + 5 : sizes[s];
                const ln_problem problem = {.rows = ROWS,
                                            .hidden = sizes[s],
                                            .x_stride = stride,
                                            .y_stride = stride,
                                            .residual_stride = stride,
                                            .sum_stride = stride,
                                            .storage = kernel->storage,
                                            .param = kernel->param,
                                            .convention = rms_number(c)};
                if (kernel->supports(&problem) || !is_sampled(k, s + c, sizes[s] < 300 ? 12 : 48))
                    continue;
                fill(&draws, &problem);
                check_call(kernel, &problem, (unsigned)((c + s) % 3));
            }
    assert_true(right.all > 1000 && right.equal >= right.all - right.all / 500);
}

/* An infinity gives NaN and makes the other elements 0; a NaN makes all NaN, and so does 0 / 0. */
TEST(special_rows)
{
    const ln_plugin_table *plugin = ln_plugin();
    enum { N = 70 };
    for (size_t k = 0; k < plugin->count; k++)
        for (int what = 0; what < 3; what++) {
            const ln_kernel *kernel = &plugin->kernels[k];
            const ln_problem problem = {
                .rows = 1,
                .hidden = N,
                .x_stride = N,
                .y_stride = N,
                .storage = kernel->storage,
                .param = kernel->param,
                .convention = {.operation = LN_OPERATION_RMSNORM, .weight = LN_RMS_WEIGHT}};
            if (kernel->supports(&problem))
                continue;
            for (size_t i = 0; i < N; i++) {
                x_values[i] = what == 2 ? 0 : (double)i + 1;
                gammas_values[i] = 2;
            }
            x_values[N / 2] = what == 0 ? INFINITY : what == 1 ? NAN : 0;
            elements_store(problem.storage, x, x_values, N);
            elements_store(problem.param, gammas, gammas_values, N);
            run_kernel(kernel, &problem, &(ln_tensors){.x = x, .gamma = gammas, .y = y});
            for (size_t i = 0; i < N; i++) {
                double got = element_get(problem.storage, y, i);
                assert_true(what == 0 && i != N / 2 ? got == 0 : isnan(got));
            }
        }
}

/* The class `reproducible` chooses among these kernels by the CPU and by the alignment of rows. */
TEST(tiled_sums_have_the_same_bits_on_every_isa)
{
    static unsigned char first[sizeof y];
    const ln_plugin_table *plugin = ln_plugin();
    numbers draws = {23};
    for (size_t i = 0; i < TYPE_PAIRS * 96; i++) {
        ln_problem problem = problem_of(type_pairs[i / 96], ROWS, 1 + i % 96 * 2, rms_number(i));
        size_t found = 0;
        fill_normal(&draws, x_values, ROWS * problem.hidden, 3, 1e3);
        fill_normal(&draws, gammas_values, problem.hidden, 1, 1);
        elements_store(problem.storage, x, x_values, ROWS * problem.hidden);
        elements_store(problem.param, gammas, gammas_values, problem.hidden);
        for (size_t k = 0; k < plugin->count; k++) {
            const ln_kernel *kernel = &plugin->kernels[k];
            if (strcmp(kernel->statistics, "rms_tiled") != 0 || kernel->supports(&problem))
                continue;
            memset(y, 0, sizeof y);
            run_kernel(kernel, &problem, &(ln_tensors){.x = x, .gamma = gammas, .y = y});
            if (found++ == 0)
                memcpy(first, y, sizeof y);
            if (memcmp(first, y, sizeof y) != 0)
                fail_msg("%s gives other bits at hidden %zu", kernel->name, problem.hidden);
        }
    }
}

/* Sums in double hold the squares of every bf16 number and the reciprocal of every root, which f32 sums do not. Tests
 * sizes near the limits of f32 sums and far beyond them. With an eps below the numbers of f32 a row of zeros gives
 * 0. */
TEST(rows_of_bf16_of_any_size)
{
    static const double scales[] = {0x1p-133, 0x1p-64, 0x1.6p-47, 0x1p-46, 0x1p58,
                                    0x1.6p58, 0x1p62,  0x1p64,    0x1p125};
    const ln_plugin_table *plugin = ln_plugin();
    enum { N = 70 };
    for (size_t k = 0; k < plugin->count; k++) {
        const ln_kernel *kernel = &plugin->kernels[k];
        ln_problem problem = {
            .rows = ROWS,
            .hidden = N,
            .x_stride = N,
            .y_stride = N,
            .storage = kernel->storage,
            .param = kernel->param,
            .convention = {.operation = LN_OPERATION_RMSNORM, .weight = LN_RMS_WEIGHT}};
        if (kernel->storage != LN_BF16 || kernel->accumulator != LN_F64 ||
            kernel->supports(&problem))
            continue;
        fill(&(numbers){1}, &problem);
        for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
            for (size_t i = 0; i < ROWS * N; i++)
                x_values[i] = ((double)(i % 7) - 3) * scales[s];
            elements_store(problem.storage, x, x_values, ROWS * N);
            check_call(kernel, &problem, 0);
        }
        memset(x, 0, sizeof(uint16_t) * ROWS * N);
        problem.convention.eps_place = LN_EPS_VAR;
        problem.convention.eps = 1e-300;
        run_kernel(kernel, &problem, &(ln_tensors){.x = x, .gamma = gammas, .y = y});
        for (size_t i = 0; i < ROWS * N; i++)
            assert_true(element_get(problem.storage, y, i) == 0);
    }
}

/* The class's kernels on all available ISAs have the bits of the first, scalar one, for each pair of types. */
TEST(reproducible_kernels_have_the_same_bits_everywhere)
{
    static const size_t sizes[] = {1, 7, 63, 64, 65, 100, 250, 1000};
    static const size_t storage_bytes[] = {4, 8, 2, 2};
    const ln_plugin_table *plugin = ln_plugin();
    size_t compared = 0;
    for (size_t k = 0; k < plugin->count; k++) {
        const ln_kernel *kernel = &plugin->kernels[k];
        ln_problem problem = {.rows = 1,
                              .storage = kernel->storage,
                              .param = kernel->param,
                              .convention = {.operation = LN_OPERATION_RMSNORM,
                                             .cast = k % 2,
                                             .root = k % 3 == 0,
                                             .eps_place = LN_EPS_VAR,
                                             .eps = 1e-5,
                                             .weight = LN_RMS_WEIGHT_OFFSET},
                              .accuracy = LN_ACCURACY_REPRODUCIBLE};
        if (!(kernel->traits & LN_TRAIT_ISA_REPRODUCIBLE) || strcmp(kernel->isa, "scalar") != 0)
            continue;
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes && sizes[s] <= LARGEST; s++) {
            ln_tensors tensors = {.x = x, .gamma = gammas, .y = y};
            size_t bytes = sizes[s] * storage_bytes[kernel->storage];
            problem.hidden = sizes[s];
            if (kernel->supports(&problem)) /* the exact one */
                continue;
            fill(&(numbers){3}, &problem);
            kernel->run(&problem, &tensors);
            memcpy(sums, y, bytes);
            for (size_t other = 0; other < plugin->count; other++)
                if (strcmp(plugin->kernels[other].statistics, kernel->statistics) == 0 &&
                    plugin->kernels[other].storage == kernel->storage &&
                    plugin->kernels[other].param == kernel->param &&
                    !plugin->kernels[other].supports(&problem)) {
                    memset(y, 0, bytes);
                    plugin->kernels[other].run(&problem, &tensors);
                    assert_memory_equal(sums, y, bytes);
                    compared++;
                }
            memset(y, 0, bytes);
            assert_int_equal(ln_rmsnorm(&problem, &tensors), LN_OK);
            assert_memory_equal(sums, y, bytes);
        }
    }
    assert_true(compared >= 6 * sizeof sizes / sizeof *sizes);
}

TEST(calls_are_checked_and_take_a_kernel)
{
    ln_problem problem = {.rows = 2,
                          .hidden = 40,
                          .convention = {.operation = LN_OPERATION_RMSNORM,
                                         .eps_place = LN_EPS_VAR,
                                         .eps = 1e-5,
                                         .weight = LN_RMS_WEIGHT}};
    ln_tensors tensors = {.x = x, .gamma = gammas, .y = y};
    ln_problem bad = problem;
    fill(&(numbers){3}, &problem);
    assert_int_equal(ln_rmsnorm(&problem, &tensors), LN_OK);
    memcpy(sums, y, 80 * sizeof(float));
    assert_int_equal(ln_rmsnorm_parallel(&problem, &tensors), LN_OK);
    assert_memory_equal(sums, y, 80 * sizeof(float));
    const ln_kernel *taken = ln_rmsnorm_kernel(ln_rmsnorm_kernel_name(&problem));
    assert_int_equal(ln_rmsnorm_with(taken, &problem, &tensors), LN_OK);
    assert_null(ln_rmsnorm_kernel("none"));
    assert_int_equal(ln_rmsnorm_with(NULL, &problem, &tensors), LN_ERROR_UNSUPPORTED);
    const ln_kernel *layernorm = ln_layernorm_kernel("two_pass_f32_scalar");
    assert_int_equal(ln_rmsnorm_with(layernorm, &problem, &tensors), LN_ERROR_UNSUPPORTED);
    bad.convention = (ln_convention){.eps_place = LN_EPS_VAR, .eps = 1e-5};
    assert_int_equal(ln_layernorm_with(layernorm, &bad, &tensors), LN_OK);
    assert_int_equal(ln_layernorm_with(taken, &bad, &tensors), LN_ERROR_UNSUPPORTED);
    assert_int_equal(ln_rmsnorm_accumulator(&problem), LN_F32);
    bad = problem, bad.convention.eps_place = LN_EPS_QUOTIENT;
    assert_int_equal(ln_rmsnorm(&bad, &tensors), LN_ERROR_ARGUMENT);
    bad = problem, bad.convention.cast = 2;
    assert_int_equal(ln_rmsnorm(&bad, &tensors), LN_ERROR_ARGUMENT);
    bad = problem, bad.convention.ddof = 1; /* a field of LayerNorm's */
    assert_int_equal(ln_rmsnorm(&bad, &tensors), LN_ERROR_ARGUMENT);
    bad = problem, bad.convention.operation = LN_OPERATION_LAYERNORM;
    assert_int_equal(ln_rmsnorm(&bad, &tensors), LN_ERROR_ARGUMENT);
    assert_int_equal(ln_layernorm(&problem, &tensors), LN_ERROR_ARGUMENT);
    assert_null(ln_layernorm_kernel_name(&problem));
    bad = problem, bad.hidden = 0;
    assert_int_equal(ln_rmsnorm(&bad, &tensors), LN_ERROR_ARGUMENT);
    bad = problem, bad.x_stride = 39;
    assert_int_equal(ln_rmsnorm(&bad, &tensors), LN_ERROR_ARGUMENT);
    assert_int_equal(ln_rmsnorm(&problem, &(ln_tensors){.x = x, .y = y}), LN_ERROR_ARGUMENT);
    bad = problem, bad.accuracy = LN_ACCURACY_EXACT;
    assert_int_equal(ln_rmsnorm(&bad, &tensors), LN_OK);
    bad.convention.cast = 1;
    assert_int_equal(ln_rmsnorm(&bad, &tensors), LN_ERROR_UNSUPPORTED);
    bad = problem, bad.storage = LN_BF16, bad.convention.sum = LN_RMS_SUM_UNROUNDED;
    assert_int_equal(ln_rmsnorm(&bad, &tensors), LN_ERROR_UNSUPPORTED);
}

int main(void)
{
    return test_run(NULL, NULL);
}

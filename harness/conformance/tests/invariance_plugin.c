/* The bits of each kernel depend on one property of the call, although all but the first promise that they do not. */
#include "layernorm_plugin.h"
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* There are two builds, for comparisons. With INVARIANCE_KEPT no bit depends on the number of threads. */
#ifdef INVARIANCE_KEPT
enum { THREADS_COUNT = false };
#else
enum { THREADS_COUNT = true };
#endif

static unsigned threads_now = 1;

static float *output_of(const ln_problem *problem, const ln_tensors *tensors, size_t row)
{
    size_t stride = problem->y_stride ? problem->y_stride : problem->hidden;
    return (float *)tensors->y + row * stride;
}

/* Computes y; if `moved`, the first element of every row becomes the next larger float. */
static void run_moved(const void *state, const ln_tensors *tensors, bool moved)
{
    const ln_problem *problem = state;
    ln_layernorm_with(ln_layernorm_kernel("two_pass_f32_scalar"), problem, tensors);
    for (size_t row = 0; moved && row < problem->rows; row++) {
        float *y = output_of(problem, tensors, row);
        *y = nextafterf(*y, INFINITY);
    }
}

static void on_nothing(const void *state, const ln_tensors *tensors)
{
    run_moved(state, tensors, false);
}

static void on_call(const void *state, const ln_tensors *tensors)
{
    static unsigned calls;
    run_moved(state, tensors, ++calls % 2 == 0);
}

static void on_rows(const void *state, const ln_tensors *tensors)
{
    const ln_problem *problem = state;
    run_moved(state, tensors, problem->rows == 255);
}

static void on_threads(const void *state, const ln_tensors *tensors)
{
    run_moved(state, tensors, THREADS_COUNT && threads_now == 3);
}

static void on_alignment(const void *state, const ln_tensors *tensors)
{
    run_moved(state, tensors, (uintptr_t)tensors->x % 64 == 16);
}

static void on_stride(const void *state, const ln_tensors *tensors)
{
    const ln_problem *problem = state;
    run_moved(state, tensors, problem->x_stride != problem->hidden);
}

static void on_isa(const void *state, const ln_tensors *tensors)
{
    run_moved(state, tensors, true);
}

#define KERNEL(kernel_name, function, family, kernel_isa, promise)                                 \
    .name = "on_" kernel_name, .statistics = family, .isa = kernel_isa, .run = function,           \
    .traits = promise

static const ln_kernel kernels[] = {
    {KERNEL("nothing", on_nothing, "", "scalar", 0)},
    {KERNEL("call", on_call, "", "scalar", LN_TRAIT_ROW_REPRODUCIBLE)},
    {KERNEL("rows", on_rows, "", "scalar", LN_TRAIT_ROW_REPRODUCIBLE)},
    {KERNEL("threads", on_threads, "", "scalar", LN_TRAIT_ROW_REPRODUCIBLE)},
    {KERNEL("alignment", on_alignment, "", "scalar", LN_TRAIT_ROW_REPRODUCIBLE)},
    {KERNEL("stride", on_stride, "", "scalar", LN_TRAIT_ROW_REPRODUCIBLE)},
    {KERNEL("isa.one", on_nothing, "varied", "scalar", LN_TRAIT_ISA_REPRODUCIBLE)},
    {KERNEL("isa.two", on_isa, "varied", "any", LN_TRAIT_ROW_REPRODUCIBLE)},
    {KERNEL("same.one", on_nothing, "even", "scalar", LN_TRAIT_ISA_REPRODUCIBLE)},
    {KERNEL("same.two", on_nothing, "even", "any", LN_TRAIT_ISA_REPRODUCIBLE)},
};

/* The plugin has threads of its own, so that lnbench does not divide the rows. */
static int set_threads(unsigned threads)
{
    threads_now = threads;
    return 0;
}

static const ln_plugin_table plugin = {.abi_version = LN_PLUGIN_ABI,
                                       .struct_size = sizeof(ln_plugin_table),
                                       .kernel_size = sizeof(ln_kernel),
                                       .name = "invariance",
                                       .count = sizeof kernels / sizeof *kernels,
                                       .kernels = kernels,
                                       .set_threads = set_threads};

LN_API const ln_plugin_table *ln_plugin(void)
{
    return &plugin;
}

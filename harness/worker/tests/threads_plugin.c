/* A plugin whose kernel is right on the first thread of the process and wrong on every other one. OWN_THREADS selects
 * the plugin's declaration. 0: none; 1: it has threads of its own; 2: it has one thread only; 3: none, but here the
 * kernel is right and uses OpenMP's threads. */
#include "layernorm_plugin.h"
#include <math.h>
#include <unistd.h>

static void run(const void *state, const ln_tensors *tensors)
{
    const ln_problem *problem = state;
#if OWN_THREADS == 3
#pragma omp parallel
#pragma omp single
#endif
    ln_layernorm_with(ln_layernorm_kernel("two_pass_f32_scalar"), problem, tensors);
    if (OWN_THREADS < 3 && gettid() != getpid() && problem->rows > 0)
        ((float *)tensors->y)[problem->hidden / 2] += 1;
}

static ln_bound no_claim(const ln_problem *problem, const ln_row_facts *facts)
{
    (void)problem, (void)facts;
    return (ln_bound){INFINITY, 0};
}

static const ln_kernel kernels[] = {{
    .name = OWN_THREADS == 3   ? "openmp"
            : OWN_THREADS == 0 ? "old.first_thread_only"
            : OWN_THREADS == 1 ? "own.first_thread_only"
                               : "one.first_thread_only",
    .isa = "scalar",
    .run = run,
    .bound = no_claim,
}};

static int set_threads(unsigned threads)
{
    return OWN_THREADS == 2 && threads > 1;
}

static const ln_plugin_table plugin = {
    .abi_version = LN_PLUGIN_ABI,
    .name = "threads",
    .count = 1,
    .kernels = kernels,
    .struct_size = sizeof(ln_plugin_table),
    .kernel_size = sizeof(ln_kernel),
    .set_threads = OWN_THREADS % 3 > 0 ? set_threads : NULL,
};

LN_API const ln_plugin_table *ln_plugin(void)
{
    return &plugin;
}

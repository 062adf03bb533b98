/* Kernels of y = x gamma: a right one, and wrong ones. */
#include "layernorm_plugin.h"

enum { TOY = 2 }; /* its line of domain/operations.def */

typedef float element(float x, float gamma, size_t i, size_t hidden);

static void each(const ln_problem *problem, const ln_tensors *tensors, element *of)
{
    const float *gamma = tensors->gamma;
    for (size_t row = 0; row < problem->rows; row++)
        for (size_t i = 0; i < problem->hidden; i++)
            ((float *)tensors->y)[row * problem->y_stride + i] =
                of(((const float *)tensors->x)[row * problem->x_stride + i], gamma[i], i,
                   problem->hidden);
}

static float product(float x, float gamma, size_t i, size_t hidden)
{
    (void)i;
    (void)hidden;
    return x * gamma;
}

static float sum(float x, float gamma, size_t i, size_t hidden)
{
    (void)i;
    (void)hidden;
    return x + gamma;
}

static float last_off(float x, float gamma, size_t i, size_t hidden)
{
    return i + 1 == hidden ? x * gamma * (1 + 0x1p-18F) : x * gamma;
}

static float not_written(float x, float gamma, size_t i, size_t hidden)
{
    (void)hidden;
    return i == 3 ? __builtin_nanf("") : x * gamma;
}

#define KERNEL(name)                                                                               \
    static void run_##name(const void *state, const ln_tensors *tensors)                           \
    {                                                                                              \
        each(state, tensors, name);                                                                \
    }
KERNEL(product)
KERNEL(sum)
KERNEL(last_off)
KERNEL(not_written)

static void run_overrun(const void *state, const ln_tensors *tensors)
{
    const ln_problem *problem = state;
    each(problem, tensors, product);
    ((float *)tensors->y)[(problem->rows - 1) * problem->y_stride + problem->hidden] = 1;
}

static void run_writes_gamma(const void *state, const ln_tensors *tensors)
{
    each(state, tensors, product);
    *(float *)tensors->gamma = 1;
}

#define ENTRY(kernel)                                                                              \
    {                                                                                              \
        .operation = (ln_operation)TOY, .name = "toy." #kernel, .statistics = "", .apply = "",     \
        .schedule = "", .isa = "scalar", .run = run_##kernel                                       \
    }
static const ln_kernel kernels[] = {ENTRY(product),     ENTRY(sum),     ENTRY(last_off),
                                    ENTRY(not_written), ENTRY(overrun), ENTRY(writes_gamma)};

LN_API const ln_plugin_table *ln_plugin(void)
{
    static const ln_plugin_table plugin = {.abi_version = LN_PLUGIN_ABI,
                                           .struct_size = sizeof plugin,
                                           .kernel_size = sizeof(ln_kernel),
                                           .name = "toy",
                                           .count = sizeof kernels / sizeof *kernels,
                                           .kernels = kernels};
    return &plugin;
}

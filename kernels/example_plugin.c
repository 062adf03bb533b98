/* A complete plugin: a simple LayerNorm in plain C.
 *
 *     cc -shared -fPIC -O2 -I kernels/include kernels/example_plugin.c -o example_plugin.so -lm
 *     lnbench run --plugin ./example_plugin.so --kernels example
 *
 * It supports the most common conventions and gives a reason for refusing others. */
#include <layernorm_plugin.h>

#include <math.h>

static size_t stride_of(size_t stride, size_t hidden)
{
    return stride ? stride : hidden;
}

static void normalise_row(const ln_problem *problem, const ln_tensors *tensors, size_t row)
{
    size_t hidden = problem->hidden;
    const float *x = (const float *)tensors->x + row * stride_of(problem->x_stride, hidden);
    float *y = (float *)tensors->y + row * stride_of(problem->y_stride, hidden);
    const float *gamma = tensors->gamma, *beta = tensors->beta;

    float sum = 0, squares = 0;
    for (size_t i = 0; i < hidden; i++)
        sum += x[i];
    float mean = sum / (float)hidden;
    for (size_t i = 0; i < hidden; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    float var = squares / (float)hidden;
    float rstd = 1 / sqrtf(var + (float)problem->convention.eps);
    for (size_t i = 0; i < hidden; i++)
        y[i] = (x[i] - mean) * rstd * gamma[i] + beta[i];
    if (tensors->mean)
        ((float *)tensors->mean)[row] = mean;
    if (tensors->rstd)
        ((float *)tensors->rstd)[row] = rstd;
}

/* There is no prepare(), so the state is the problem itself. */
static void run(const void *state, const ln_tensors *tensors)
{
    const ln_problem *problem = state;
    for (size_t row = 0; row < problem->rows; row++)
        normalise_row(problem, tensors, row);
}

static const char *supports(const ln_problem *problem)
{
    const ln_convention *convention = &problem->convention;
    if (convention->ddof != 0 || convention->eps_place != LN_EPS_VAR)
        return "only ddof 0 with eps in the variance";
    if (convention->affine != LN_AFFINE_VECTOR)
        return "only vector gamma and beta";
    return NULL;
}

static const ln_kernel kernels[] = {{
    .operation = LN_OPERATION_LAYERNORM,
    .name = "example",
    .statistics = "two_pass",
    .apply = "direct",
    .schedule = "plain",
    .isa = "scalar",
    .storage = LN_F32,
    .param = LN_F32,
    .accumulator = LN_F32,
    .unroll = 1,
    .traits = LN_TRAIT_NO_RESIDUAL,
    .supports = supports,
    .run = run,
}};

static const ln_plugin_table plugin = {
    .abi_version = LN_PLUGIN_ABI,
    .struct_size = sizeof(ln_plugin_table),
    .kernel_size = sizeof(ln_kernel),
    .name = "example",
    .count = sizeof(kernels) / sizeof(kernels[0]),
    .kernels = kernels,
};

const ln_plugin_table *ln_plugin(void)
{
    return &plugin;
}

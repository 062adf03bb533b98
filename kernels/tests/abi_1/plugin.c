/* A plugin as it was built at commit 224f8dd, the types of whose two headers lie beside it: lnbench
 * must load and judge it for as long as there is ABI 1. It reads every field of a problem and of the
 * tensors, and fills in every field of its descriptors. */
#include "layernorm_plugin.h"

#include "layout.h"
#include <math.h>
#include <stdlib.h>

typedef struct frozen_state {
    const ln_problem *problem;
    double divisor;
} frozen_state;

static int prepare(const ln_problem *problem, void **state)
{
    frozen_state *made = malloc(sizeof *made);
    if (!made)
        return 1;
    *made = (frozen_state){problem, (double)problem->hidden - problem->convention.ddof};
    *state = made;
    return 0;
}

static void normalise_row(const frozen_state *state, const ln_tensors *tensors, size_t row)
{
    const ln_problem *problem = state->problem;
    const ln_convention *convention = &problem->convention;
    const float *x = (const float *)tensors->x + row * problem->x_stride;
    const float *residual = tensors->residual;
    const float *gamma = tensors->gamma, *beta = tensors->beta;
    float *y = (float *)tensors->y + row * problem->y_stride;
    double mean = 0, squares = 0;
    for (size_t i = 0; i < problem->hidden; i++) {
        y[i] = residual ? x[i] + residual[row * problem->residual_stride + i] : x[i];
        if (tensors->sum)
            ((float *)tensors->sum)[row * problem->sum_stride + i] = y[i];
        mean += (double)y[i];
    }
    mean /= (double)problem->hidden;
    for (size_t i = 0; i < problem->hidden; i++)
        squares += ((double)y[i] - mean) * ((double)y[i] - mean);
    double var = squares / state->divisor;
    double rstd = convention->eps_place == LN_EPS_VAR ? 1 / sqrt(var + convention->eps)
                                                      : 1 / (sqrt(var) + convention->eps);
    for (size_t i = 0; i < problem->hidden; i++) {
        double xhat = ((double)y[i] - mean) * rstd;
        y[i] = (float)(xhat * (gamma ? (double)gamma[i] : 1) + (beta ? (double)beta[i] : 0));
    }
    if (tensors->mean)
        ((double *)tensors->mean)[row] = mean;
    if (tensors->rstd)
        ((double *)tensors->rstd)[row] = rstd;
}

static void run(const void *state, const ln_tensors *tensors)
{
    const frozen_state *frozen = state;
    for (size_t row = 0; row < frozen->problem->rows; row++)
        normalise_row(frozen, tensors, row);
}

static const char *supports(const ln_problem *problem)
{
    const ln_convention *convention = &problem->convention;
    return convention->eps_place != LN_EPS_VAR && convention->eps_place != LN_EPS_STD
               ? "only eps in the variance or on the std"
           : convention->affine == LN_AFFINE_SCALAR || convention->affine == LN_AFFINE_GAMMA1
               ? "only vectors"
               : NULL;
}

/* Two f64 sums of `hidden` terms, and one rounding to f32. */
static ln_bound bound(const ln_problem *problem, const ln_row_facts *facts)
{
    double terms = (double)problem->hidden * 0x1p-48;
    double apart = facts->rstd * (facts->max_abs + facts->mean_abs + fabs(facts->mean)) +
                   sqrt(facts->var) * facts->rstd;
    return (ln_bound){terms * (1 + apart) * (1 + facts->max_dev * facts->rstd), 0x1p-23};
}

static ln_bound probable_bound(const ln_problem *problem, const ln_row_facts *facts, double chance)
{
    (void)chance;
    return bound(problem, facts);
}

static int set_threads(unsigned threads)
{
    return threads > 1;
}

static const ln_kernel kernels[] = {{
    .struct_size = sizeof(ln_kernel),
    .name = "frozen",
    .statistics = "two_pass",
    .apply = "direct",
    .schedule = "plain",
    .isa = "scalar",
    .storage = LN_F32,
    .param = LN_F32,
    .accumulator = LN_F64,
    .unroll = 3,
    .traits = LN_TRAIT_NOT_IN_PLACE | LN_TRAIT_ROW_REPRODUCIBLE,
    .supports = supports,
    .prepare = prepare,
    .release = free,
    .run = run,
    .bound = bound,
}};

static const ln_kernel_facts facts[] = {{
    .role = "tuned",
    .family = "two_pass",
    .summation = "turn",
    .probable_bound = probable_bound,
}};

static const ln_plugin plugin = {
    .abi_version = LN_PLUGIN_ABI,
    .struct_size = sizeof(ln_plugin),
    .name = "frozen",
    .count = 1,
    .kernels = kernels,
    .set_threads = set_threads,
    .version = "224f8dd",
    .facts_size = sizeof(ln_kernel_facts),
    .facts = facts,
};

const ln_plugin *ln_plugin_v1(void)
{
    return &plugin;
}

/* Shows a library's LayerNorm to lnbench. Of yours put in: the header, the call, what it supports.
 *     cc -shared -fPIC -O2 -I lnbench/kernels/include -I . -o side.so adapter.c norm.c -lm */
#include "norm.h"
#include <layernorm_plugin.h>

static void run(const void *state, const ln_tensors *t)
{
    const ln_problem *p = state;
    layer_norm(t->y, t->x, t->gamma, t->beta, p->rows, p->hidden, (float)p->convention.eps);
}

static const char *supports(const ln_problem *p)
{
    const ln_convention *c = &p->convention;
    int torch = c->ddof == 0 && c->eps_place == LN_EPS_VAR && c->affine == LN_AFFINE_VECTOR;
    int dense = (p->x_stride == 0 || p->x_stride == p->hidden) &&
                (p->y_stride == 0 || p->y_stride == p->hidden);
    return torch && dense ? NULL : "only dense rows under PyTorch's convention";
}

static const ln_kernel kernels[] = {{.operation = LN_OPERATION_LAYERNORM,
                                     .name = "layer_norm",
                                     .isa = "any",
                                     .storage = LN_F32,
                                     .param = LN_F32,
                                     .accumulator = LN_F32,
                                     .traits = LN_TRAIT_NO_RESIDUAL,
                                     .supports = supports,
                                     .run = run}};
static const ln_plugin_table plugin = {.abi_version = LN_PLUGIN_ABI,
                                       .struct_size = sizeof(ln_plugin_table),
                                       .kernel_size = sizeof(ln_kernel),
                                       .name = "mylib",
                                       .count = 1,
                                       .kernels = kernels};

LN_API const ln_plugin_table *ln_plugin(void)
{
    return &plugin;
}

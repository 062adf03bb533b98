// A kernel in C++: two passes in double, for f32 rows under PyTorch's convention.
//     g++ -std=c++17 -shared -fPIC -O2 -I kernels/include -o kernel.so docs/recipes/kernel.cpp
//     ./lnbench run --plugin ./kernel.so --kernels cpp_two_pass
#include <cmath>
#include <layernorm_plugin.h>
#include <numeric>

namespace
{

void run(const void *state, const ln_tensors *t)
{
    const auto &p = *static_cast<const ln_problem *>(state);
    const auto *gamma = static_cast<const float *>(t->gamma),
               *beta = static_cast<const float *>(t->beta);
    for (size_t row = 0; row < p.rows; row++) {
        const float *x =
            static_cast<const float *>(t->x) + row * (p.x_stride ? p.x_stride : p.hidden);
        float *y = static_cast<float *>(t->y) + row * (p.y_stride ? p.y_stride : p.hidden);
        const double n = static_cast<double>(p.hidden),
                     mean = std::accumulate(x, x + p.hidden, 0.0) / n;
        const double squares = std::accumulate(x, x + p.hidden, 0.0, [=](double sum, double v) {
            return sum + (v - mean) * (v - mean);
        });
        const double rstd = 1 / std::sqrt(squares / n + p.convention.eps);
        for (size_t i = 0; i < p.hidden; i++)
            y[i] = static_cast<float>((x[i] - mean) * rstd * gamma[i] + beta[i]);
        if (t->mean)
            static_cast<double *>(t->mean)[row] = mean;
        if (t->rstd)
            static_cast<double *>(t->rstd)[row] = rstd;
    }
}

const char *supports(const ln_problem *p)
{
    const ln_convention &c = p->convention;
    const bool torch = c.ddof == 0 && c.eps_place == LN_EPS_VAR && c.affine == LN_AFFINE_VECTOR;
    return torch ? nullptr : "only PyTorch's convention";
}

ln_kernel kernel()
{
    ln_kernel made{};
    made.operation = LN_OPERATION_LAYERNORM;
    made.name = "cpp_two_pass";
    made.isa = "scalar";
    made.storage = made.param = LN_F32;
    made.accumulator = LN_F64;
    made.traits = LN_TRAIT_NO_RESIDUAL;
    made.supports = supports;
    made.run = run;
    return made;
}

} // namespace

extern "C" LN_API const ln_plugin_table *ln_plugin()
{
    static const ln_kernel kernels[] = {kernel()};
    static ln_plugin_table plugin{};
    plugin.abi_version = LN_PLUGIN_ABI;
    plugin.struct_size = sizeof plugin;
    plugin.kernel_size = sizeof(ln_kernel);
    plugin.name = "cpp";
    plugin.count = 1;
    plugin.kernels = kernels;
    return &plugin;
}

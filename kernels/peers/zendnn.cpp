/* ZenDNN's layer normalization as a plugin, by its C++ API (6, which has normalization_direct()).
 *
 * zendnn_f32, zendnn_bf16_param_f32: what is timed is zendnnl::lowoha::normalization::
 * normalization_direct(), which keeps nothing between calls.
 *
 * With AVX-512 its sum and sum of squares are one pass over the row in f32, and the variance is
 * E[x^2] - mean^2, at least 0. It gives neither mean nor rstd.
 */
#include "peer.h"

#include <lowoha_operators/normalization/lowoha_normalization.hpp>
#include <new>
#include <zendnnl_version.hpp>

namespace
{

namespace zen = zendnnl::lowoha::normalization;
using zendnnl::common::data_type_t;

unsigned wanted_threads = 1;

const char *supports(const ln_problem *problem)
{
    const char *reason = peer_refuses_convention(&problem->convention);
    if (reason)
        return reason;
    if (!(static_cast<float>(problem->convention.eps) > 0))
        return "its eps is positive in f32";
    return peer_is_dense(problem) ? nullptr : "its rows lie one behind the other";
}

int prepare(const ln_problem *problem, void **state)
{
    auto *call = new (std::nothrow) zen::norm_params;
    if (!call)
        return 1;
    call->norm_type = zen::norm_type_t::LAYER_NORM;
    call->batch = problem->rows;
    call->norm_size = problem->hidden;
    call->epsilon = static_cast<float>(problem->convention.eps);
    call->use_scale = peer_has_gamma(problem);
    call->use_shift = peer_has_beta(problem);
    call->src_dt = problem->storage == LN_BF16 ? data_type_t::bf16 : data_type_t::f32;
    call->dst_dt = call->src_dt;
    call->num_threads = static_cast<int32_t>(wanted_threads);
    *state = call;
    return 0;
}

void release(void *state)
{
    delete static_cast<zen::norm_params *>(state);
}

// What fails leaves y as it was, which the judge sees.
void run(const void *state, const ln_tensors *tensors)
{
    try {
        zen::normalization_direct(tensors->x, tensors->y, tensors->gamma, tensors->beta, nullptr,
                                  nullptr, nullptr,
                                  *static_cast<zen::norm_params *>(const_cast<void *>(state)));
    } catch (...) {
    }
}

int set_threads(unsigned threads)
{
    wanted_threads = threads;
    return 0;
}

ln_kernel describe(const char *name, ln_type storage)
{
    ln_kernel kernel = {};
    kernel.struct_size = sizeof kernel;
    kernel.name = name;
    kernel.statistics = "zendnn";
    kernel.apply = kernel.schedule = "";
    kernel.isa = "any";
    kernel.storage = storage;
    kernel.param = kernel.accumulator = LN_F32;
    kernel.traits = LN_TRAIT_NO_RESIDUAL;
    kernel.supports = supports;
    kernel.prepare = prepare;
    kernel.release = release;
    kernel.run = run;
    return kernel;
}

} // namespace

extern "C" const ln_plugin *ln_plugin_v1(void)
{
    static const peer_release releases[] = {{6, 0, 2026}, {6, 1, 0}};
    static const ln_kernel kernels[] = {describe("zendnn_f32", LN_F32),
                                        describe("zendnn_bf16_param_f32", LN_BF16)};
    static char version[64];
    static ln_plugin plugin = {};
    peer_version(version, sizeof version, "ZenDNN", ZENDNNL_VERSION_MAJOR, ZENDNNL_VERSION_MINOR,
                 ZENDNNL_VERSION_PATCH, releases);
    plugin.abi_version = LN_PLUGIN_ABI;
    plugin.struct_size = sizeof plugin;
    plugin.name = "zendnn";
    plugin.count = sizeof kernels / sizeof *kernels;
    plugin.kernels = kernels;
    plugin.set_threads = set_threads;
    plugin.version = version;
    return &plugin;
}

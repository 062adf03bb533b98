/* ZenDNN's layer normalization and RMSNorm as a plugin, by its C++ API (6, which has
 * normalization_direct()).
 *
 * zendnn_f32, zendnn_rms_f32, ...: the timed code is zendnnl::lowoha::normalization::
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

const char *refuses(double eps, bool is_dense)
{
    if (!(static_cast<float>(eps) > 0))
        return "its eps is positive in f32";
    return is_dense ? nullptr : "its rows lie one behind the other";
}

const char *supports(const ln_problem *problem)
{
    const char *reason = peer_refuses_convention(&problem->convention);
    return reason ? reason : refuses(problem->convention.eps, peer_is_dense(problem));
}

const char *rms_supports(const ln_problem *problem)
{
    const char *reason = peer_refuses_rms(&problem->convention);
    return reason ? reason : refuses(problem->convention.eps, peer_is_dense(problem));
}

// Sets the parameters that the calls of both operations have.
zen::norm_params *begin(const ln_problem *problem, zen::norm_type_t type)
{
    auto *call = new (std::nothrow) zen::norm_params;
    if (!call)
        return nullptr;
    call->norm_type = type;
    call->batch = problem->rows;
    call->norm_size = problem->hidden;
    call->epsilon = static_cast<float>(problem->convention.eps);
    call->src_dt = problem->storage == LN_BF16 ? data_type_t::bf16 : data_type_t::f32;
    call->dst_dt = call->src_dt;
    call->gamma_dt = problem->param == LN_BF16 ? data_type_t::bf16 : data_type_t::f32;
    call->num_threads = static_cast<int32_t>(wanted_threads);
    return call;
}

int prepare(const ln_problem *problem, void **state)
{
    zen::norm_params *call = begin(problem, zen::norm_type_t::LAYER_NORM);
    if (!call)
        return 1;
    call->use_scale = peer_has_gamma(problem);
    call->use_shift = peer_has_beta(problem);
    *state = call;
    return 0;
}

int rms_prepare(const ln_problem *problem, void **state)
{
    zen::norm_params *call = begin(problem, zen::norm_type_t::RMS_NORM);
    if (!call)
        return 1;
    call->use_scale = problem->convention.weight == LN_RMS_WEIGHT;
    *state = call;
    return 0;
}

void release(void *state)
{
    delete static_cast<zen::norm_params *>(state);
}

// A failure leaves y unchanged, which the judge detects.
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
    kernel.name = name;
    kernel.statistics = "zendnn";
    kernel.apply = kernel.schedule = "";
    kernel.isa = "any";
    kernel.storage = storage;
    kernel.param = kernel.accumulator = LN_F32;
    kernel.traits = LN_TRAIT_NO_RESIDUAL;
    kernel.release = release;
    kernel.run = run;
    return kernel;
}

ln_kernel layernorm(const char *name, ln_type storage)
{
    ln_kernel kernel = describe(name, storage);
    kernel.supports = supports;
    kernel.prepare = prepare;
    return kernel;
}

ln_kernel rmsnorm(const char *name, ln_type storage, ln_type param)
{
    ln_kernel kernel = describe(name, storage);
    kernel.operation = LN_OPERATION_RMSNORM;
    kernel.param = param;
    kernel.supports = rms_supports;
    kernel.prepare = rms_prepare;
    return kernel;
}

} // namespace

extern "C" const ln_plugin_table *ln_plugin(void)
{
    static const peer_release releases[] = {{6, 0, 2026}, {6, 1, 0}};
    static const ln_kernel kernels[] = {
        layernorm("zendnn_f32", LN_F32), layernorm("zendnn_bf16_param_f32", LN_BF16),
        rmsnorm("zendnn_rms_f32", LN_F32, LN_F32), rmsnorm("zendnn_rms_bf16", LN_BF16, LN_BF16),
        rmsnorm("zendnn_rms_bf16_param_f32", LN_BF16, LN_F32)};
    static char version[64];
    static ln_plugin_table table = {};
    peer_version(version, sizeof version, "ZenDNN", ZENDNNL_VERSION_MAJOR, ZENDNNL_VERSION_MINOR,
                 ZENDNNL_VERSION_PATCH, releases);
    table.abi_version = LN_PLUGIN_ABI;
    table.struct_size = sizeof table;
    table.kernel_size = sizeof(ln_kernel);
    table.name = "zendnn";
    table.count = sizeof kernels / sizeof *kernels;
    table.kernels = kernels;
    table.set_threads = set_threads;
    table.version = version;
    return &table;
}

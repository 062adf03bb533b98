/* PyTorch's layer normalization as a plugin.
 *
 * pytorch_f32, pytorch_f64, pytorch_bf16: the timed code is the public call, at::native_layer_norm(), in inference
 * mode. It allocates its output; here its allocator returns y, so that neither new pages nor a copy are timed (if y's
 * rows are not dense, the output is copied).
 *
 * pytorch_out_f32, ...: the timed code is the kernel below that call, into tensors that prepare() made, without
 * dispatch and allocation.
 *
 * Mean and variance are computed in one pass: Welford's and Chan's formulas over chunks of the row, combined in a
 * cascade. gamma and beta have the type of the rows. This file lists the kernels; torch.cpp implements them, and is
 * loaded, with PyTorch, when a kernel is first prepared. */
#include "late.h"
#include "peer.h"

static const late_peer *peer;
static unsigned wanted_threads = 1;

static int load(void)
{
    if (!peer && (peer = late_peer_open("libpytorch_peer.so")))
        peer->set_threads(wanted_threads);
    return peer != NULL;
}

static int set_threads(unsigned threads)
{
    wanted_threads = threads;
    return peer ? peer->set_threads(threads) : 0;
}

static int prepare_layernorm(const ln_problem *problem, void **state)
{
    return load() ? peer->prepare(problem, state) : 1;
}

static void release(void *state)
{
    peer->release(state);
}

static void run_call(const void *state, const ln_tensors *tensors)
{
    peer->run_call(state, tensors);
}

static const char *supports_call(const ln_problem *problem)
{
    return peer_refuses_convention(&problem->convention);
}

#define PYTORCH(name_, storage_, accumulator_)                                                     \
    .name = name_, .statistics = "pytorch", .apply = "", .schedule = "", .isa = "any",             \
    .storage = storage_, .param = storage_, .accumulator = accumulator_,                           \
    .traits = LN_TRAIT_NO_RESIDUAL, .prepare = prepare_layernorm, .release = release

#define PYTORCH_CALL(name_, storage_, accumulator_)                                                \
    {                                                                                              \
        PYTORCH(name_, storage_, accumulator_), .supports = supports_call, .run = run_call         \
    }

#if LN_TORCH_HAS_KERNEL
static void run_out(const void *state, const ln_tensors *tensors)
{
    peer->run_out(state, tensors);
}

static const char *supports_out(const ln_problem *problem)
{
    const char *reason = peer_refuses_convention(&problem->convention);
    return reason || peer_is_dense(problem) ? reason : "its rows lie one behind the other";
}

#define PYTORCH_OUT(name_, storage_, accumulator_)                                                 \
    {                                                                                              \
        PYTORCH(name_, storage_, accumulator_), .supports = supports_out, .run = run_out           \
    }
#endif

static const ln_kernel kernels[] = {
    PYTORCH_CALL("pytorch_f32", LN_F32, LN_F32),
    PYTORCH_CALL("pytorch_f64", LN_F64, LN_F64),
    PYTORCH_CALL("pytorch_bf16", LN_BF16, LN_F32),
#if LN_TORCH_HAS_KERNEL
    PYTORCH_OUT("pytorch_out_f32", LN_F32, LN_F32),
    PYTORCH_OUT("pytorch_out_f64", LN_F64, LN_F64),
    PYTORCH_OUT("pytorch_out_bf16", LN_BF16, LN_F32),
#endif
};

static char version[64];

static const ln_plugin_table plugin = {
    .abi_version = LN_PLUGIN_ABI,
    .struct_size = sizeof(ln_plugin_table),
    .kernel_size = sizeof(ln_kernel),
    .name = "pytorch",
    .count = sizeof kernels / sizeof *kernels,
    .kernels = kernels,
    .set_threads = set_threads,
    .version = version,
};

const ln_plugin_table *ln_plugin(void)
{
    static const peer_release releases[] = {{1, 8, 2021}, {1, 11, 2022}, {2, 0, 2023}, {2, 2, 2024},
                                            {2, 6, 2025}, {2, 10, 2026}, {2, 14, 0}};
    peer_version(version, sizeof version, "PyTorch", LN_TORCH_MAJOR, LN_TORCH_MINOR, LN_TORCH_PATCH,
                 releases);
    return &plugin;
}

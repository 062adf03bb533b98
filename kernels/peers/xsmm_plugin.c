/* Layer normalization made of code that libxsmm 2 generates, as a plugin. libxsmm has no such function; this is its
 * samples/equation/equation_layernorm.c.
 *
 * libxsmm_f32: the timed code is, row by row, the generated reduction to sum and sum of squares, mean and rstd in f32,
 * and the generated equation y = (x rstd - mean rstd) gamma + beta. prepare() generates the code. The variance is
 * E[x^2] - mean^2, at least 0. lnbench splits the rows among threads. */
#include "late.h"
#include "peer.h"

#include <libxsmm_version.h>
#include <limits.h>
#include <signal.h>

static const late_peer *peer;

/* Loading libxsmm replaces lnbench's handlers of two signals, which are restored here. */
static int load(void)
{
    static const int signals[] = {SIGABRT, SIGSEGV};
    struct sigaction handlers[2];
    if (peer)
        return 1;
    for (int i = 0; i < 2; i++)
        sigaction(signals[i], NULL, &handlers[i]);
    peer = late_peer_open("libxsmm_peer.so");
    for (int i = 0; i < 2; i++)
        sigaction(signals[i], &handlers[i], NULL);
    return peer != NULL;
}

static const char *supports(const ln_problem *problem)
{
    const char *reason = peer_refuses_convention(&problem->convention);
    return reason || problem->hidden <= INT_MAX ? reason : "its sizes are int";
}

static int prepare_layernorm(const ln_problem *problem, void **state)
{
    return load() ? peer->prepare(problem, state) : 1;
}

static void release(void *state)
{
    peer->release(state);
}

static void run(const void *state, const ln_tensors *tensors)
{
    peer->run_call(state, tensors);
}

static const ln_kernel kernels[] = {{
    .name = "libxsmm_f32",
    .statistics = "libxsmm",
    .apply = "",
    .schedule = "",
    .isa = "any",
    .storage = LN_F32,
    .param = LN_F32,
    .accumulator = LN_F32,
    .traits = LN_TRAIT_NO_RESIDUAL,
    .supports = supports,
    .prepare = prepare_layernorm,
    .release = release,
    .run = run,
}};

static char version[64];

static const ln_plugin_table plugin = {
    .abi_version = LN_PLUGIN_ABI,
    .struct_size = sizeof(ln_plugin_table),
    .kernel_size = sizeof(ln_kernel),
    .name = "libxsmm",
    .count = sizeof kernels / sizeof *kernels,
    .kernels = kernels,
    .version = version,
};

const ln_plugin_table *ln_plugin(void)
{
    static const peer_release releases[] = {{2, 0, 2026}, {2, 1, 0}};
    peer_version(version, sizeof version, "libxsmm", LIBXSMM_CONFIG_VERSION_MAJOR,
                 LIBXSMM_CONFIG_VERSION_MINOR, LIBXSMM_CONFIG_VERSION_UPDATE, releases);
    return &plugin;
}

/* RMSNorm of 16-bit and f32 rows by plugin ABI 2, with sums in f64: right under every convention, and with
 * mistakes planted. */
#include "layernorm_plugin_v2.h"
#include "metrics/storage.h"
#include <math.h>
#include <stdbool.h>

/* What a kernel does instead. */
typedef struct mistake {
    bool mean, variance, n_minus_1, outside, no_eps, eps_1e3, tail, no_weight, first_weight, offset;
    bool cast, root, rounded_offset, sum, no_residual, no_square_root;
} mistake;

static double stored(ln_type type, double value)
{
    double room;
    storage_store(type, &room, 0, value);
    return storage_load(type, &room, 0);
}

static double added(const ln_rms_problem *given, const ln_rms_tensors *tensors, const mistake *made,
                    size_t row, size_t i, bool squared)
{
    ln_rms_sum sum = (ln_rms_sum)given->convention.sum;
    double x = storage_load(given->storage, tensors->x, row * given->x_stride + i);
    if (!tensors->residual || made->no_residual)
        return x;
    x += storage_load(given->storage, tensors->residual, row * given->residual_stride + i);
    bool rounds = sum == LN_RMS_SUM_ROUNDED || (sum == LN_RMS_SUM_SQUARES && !squared);
    return stored(rounds != made->sum || given->storage == LN_F32 ? given->storage : LN_F32, x);
}

static double root_of(const ln_rms_problem *given, const ln_rms_tensors *tensors,
                      const mistake *made, size_t row, double *mean)
{
    const ln_rms_convention *own = &given->convention;
    double sum = 0, square = 0, n = (double)given->hidden, eps = made->eps_1e3 ? 1e-3 : own->eps;
    for (size_t i = 0; i < given->hidden; i++) {
        double x = added(given, tensors, made, row, i, true);
        sum += x;
        square += made->tail && i >= given->hidden / 8 * 8 ? 0 : x * x;
    }
    *mean = made->mean ? sum / n : 0;
    square /= made->n_minus_1 ? n - 1 : n;
    square -= made->variance ? sum / n * (sum / n) : 0;
    eps = made->no_eps ? 0 : eps;
    bool inside = (own->eps_place == LN_EPS_VAR) != made->outside;
    double root = made->no_square_root ? square + eps
                  : inside             ? sqrt(square + eps)
                                       : sqrt(square) + eps;
    return own->root != made->root ? stored(given->storage, root) : root;
}

static void normalise(const ln_rms_problem *given, const ln_rms_tensors *tensors,
                      const mistake *made)
{
    static const mistake none = {.mean = false};
    const ln_rms_convention *own = &given->convention;
    bool offset = own->weight >= LN_RMS_WEIGHT_OFFSET;
    bool rounds_offset = own->weight == LN_RMS_WEIGHT_OFFSET_ROUNDED;
    for (size_t row = 0; row < given->rows; row++) {
        double mean, root = root_of(given, tensors, made, row, &mean);
        if (tensors->rrms)
            ((double *)tensors->rrms)[row] = 1 / root;
        for (size_t i = 0; i < given->hidden; i++) {
            double sum = added(given, tensors, made, row, i, false), weight = 1;
            double xhat = (sum - mean) / root;
            double asked = added(given, tensors, &none, row, i, false);
            if (own->weight && !made->no_weight) {
                weight = storage_load(given->param, tensors->weight, made->first_weight ? 0 : i);
                weight += offset != made->offset ? 1 : 0;
                weight =
                    rounds_offset != made->rounded_offset ? stored(given->param, weight) : weight;
                xhat = own->cast != made->cast ? stored(given->storage, xhat) : xhat;
            }
            /* x may be where sum or y goes: the sum first. */
            if (tensors->residual && tensors->sum)
                storage_store(given->storage, tensors->sum, row * given->sum_stride + i, asked);
            storage_store(given->storage, tensors->y, row * given->y_stride + i, xhat * weight);
        }
    }
}

#define MISTAKES(_)                                                                                \
    _(right, .mean = false)                                                                        \
    _(layernorm, .mean = true, .variance = true)                                                   \
    _(mean_subtracted, .mean = true)                                                               \
    _(variance, .variance = true)                                                                  \
    _(n_minus_1, .n_minus_1 = true)                                                                \
    _(eps_outside, .outside = true)                                                                \
    _(eps_left_out, .no_eps = true)                                                                \
    _(eps_of_another, .eps_1e3 = true)                                                             \
    _(tail_dropped, .tail = true)                                                                  \
    _(no_weight, .no_weight = true)                                                                \
    _(first_weight, .first_weight = true)                                                          \
    _(other_offset, .offset = true)                                                                \
    _(cast_otherwise, .cast = true)                                                                \
    _(root_otherwise, .root = true)                                                                \
    _(offset_rounded, .rounded_offset = true)                                                      \
    _(residual_order, .sum = true)                                                                 \
    _(no_residual, .no_residual = true)                                                            \
    _(no_square_root, .no_square_root = true)

#define RUN(name, ...)                                                                             \
    static void run_##name(const void *state, const void *tensors)                                 \
    {                                                                                              \
        static const mistake made = {__VA_ARGS__};                                                 \
        normalise(state, tensors, &made);                                                          \
    }
MISTAKES(RUN)

#define ENTRY(kernel, type, kind)                                                                  \
    {                                                                                              \
        .operation = LN_OPERATION_RMSNORM, .name = "rmsnorm." #kernel "." #kind, .isa = "scalar",  \
        .storage = type, .param = type, .accumulator = LN_F64, .run = run_##kernel                 \
    }
#define ENTRIES(name, ...)                                                                         \
    ENTRY(name, LN_F32, f32), ENTRY(name, LN_BF16, bf16), ENTRY(name, LN_F16, f16),
static const ln_kernel_v2 kernels[] = {MISTAKES(ENTRIES)};

LN_API const ln_plugin_v2_table *ln_plugin_v2(void)
{
    static const ln_plugin_v2_table plugin = {.abi_version = LN_PLUGIN_ABI_V2,
                                              .struct_size = sizeof plugin,
                                              .kernel_size = sizeof *kernels,
                                              .name = "rmsnorm",
                                              .count = sizeof kernels / sizeof *kernels,
                                              .kernels = kernels};
    return &plugin;
}

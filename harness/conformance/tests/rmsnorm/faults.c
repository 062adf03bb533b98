/* Kernels of RMSNorm in f64 that have one fault each (faults.def), and correct kernels: one in f64, and others in f32
 * that differ in their order of summation (five) and formula (four). The judge must accept the correct ones. For
 * rmsnorm_test the faults and the first correct kernel exist in every type. */
#include "layernorm_plugin.h"
#include "metrics/storage.h"
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The state of a row while it is computed. */
typedef struct row_state {
    const ln_problem *given;
    const ln_tensors *tensors;
    double mean, square, eps, centre, root, exact_root;
    double xhat; /* xhat of the current element, unrounded */
    bool inside; /* eps is added to the mean square, not to the root */
} row_state;

static double stored(ln_type type, double value)
{
    double room;
    storage_store(type, &room, 0, value);
    return storage_load(type, &room, 0);
}

/* Rounds to bf16 towards zero. */
static double cut(double value)
{
    float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    bits &= 0xffff0000;
    memcpy(&single, &bits, sizeof single);
    return single;
}

/* ---- the hooks, with the code of a correct kernel; v is the value so far ---- */

#define VALUES(HOOK)                                                                               \
    HOOK(TERM, v *v)                                                                               \
    HOOK(SUM, v)                                                                                   \
    HOOK(ADDED, v)                                                                                 \
    HOOK(SUMMED, v + r)                                                                            \
    HOOK(GAMMA, i)                                                                                 \
    HOOK(FACTOR, v)                                                                                \
    HOOK(XHAT, v)                                                                                  \
    HOOK(ELEMENT, v)                                                                               \
    HOOK(WRITE, row * s->given->y_stride + i)                                                      \
    HOOK(RRMS, 1 / s->root)                                                                        \
    HOOK(SQUARE, v)                                                                                \
    HOOK(ROOT, v)                                                                                  \
    HOOK(AFTER, v)

typedef double hook(row_state *s, size_t row, size_t i, double v, double r);
#define ENUMERATE(name, ...) HOOK_##name,
enum { VALUES(ENUMERATE) HOOKS };
#define BODY(function, ...)                                                                        \
    static double function(row_state *s, size_t row, size_t i, double v, double r)                 \
    {                                                                                              \
        (void)s, (void)row, (void)i, (void)v, (void)r;                                             \
        return (double)__extension__({ __VA_ARGS__; });                                            \
    }
#define USUAL(name, ...) BODY(usual_##name, __VA_ARGS__)
VALUES(USUAL)

/* Returns x + residual, rounded as the convention says for the squares (`squared`), or for the division by the root. */
static double added(row_state *s, hook *const *hooks, size_t row, size_t i, const double *x,
                    bool squared)
{
    const ln_problem *given = s->given;
    ln_rms_sum sum = given->convention.sum;
    if (!s->tensors->residual)
        return x[i];
    if (hooks[HOOK_ADDED] != usual_ADDED)
        return hooks[HOOK_ADDED](s, row, i, x[i], x[given->hidden + i]);
    bool rounds = sum == LN_RMS_SUM_ROUNDED || (sum == LN_RMS_SUM_SQUARES && !squared);
    return stored(rounds || given->storage == LN_F32 ? given->storage : LN_F32,
                  x[i] + x[given->hidden + i]);
}

static void find_root(row_state *s, hook *const *hooks, size_t row, const double *x)
{
    const ln_convention *own = &s->given->convention;
    size_t hidden = s->given->hidden;
    double sum = 0, all = 0;
    for (size_t i = 0; i < hidden; i++) {
        double value = added(s, hooks, row, i, x, true);
        all += value;
        sum = hooks[HOOK_SUM](s, row, i, sum + hooks[HOOK_TERM](s, row, i, value, 0), 0);
    }
    s->mean = all / (double)hidden;
    s->square = sum / (double)hidden;
    s->eps = own->eps;
    s->centre = 0;
    s->inside = own->eps_place != LN_EPS_STD;
    hooks[HOOK_SQUARE](s, row, 0, 0, 0);
    s->exact_root = s->inside ? sqrt(s->square + s->eps) : sqrt(s->square) + s->eps;
    s->root = own->root ? stored(s->given->storage, s->exact_root) : s->exact_root;
    hooks[HOOK_ROOT](s, row, 0, 0, 0);
}

static double element(row_state *s, hook *const *hooks, size_t row, size_t i, double value)
{
    const ln_convention *own = &s->given->convention;
    double xhat = s->xhat = (value - s->centre) / s->root, factor = 1;
    if (own->weight) {
        xhat = own->cast ? stored(s->given->storage, xhat) : xhat;
        factor = storage_load(s->given->param, s->tensors->gamma,
                              (size_t)hooks[HOOK_GAMMA](s, row, i, 0, 0));
        factor += own->weight >= LN_RMS_WEIGHT_OFFSET ? 1 : 0;
        factor =
            own->weight == LN_RMS_WEIGHT_OFFSET_ROUNDED ? stored(s->given->param, factor) : factor;
        factor = hooks[HOOK_FACTOR](s, row, i, factor, 0);
    }
    xhat = hooks[HOOK_XHAT](s, row, i, xhat, 0);
    return hooks[HOOK_ELEMENT](s, row, i, factor * xhat, 0);
}

static void normalise(const ln_problem *given, const ln_tensors *tensors, hook *const *hooks)
{
    row_state own = {.given = given, .tensors = tensors};
    size_t hidden = given->hidden;
    double *x = malloc(2 * hidden * sizeof *x); /* x, and then the residual */
    for (size_t row = 0; x && row < given->rows; row++) {
        for (size_t i = 0; i < hidden; i++) {
            x[i] = storage_load(given->storage, tensors->x, row * given->x_stride + i);
            if (tensors->residual)
                x[hidden + i] = storage_load(given->storage, tensors->residual,
                                             row * given->residual_stride + i);
        }
        find_root(&own, hooks, row, x);
        if (tensors->rstd)
            ((double *)tensors->rstd)[row] = hooks[HOOK_RRMS](&own, row, 0, 0, 0);
        for (size_t i = 0; i < hidden; i++) {
            double value = added(&own, hooks, row, i, x, false);
            if (tensors->residual && tensors->sum)
                storage_store(given->storage, tensors->sum, row * given->sum_stride + i,
                              hooks[HOOK_SUMMED](&own, row, i, x[i], x[hidden + i]));
            storage_store(given->storage, tensors->y, (size_t)hooks[HOOK_WRITE](&own, row, i, 0, 0),
                          element(&own, hooks, row, i, value));
        }
    }
    free(x);
    hooks[HOOK_AFTER](&own, 0, 0, 0, 0);
}

/* ---- the faults, and one that only rmsnorm_test uses ---- */

#define EPS_1E_3 FAULT(SQUARE, formula, eps_1e_3, "eps is 1e-3", s->eps = 1e-3)

#define N (s->given->hidden)
#define M (s->given->rows)
#define C (&s->given->convention)
#define T (s->given->storage)
#define FAULT(hook, group, name, what, ...) BODY(fault_##name, __VA_ARGS__)
#define FAULT_OF(hook, type, ...) FAULT(hook, __VA_ARGS__)
#include "faults.def"
EPS_1E_3
#undef FAULT
#undef FAULT_OF
#undef N
#undef M
#undef C
#undef T

#define CHOOSE(name, ...) [HOOK_##name] = usual_##name,
#define FAULT(hook_name, group, name, what, ...)                                                   \
    static void run_##name(const void *problem, const ln_tensors *tensors)                         \
    {                                                                                              \
        hook *hooks[HOOKS] = {VALUES(CHOOSE)};                                                     \
        hooks[HOOK_##hook_name] = fault_##name;                                                    \
        normalise(problem, tensors, hooks);                                                        \
    }
#define FAULT_OF(hook_name, type, ...) FAULT(hook_name, __VA_ARGS__)
#include "faults.def"
EPS_1E_3
#undef FAULT
#undef FAULT_OF

/* ---- correct kernels ---- */

static void run_right(const void *problem, const ln_tensors *tensors)
{
    hook *hooks[HOOKS] = {VALUES(CHOOSE)};
    normalise(problem, tensors, hooks);
}

static float sequential(const float *x, size_t count, size_t step)
{
    float sum = 0;
    for (size_t i = 0; i < count; i += step)
        sum += x[i] * x[i];
    return sum;
}

static float backward(const float *x, size_t count, size_t step)
{
    float sum = 0;
    for (size_t i = count; i-- > 0;)
        sum += x[i] * x[i];
    (void)step;
    return sum;
}

static float in_lanes(const float *x, size_t count, size_t lanes)
{
    float sum = 0;
    for (size_t lane = 0; lane < lanes && lane < count; lane++)
        sum += sequential(x + lane, count - lane, lanes);
    return sum;
}

static float pairwise(const float *x, size_t count, size_t least)
{
    return count <= least
               ? sequential(x, count, 1)
               : pairwise(x, count / 2, least) + pairwise(x + count / 2, count - count / 2, least);
}

static float compensated(const float *x, size_t count, size_t step)
{
    float sum = 0, low = 0;
    for (size_t i = 0; i < count; i += step) {
        float term = x[i] * x[i] - low, next = sum + term;
        low = isfinite(next) ? next - sum - term : 0;
        sum = next;
    }
    return sum;
}

enum { divides, by_inverse, weight_first, in_f64 };

static void compute(const ln_problem *given, const ln_tensors *tensors,
                    float (*add)(const float *, size_t, size_t), size_t step, int formula)
{
    const ln_convention *own = &given->convention;
    size_t hidden = given->hidden;
    float *x = malloc(2 * hidden * sizeof *x), *summed = x + hidden;
    for (size_t row = 0; x && row < given->rows; row++) {
        for (size_t i = 0; i < hidden; i++) {
            double value = storage_load(given->storage, tensors->x, row * given->x_stride + i);
            if (tensors->residual)
                value += storage_load(given->storage, tensors->residual,
                                      row * given->residual_stride + i);
            summed[i] = (float)stored(given->storage, value);
            x[i] = own->sum == LN_RMS_SUM_ROUNDED ? summed[i] : (float)value;
        }
        float square = add(x, hidden, step) / (float)hidden, eps = (float)own->eps;
        float root = own->eps_place == LN_EPS_STD ? sqrtf(square) + eps : sqrtf(square + eps);
        root = own->root ? (float)stored(given->storage, root) : root;
        if (tensors->rstd)
            ((float *)tensors->rstd)[row] = 1 / root;
        for (size_t i = 0; i < hidden; i++) {
            float value = own->sum == LN_RMS_SUM_SQUARES ? summed[i] : x[i], factor = 1, y;
            bool casts = own->cast && own->weight;
            if (own->weight)
                factor = (float)storage_load(given->param, tensors->gamma, i);
            factor += own->weight >= LN_RMS_WEIGHT_OFFSET ? 1.f : 0.f;
            if (own->weight == LN_RMS_WEIGHT_OFFSET_ROUNDED)
                factor = (float)stored(given->param, factor);
            if (formula == weight_first && !casts) {
                y = value * (factor / root);
            } else if (formula == in_f64) {
                double xhat = (double)value / root;
                y = (float)((casts ? stored(given->storage, xhat) : xhat) * factor);
            } else {
                float xhat = formula == by_inverse ? value * (1 / root) : value / root;
                y = (casts ? (float)stored(given->storage, xhat) : xhat) * factor;
            }
            if (tensors->residual && tensors->sum)
                storage_store(given->storage, tensors->sum, row * given->sum_stride + i, summed[i]);
            storage_store(given->storage, tensors->y, row * given->y_stride + i, y);
        }
    }
    free(x);
}

#define FORMULAS(_, type, kind, order, step)                                                       \
    _(type, kind, order, step, divides)                                                            \
    _(type, kind, order, step, by_inverse)                                                         \
    _(type, kind, order, step, weight_first) _(type, kind, order, step, in_f64)
#define HONEST(_)                                                                                  \
    FORMULAS(_, LN_F32, f32, sequential, 1)                                                        \
    FORMULAS(_, LN_F32, f32, backward, 1)                                                          \
    FORMULAS(_, LN_F32, f32, in_lanes, 16)                                                         \
    FORMULAS(_, LN_F32, f32, pairwise, 8)                                                          \
    FORMULAS(_, LN_F32, f32, compensated, 1)                                                       \
    FORMULAS(_, LN_BF16, bf16, in_lanes, 8)
#define RUN(type, kind, order, step, formula)                                                      \
    static void run_##kind##_##order##_##formula(const void *problem, const ln_tensors *tensors)   \
    {                                                                                              \
        compute(problem, tensors, order, step, formula);                                           \
    }
HONEST(RUN)

#define ENTRY(full_name, type, sums, function)                                                     \
    {                                                                                              \
        .operation = LN_OPERATION_RMSNORM, .name = full_name, .isa = "scalar", .storage = type,    \
        .param = type, .accumulator = sums, .run = function                                        \
    }
#define EACH_TYPE(name)                                                                            \
    ENTRY("rmsnorm." #name ".f32", LN_F32, LN_F64, run_##name),                                    \
        ENTRY("rmsnorm." #name ".bf16", LN_BF16, LN_F64, run_##name),                              \
        ENTRY("rmsnorm." #name ".f16", LN_F16, LN_F64, run_##name),
#define FAULT(hook, group, name, what, ...)                                                        \
    ENTRY("fault." #name, LN_F32, LN_F64, run_##name), EACH_TYPE(name)
#define TYPE_bf16 LN_BF16
#define TYPE_f16 LN_F16
#define FAULT_OF(hook, type, group, name, what, ...)                                               \
    ENTRY("fault." #name, TYPE_##type, LN_F64, run_##name), EACH_TYPE(name)
#define HONEST_ENTRY(type, kind, order, step, formula)                                             \
    ENTRY("honest." #order "_" #formula "_" #kind, type, LN_F32, run_##kind##_##order##_##formula),
static const ln_kernel kernels[] = {
#include "faults.def"
    HONEST(HONEST_ENTRY) EACH_TYPE(eps_1e_3) EACH_TYPE(right)};

LN_API const ln_plugin_table *ln_plugin(void)
{
    static const ln_plugin_table plugin = {.abi_version = LN_PLUGIN_ABI,
                                           .struct_size = sizeof plugin,
                                           .kernel_size = sizeof *kernels,
                                           .name = "rmsnorm_faults",
                                           .count = sizeof kernels / sizeof *kernels,
                                           .kernels = kernels};
    return &plugin;
}

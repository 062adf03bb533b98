/* RMSNorm's front: which kernels there are, checks, dispatch. Its problem and tensors have the layout of
 * LayerNorm's, so that kernels are made from the same parts (kernels.def). */
#include "calls.h"
#include "dispatch.h"
#include "kernel_table.h"
#include "known.h"
#include "layernorm_plugin_v2.h"
#include "part.h"
#include "pool.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define SAME_PLACE(ours, theirs, member)                                                           \
    _Static_assert(offsetof(ours, member) == offsetof(theirs, member), "one layout")
SAME_PLACE(ln_rms_problem, ln_problem, sum_stride);
SAME_PLACE(ln_rms_problem, ln_problem, param);
SAME_PLACE(ln_rms_problem, ln_problem, convention);
SAME_PLACE(ln_rms_problem, ln_problem, accuracy);
SAME_PLACE(ln_rms_convention, ln_convention, eps_place);
SAME_PLACE(ln_rms_convention, ln_convention, eps);
SAME_PLACE(ln_rms_tensors, ln_tensors, sum);
_Static_assert(offsetof(ln_rms_convention, weight) == offsetof(ln_convention, affine),
               "one layout");
_Static_assert(offsetof(ln_rms_tensors, weight) == offsetof(ln_tensors, gamma), "one layout");
_Static_assert(offsetof(ln_rms_tensors, rrms) == offsetof(ln_tensors, rstd), "one layout");
_Static_assert(sizeof(ln_rms_problem) == sizeof(ln_problem), "one layout");
_Static_assert(sizeof(ln_rms_tensors) == sizeof(ln_tensors), "one layout");

/* ---- The kernels ---- */

static const char *why_not(const ln_rms_problem *problem, int isa, ln_type storage, ln_type param,
                           bool is_exact)
{
    const ln_rms_convention *wanted = &problem->convention;
    ln_problem types = {.hidden = problem->hidden, .storage = problem->storage};
    types.param = problem->param;
    const char *reason = ln_why_not(&types, isa, storage, param);
    bool is_short = storage == LN_BF16 || storage == LN_F16;
    if (!reason && is_short && wanted->sum != LN_RMS_SUM_ROUNDED)
        reason = "the sum with the residual is rounded before it is normalised";
    if (!reason && is_exact &&
        (wanted->root || wanted->cast || wanted->sum || (int)wanted->weight > LN_RMS_WEIGHT))
        reason = "only y is rounded, and no 1 is added to the weight";
    return reason;
}

/* What an exact kernel is given: the LayerNorm without beta that such a problem comes to but for the mean. */
static ln_problem without_mean(const void *problem)
{
    ln_problem own;
    memcpy(&own, problem, sizeof own);
    own.convention.affine =
        (int)own.convention.affine == LN_RMS_WEIGHT ? LN_AFFINE_GAMMA : LN_AFFINE_NONE;
    return own;
}

#define DECLARE(NAME, STORAGE, PARAM, ISA, SAME_BITS)                                              \
    ln_bound ln_bound_##NAME(const ln_problem *problem, const ln_row_facts *facts);                \
    ln_bound ln_probable_##NAME(const ln_problem *problem, const ln_row_facts *facts,              \
                                double chance);                                                    \
    static const char *supports_##NAME(const void *problem)                                        \
    {                                                                                              \
        return why_not(problem, ISA_##ISA, TYPE_##STORAGE, TYPE_##PARAM, (SAME_BITS) == 2);        \
    }                                                                                              \
    static ln_bound bound_##NAME(const void *problem, const ln_row_facts *facts)                   \
    {                                                                                              \
        return ln_bound_##NAME(problem, facts);                                                    \
    }

#define DECLARE_PRESENT(NAME, ROLE, STATISTICS, APPLY, SCHEDULE, STORAGE, PARAM, ACCUMULATOR, ISA, \
                        UNROLL, FMA, NONTEMPORAL, SAME_BITS, ...)                                  \
    void ln_run_##NAME(const void *state, const ln_tensors *tensors);                              \
    static void run_##NAME(const void *state, const void *tensors)                                 \
    {                                                                                              \
        if ((SAME_BITS) == 2)                                                                      \
            ln_run_##NAME(&(const ln_problem[]){without_mean(state)}, tensors);                    \
        else                                                                                       \
            ln_run_##NAME(state, tensors);                                                         \
    }                                                                                              \
    DECLARE(NAME, STORAGE, PARAM, ISA, SAME_BITS)

#define DECLARE_ABSENT(NAME, ROLE, STATISTICS, APPLY, SCHEDULE, STORAGE, PARAM, ACCUMULATOR, ISA,  \
                       UNROLL, FMA, NONTEMPORAL, SAME_BITS, ...)                                   \
    static void run_##NAME(const void *state, const void *tensors)                                 \
    {                                                                                              \
        (void)state, (void)tensors;                                                                \
    }                                                                                              \
    DECLARE(NAME, STORAGE, PARAM, ISA, SAME_BITS)

LN_RMS_KERNEL_TABLE(DECLARE_PRESENT, DECLARE_ABSENT)

#define DESCRIBE(NAME, ...)                                                                        \
    {.operation = LN_OPERATION_RMSNORM,                                                            \
     LN_DESCRIBE(NAME, __VA_ARGS__),                                                               \
     .supports = supports_##NAME,                                                                  \
     .run = run_##NAME,                                                                            \
     .bound = bound_##NAME,                                                                        \
     .facts = {LN_DESCRIBE_FACTS(NAME, __VA_ARGS__)}},

LN_CALL_FUNCTIONS(rmsnorm, void)
LN_CALL_CLASS(rmsnorm, void, fast, LN_ACCURACY_FAST)
LN_CALL_CLASS(rmsnorm, void, accurate, LN_ACCURACY_ACCURATE)
LN_CALL_CLASS(rmsnorm, void, reproducible, LN_ACCURACY_REPRODUCIBLE)
LN_CALL_CLASS(rmsnorm, void, exact, LN_ACCURACY_EXACT)
#define DESCRIBE_CALL(CLASS, ...)                                                                  \
    {.operation = LN_OPERATION_RMSNORM,                                                            \
     LN_DESCRIBE_CALL(rmsnorm, "_rms", CLASS, __VA_ARGS__),                                        \
     .facts = {LN_DESCRIBE_CALL_FACTS(rmsnorm, CLASS)}},

/* The table's lines, then the calls. */
static const ln_kernel_v2 kernels[] = {
    LN_RMS_KERNEL_TABLE(DESCRIBE, DESCRIBE) LN_CALL_TYPES(DESCRIBE_CALL, fast)
        LN_CALL_F64(DESCRIBE_CALL, fast) LN_CALL_TYPES(DESCRIBE_CALL, accurate)
            LN_CALL_TYPES(DESCRIBE_CALL, reproducible) LN_CALL_F64(DESCRIBE_CALL, reproducible)
                DESCRIBE_CALL(exact, f32, f32, f32, "f32")};

static const char *why_not_line(int line, const void *problem)
{
    return kernels[line].supports(problem);
}

static ln_bound bound_of(int line, const void *problem, const ln_row_facts *of_row, double chance)
{
    return chance > 0 ? kernels[line].facts.probable_bound(problem, of_row, chance)
                      : kernels[line].bound(problem, of_row);
}

static ln_type accumulator_of(int line)
{
    return kernels[line].accumulator;
}

static void call(const void *problem, const void *tensors, bool parallel)
{
    if (parallel)
        ln_rmsnorm_parallel(problem, tensors);
    else
        ln_rmsnorm(problem, tensors);
}

static const ln_front rmsnorm_front = {
    .operation = LN_OPERATION_RMSNORM,
    .none = "ln_rmsnorm() has no kernel of this class for these types",
    .why_not = why_not_line,
    .bound = bound_of,
    .accumulator = accumulator_of,
    .call = call};

const ln_plugin_v2_table *ln_plugin_v2(void)
{
    static const ln_plugin_v2_table plugin = {
        .abi_version = LN_PLUGIN_ABI_V2,
        .struct_size = sizeof(ln_plugin_v2_table),
        .kernel_size = sizeof(ln_kernel_v2),
        .name = "layernorm",
        .count = sizeof kernels / sizeof *kernels,
        .kernels = kernels,
        .set_threads = ln_call_set_threads,
    };
    return &plugin;
}

/* ---- Checks ---- */

static bool is_convention(const ln_rms_convention *convention)
{
    bool has_eps = convention->eps_place == LN_EPS_VAR || convention->eps_place == LN_EPS_STD;
    return convention->root <= 1 && convention->cast <= 1 &&
           convention->sum <= LN_RMS_SUM_SQUARES && convention->reserved == 0 &&
           (unsigned)convention->weight <= LN_RMS_WEIGHT_OFFSET_ROUNDED && convention->eps >= 0 &&
           isfinite(convention->eps) &&
           (has_eps || (convention->eps_place == LN_EPS_NONE && convention->eps == 0));
}

static ln_problem shape_of(const ln_rms_problem *problem)
{
    ln_problem shape;
    memcpy(&shape, problem, sizeof shape);
    shape.convention = (ln_convention){.affine = LN_AFFINE_NONE};
    return shape;
}

static bool are_tensors(const ln_rms_problem *problem, const ln_rms_tensors *tensors)
{
    bool has_weight = problem->convention.weight != LN_RMS_WEIGHT_NONE;
    return problem->rows == 0 ||
           (tensors && tensors->x && tensors->y && (!has_weight || tensors->weight) &&
            (!tensors->sum || tensors->residual));
}

static bool is_problem(const ln_rms_problem *problem)
{
    if (!problem || !is_convention(&problem->convention))
        return false;
    const ln_problem shape = shape_of(problem);
    return ln_is_problem(&shape);
}

/* NULL: none. */
static const ln_kernel_v2 *kernel_for(const ln_rms_problem *problem)
{
    const ln_problem shape = shape_of(problem);
    int line = ln_dispatch(LN_OPERATION_RMSNORM, &shape);
    return line < 0 || kernels[line].supports(problem) ? NULL : &kernels[line];
}

/* ---- Calls ---- */

static ln_status run(const ln_kernel_v2 *kernel, const ln_rms_problem *problem,
                     const ln_rms_tensors *tensors)
{
    if (!kernel)
        return LN_ERROR_UNSUPPORTED;
    if (problem->rows > 0) {
        ln_rms_tensors given = *tensors;
        given.no_beta = NULL;
        given.no_mean = NULL;
        kernel->run(problem, &given);
    }
    return LN_OK;
}

/* A call that is split among threads. */
typedef struct split_call {
    const ln_kernel_v2 *kernel;
    const ln_rms_problem *problem;
    ln_tensors tensors;
    unsigned parts;
} split_call;

static void run_part(void *context, unsigned part)
{
    const split_call *split = context;
    ln_problem whole;
    memcpy(&whole, split->problem, sizeof whole);
    const ln_part cut =
        ln_part_of(&whole, &split->tensors, split->kernel->accumulator, split->parts, part);
    split->kernel->run(&cut.problem, &cut.tensors);
}

static ln_status run_parallel(const ln_kernel_v2 *kernel, const ln_rms_problem *problem,
                              const ln_rms_tensors *tensors)
{
    split_call split = {.kernel = kernel, .problem = problem};
    if (!kernel)
        return LN_ERROR_UNSUPPORTED;
    const ln_problem shape = shape_of(problem);
    split.parts = ln_parts_of_call(&shape);
    if (split.parts == 1)
        return run(kernel, problem, tensors);
    memcpy(&split.tensors, tensors, sizeof split.tensors);
    split.tensors.beta = NULL;
    split.tensors.mean = NULL;
    ln_pool_run(split.parts, run_part, &split);
    return LN_OK;
}

typedef ln_status runner(const ln_kernel_v2 *kernel, const ln_rms_problem *problem,
                         const ln_rms_tensors *tensors);

static LN_THREAD_LOCAL known_call latest;

/* As in registry.c. */
static __attribute__((noinline)) ln_status
first_call(const ln_rms_problem *problem, const ln_rms_tensors *tensors, runner *run_call)
{
    const unsigned caches = ln_caches_version();
    if (!is_problem(problem) || !are_tensors(problem, tensors))
        return LN_ERROR_ARGUMENT;
    ln_remember(&latest, problem, caches, kernel_for(problem));
    return run_call(latest.kernel, problem, tensors);
}

static inline ln_status call_rmsnorm(const ln_rms_problem *problem, const ln_rms_tensors *tensors,
                                     runner *run_call)
{
    const ln_kernel_v2 *known = problem ? ln_known_kernel(&latest, problem) : NULL;
    return known && are_tensors(problem, tensors) ? run_call(known, problem, tensors)
                                                  : first_call(problem, tensors, run_call);
}

ln_status ln_rmsnorm(const ln_rms_problem *problem, const ln_rms_tensors *tensors)
{
    return call_rmsnorm(problem, tensors, run);
}

ln_status ln_rmsnorm_parallel(const ln_rms_problem *problem, const ln_rms_tensors *tensors)
{
    return call_rmsnorm(problem, tensors, run_parallel);
}

const char *ln_rmsnorm_kernel(const ln_rms_problem *problem)
{
    const ln_kernel_v2 *kernel = problem ? kernel_for(problem) : NULL;
    return kernel ? kernel->name : NULL;
}

ln_type ln_rmsnorm_accumulator(const ln_rms_problem *problem)
{
    const ln_kernel_v2 *kernel = problem ? kernel_for(problem) : NULL;
    return kernel ? kernel->accumulator : LN_F64;
}

ln_status ln_rmsnorm_with(const char *kernel, const ln_rms_problem *problem,
                          const ln_rms_tensors *tensors)
{
    bool fine = kernel && is_problem(problem) && are_tensors(problem, tensors);
    const ln_kernel_v2 *found = NULL;
    for (size_t i = 0; fine && i < RMS_KERNEL_LINES; i++)
        if (strcmp(kernels[i].name, kernel) == 0 && !kernels[i].supports(problem))
            found = &kernels[i];
    return fine ? run(found, problem, tensors) : LN_ERROR_ARGUMENT;
}

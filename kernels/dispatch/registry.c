/* The library's front: which kernels there are, what this CPU can run, checks, dispatch. */
#include "calls.h"
#include "dispatch.h"
#include "known.h"
#include "kernel_table.h"
#include "part.h"
#include "pool.h"

#include <math.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* kernel_table.h is written by CMake from isa.def and kernels.def. LN_ISA_TABLE(row) holds
 * row(name, label, cpu, vector bytes) for each ISA, worst first. LN_KERNEL_TABLE(present, absent)
 * holds, for each kernel in the order of kernels.def, one of the two with (name, role, statistics,
 * apply, schedule, storage, param, accumulator, isa, unroll, fma, nontemporal, same bits, family,
 * summation, vector bytes, lanes, chunk, tile, mean parts, pivot); absent are those whose ISA the
 * compiler's target does not have: they are listed, and unsupported. */

#define NAME_REASON(name, label, ...) "no " label " on this CPU",
static const char *const no_isa[] = {LN_ISA_TABLE(NAME_REASON)};

/* Whether LN_DISABLE_ISA, a list such as "avx512,avx2", names this ISA, or one that it extends:
 * such an ISA's name begins with the other's. */
static bool is_disabled(const char *name)
{
    const char *list = getenv("LN_DISABLE_ISA");
    size_t length = strlen(name);
    while (list && *list) {
        size_t part = strcspn(list, ",");
        if (part > 0 && part <= length && memcmp(list, name, part) == 0)
            return true;
        list += part;
        list += *list == ',';
    }
    return false;
}

#if defined(__x86_64__)
/* Which clang 14's __builtin_cpu_supports() has no name for. */
static bool cpu_has_f16c(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}
#endif

/* One bit for each ISA that this CPU has and LN_DISABLE_ISA leaves. Found out once; threads that
 * race find the same. */
static unsigned usable_isas(void)
{
    static atomic_uint found;
    const unsigned known = 1u << ISA_COUNT;
    unsigned usable = atomic_load_explicit(&found, memory_order_relaxed);
    if (usable & known)
        return usable;
    usable = known;
#define DETECT_ISA(name, label, cpu, bytes)                                                        \
    if ((cpu) && !is_disabled(#name))                                                              \
        usable |= 1u << ISA_##name;
    LN_ISA_TABLE(DETECT_ISA)
    atomic_store_explicit(&found, usable, memory_order_relaxed);
    return usable;
}

const char *ln_why_not(const ln_problem *problem, int isa, ln_type storage, ln_type param)
{
    if (!(usable_isas() & 1u << isa))
        return no_isa[isa];
    if (problem->storage != storage || problem->param != param)
        return "other element types";
    if (problem->hidden == 0)
        return "hidden is 0";
    return NULL;
}

#define DECLARE_PRESENT(name, role, statistics, apply, schedule, storage, param, accumulator, isa, \
                        ...)                                                                       \
    void ln_run_##name(const void *state, const ln_tensors *tensors);                              \
    ln_bound ln_bound_##name(const ln_problem *problem, const ln_row_facts *facts);                \
    ln_bound ln_probable_##name(const ln_problem *problem, const ln_row_facts *facts,              \
                                double chance);                                                    \
    static const char *supports_##name(const ln_problem *problem)                                  \
    {                                                                                              \
        return ln_why_not(problem, ISA_##isa, TYPE_##storage, TYPE_##param);                       \
    }

#define DECLARE_ABSENT(name, role, statistics, apply, schedule, storage, param, accumulator, isa,  \
                       ...)                                                                        \
    ln_bound ln_bound_##name(const ln_problem *problem, const ln_row_facts *facts);                \
    ln_bound ln_probable_##name(const ln_problem *problem, const ln_row_facts *facts,              \
                                double chance);                                                    \
    static const char *supports_##name(const ln_problem *problem)                                  \
    {                                                                                              \
        (void)problem;                                                                             \
        return no_isa[ISA_##isa];                                                                  \
    }                                                                                              \
    static void ln_run_##name(const void *state, const ln_tensors *tensors)                        \
    {                                                                                              \
        (void)state, (void)tensors;                                                                \
    }

LN_KERNEL_TABLE(DECLARE_PRESENT, DECLARE_ABSENT)

#define DESCRIBE(NAME, ...)                                                                        \
    {.struct_size = sizeof(ln_kernel),                                                             \
     LN_DESCRIBE(NAME, __VA_ARGS__),                                                               \
     .supports = supports_##NAME,                                                                  \
     .run = ln_run_##NAME,                                                                         \
     .bound = ln_bound_##NAME},

LN_CALL_FUNCTIONS(layernorm, ln_tensors)
LN_CALL_CLASS(layernorm, ln_problem, fast, LN_ACCURACY_FAST)
LN_CALL_CLASS(layernorm, ln_problem, accurate, LN_ACCURACY_ACCURATE)
LN_CALL_CLASS(layernorm, ln_problem, reproducible, LN_ACCURACY_REPRODUCIBLE)
LN_CALL_CLASS(layernorm, ln_problem, exact, LN_ACCURACY_EXACT)

/* `exact` has no kernel of f64. */
#define CALL_TABLE(row)                                                                            \
    LN_CALL_TYPES(row, fast)                                                                       \
    LN_CALL_F64(row, fast)                                                                         \
    LN_CALL_F64_PARAM_F32(row, fast)                                                               \
    LN_CALL_TYPES(row, accurate)                                                                   \
    LN_CALL_F64(row, accurate)                                                                     \
    LN_CALL_F64_PARAM_F32(row, accurate)                                                           \
    LN_CALL_TYPES(row, reproducible)                                                               \
    LN_CALL_F64(row, reproducible)                                                                 \
    LN_CALL_F64_PARAM_F32(row, reproducible)                                                       \
    LN_CALL_TYPES(row, exact)
#define DESCRIBE_CALL(CLASS, STORAGE, PARAM, ACCUMULATOR, TYPES)                                   \
    {.struct_size = sizeof(ln_kernel),                                                             \
     LN_DESCRIBE_CALL(layernorm, "", CLASS, STORAGE, PARAM, ACCUMULATOR, TYPES)},

/* The table's lines, then the calls. */
static const ln_kernel kernels[] = {LN_KERNEL_TABLE(DESCRIBE, DESCRIBE) CALL_TABLE(DESCRIBE_CALL)};

#define STATE_FACTS(...) {LN_DESCRIBE_FACTS(__VA_ARGS__)},

#define STATE_CALL_FACTS(CLASS, ...) {LN_DESCRIBE_CALL_FACTS(layernorm, CLASS)},

static const ln_kernel_facts facts[] = {LN_KERNEL_TABLE(STATE_FACTS, STATE_FACTS)
                                            CALL_TABLE(STATE_CALL_FACTS)};

static const char *why_not(int line, const void *problem)
{
    return kernels[line].supports(problem);
}

static ln_bound bound_of(int line, const void *problem, const ln_row_facts *of_row, double chance)
{
    return chance > 0 ? facts[line].probable_bound(problem, of_row, chance)
                      : kernels[line].bound(problem, of_row);
}

static ln_type accumulator_of(int line)
{
    return kernels[line].accumulator;
}

static void call(const void *problem, const void *tensors, bool parallel)
{
    if (parallel)
        ln_layernorm_parallel(problem, tensors);
    else
        ln_layernorm(problem, tensors);
}

static const ln_front layernorm_front = {
    .operation = LN_OPERATION_LAYERNORM,
    .none = "ln_layernorm() has no kernel of this class for these types",
    .why_not = why_not,
    .bound = bound_of,
    .accumulator = accumulator_of,
    .call = call};

bool ln_isa_is_usable(int isa)
{
    return usable_isas() & 1u << isa;
}

const ln_plugin *ln_plugin_v1(void)
{
    static const ln_plugin plugin = {
        .abi_version = LN_PLUGIN_ABI,
        .struct_size = sizeof(ln_plugin),
        .name = "layernorm",
        .count = sizeof kernels / sizeof kernels[0],
        .kernels = kernels,
        .set_threads = ln_call_set_threads,
        .facts_size = sizeof(facts[0]),
        .facts = facts,
    };
    return &plugin;
}

static bool is_convention(const ln_convention *convention)
{
    if (convention->ddof != 0 && convention->ddof != 1)
        return false;
    if ((int)convention->affine < LN_AFFINE_NONE || (int)convention->affine > LN_AFFINE_GAMMA1)
        return false;
    if (!(convention->eps >= 0) || !isfinite(convention->eps))
        return false;
    switch (convention->eps_place) {
    case LN_EPS_NONE:
        return convention->eps == 0;
    case LN_EPS_VAR:
    case LN_EPS_STD:
    case LN_EPS_QUOTIENT:
        return true;
    }
    return false;
}

/* Whether rows of this stride (0: hidden) do not overlap and fit in the address space. */
static bool is_stride(const ln_problem *problem, size_t stride)
{
    size_t elements;
    return stride == 0 || (stride >= problem->hidden && stride <= PTRDIFF_MAX / sizeof(double) &&
                           !__builtin_mul_overflow(problem->rows, stride, &elements) &&
                           elements <= PTRDIFF_MAX / sizeof(double));
}

static bool are_strides(const ln_problem *problem)
{
    bool dense =
        !(problem->x_stride | problem->y_stride | problem->residual_stride | problem->sum_stride);
    return is_stride(problem, problem->hidden) &&
           (dense ||
            (is_stride(problem, problem->x_stride) && is_stride(problem, problem->y_stride) &&
             is_stride(problem, problem->residual_stride) &&
             is_stride(problem, problem->sum_stride)));
}

static bool is_type(ln_type type)
{
    return (int)type >= LN_F32 && (int)type <= LN_F16;
}

bool ln_is_problem(const ln_problem *problem)
{
    return problem && problem->hidden != 0 && is_convention(&problem->convention) &&
           (unsigned)problem->accuracy <= LN_ACCURACY_EXACT && is_type(problem->storage) &&
           is_type(problem->param) && are_strides(problem);
}

/* Whether a problem's buffers are there. */
static bool are_tensors(const ln_problem *problem, const ln_tensors *tensors)
{
    ln_affine affine = problem->convention.affine;
    return problem->rows == 0 ||
           (tensors && tensors->x && tensors->y && (!ln_has_gamma(affine) || tensors->gamma) &&
            (!ln_has_beta(affine) || tensors->beta) && (!tensors->sum || tensors->residual));
}

static ln_status check(const ln_problem *problem, const ln_tensors *tensors)
{
    return ln_is_problem(problem) && are_tensors(problem, tensors) ? LN_OK : LN_ERROR_ARGUMENT;
}

static const ln_kernel *dispatched(const ln_problem *problem)
{
    int line = problem ? ln_dispatch(LN_OPERATION_LAYERNORM, problem) : -1;
    return line < 0 ? NULL : &kernels[line];
}

static ln_status run(const ln_kernel *kernel, const ln_problem *problem, const ln_tensors *tensors)
{
    if (!kernel)
        return LN_ERROR_UNSUPPORTED;
    if (problem->rows > 0)
        kernel->run(problem, tensors);
    return LN_OK;
}

/* A call that is split among threads. */
typedef struct split_call {
    const ln_kernel *kernel;
    const ln_problem *problem;
    const ln_tensors *tensors;
    unsigned parts;
} split_call;

static void run_part(void *context, unsigned part)
{
    const split_call *split = context;
    const ln_part cut =
        ln_part_of(split->problem, split->tensors, split->kernel->accumulator, split->parts, part);
    split->kernel->run(&cut.problem, &cut.tensors);
}

/* Handing a part over takes a microsecond or two, in which a thread normalises some 32 KiB. */
enum { PART_BYTES = 64 * 1024 };

unsigned ln_parts_of_call(const ln_problem *problem)
{
    size_t worth = (size_t)(ln_bytes_moved(problem) / PART_BYTES), threads = ln_pool_threads();
    size_t parts = worth < threads ? worth : threads;
    parts = parts < problem->rows ? parts : problem->rows;
    return parts > 1 ? (unsigned)parts : 1;
}

static ln_status run_parallel(const ln_kernel *kernel, const ln_problem *problem,
                              const ln_tensors *tensors)
{
    split_call split = {kernel, problem, tensors, 0};
    if (!kernel)
        return LN_ERROR_UNSUPPORTED;
    split.parts = ln_parts_of_call(problem);
    if (split.parts == 1)
        return run(kernel, problem, tensors);
    ln_pool_run(split.parts, run_part, &split);
    return LN_OK;
}

typedef ln_status runner(const ln_kernel *kernel, const ln_problem *problem,
                         const ln_tensors *tensors);

static LN_THREAD_LOCAL known_call latest;

/* A call of a problem that is not the thread's latest one. Apart from those of the latest, which then
 * save no registers. */
static __attribute__((noinline)) ln_status first_call(const ln_problem *problem,
                                                      const ln_tensors *tensors, runner *run_call)
{
    const unsigned caches = ln_caches_version();
    if (check(problem, tensors) != LN_OK)
        return LN_ERROR_ARGUMENT;
    ln_remember(&latest, problem, caches, dispatched(problem));
    return run_call(latest.kernel, problem, tensors);
}

static inline ln_status call_layernorm(const ln_problem *problem, const ln_tensors *tensors,
                                       runner *run_call)
{
    const ln_kernel *known = problem ? ln_known_kernel(&latest, problem) : NULL;
    return known && are_tensors(problem, tensors) ? run_call(known, problem, tensors)
                                                  : first_call(problem, tensors, run_call);
}

ln_status ln_layernorm(const ln_problem *problem, const ln_tensors *tensors)
{
    return call_layernorm(problem, tensors, run);
}

ln_status ln_layernorm_parallel(const ln_problem *problem, const ln_tensors *tensors)
{
    return call_layernorm(problem, tensors, run_parallel);
}

const char *ln_layernorm_kernel(const ln_problem *problem)
{
    const ln_kernel *kernel = dispatched(problem);
    return kernel ? kernel->name : NULL;
}

ln_type ln_layernorm_accumulator(const ln_problem *problem)
{
    const ln_kernel *kernel = dispatched(problem);
    return kernel ? kernel->accumulator : LN_F64;
}

/* NULL: there is none of this name that takes the problem here. */
static const ln_kernel *find_kernel(const char *name, const ln_problem *problem)
{
    for (size_t i = 0; i < KERNEL_LINES; i++)
        if (strcmp(kernels[i].name, name) == 0)
            return kernels[i].supports(problem) ? NULL : &kernels[i];
    return NULL;
}

ln_status ln_layernorm_with(const char *kernel, const ln_problem *problem,
                            const ln_tensors *tensors)
{
    ln_status status = kernel ? check(problem, tensors) : LN_ERROR_ARGUMENT;
    return status == LN_OK ? run(find_kernel(kernel, problem), problem, tensors) : status;
}

ln_status ln_layernorm_parallel_with(const char *kernel, const ln_problem *problem,
                                     const ln_tensors *tensors)
{
    ln_status status = kernel ? check(problem, tensors) : LN_ERROR_ARGUMENT;
    return status == LN_OK ? run_parallel(find_kernel(kernel, problem), problem, tensors) : status;
}

ln_status ln_set_threads(unsigned threads)
{
    return ln_pool_resize(threads);
}

unsigned ln_threads(void)
{
    return ln_pool_threads();
}

const char *ln_status_string(ln_status status)
{
    switch (status) {
    case LN_OK:
        return "fine";
    case LN_ERROR_ARGUMENT:
        return "bad argument: a missing tensor, hidden 0, a stride below hidden, sizes that "
               "overflow, a convention or accuracy class that does not exist, or too many threads";
    case LN_ERROR_UNSUPPORTED:
        return "no kernel of this build and CPU takes this problem";
    case LN_ERROR_THREADS:
        return "the system has no more threads, or no memory for them";
    }
    return "unknown status";
}

const char *ln_version(void)
{
    return LN_VERSION;
}

/* The public functions of the library: the list of kernels, the ISAs of this CPU, checks of arguments, calls. */
#include "bounds/bounds.h"
#include "dispatch.h"
#include "kernel_table.h"
#include "pool.h"
#include "rmsnorm.h"

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
 * apply, schedule, storage, param, accumulator, isa, unroll, fma, nontemporal, same bits, rounded
 * last). A kernel is absent if the compiler's target does not have its ISA: it is listed but unsupported. */

#define NAME_REASON(name, label, ...) "no " label " on this CPU",
static const char *const no_isa[] = {LN_ISA_TABLE(NAME_REASON)};

/* Returns whether LN_DISABLE_ISA, a list such as "avx512,avx2", names this ISA or one that it extends,
 * with whose name its own name begins. */
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
/* Needed because __builtin_cpu_supports() of clang 14 does not know "f16c". */
static bool cpu_has_f16c(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}
#endif

/* Returns one bit for each ISA that this CPU has and LN_DISABLE_ISA does not disable. The result is computed once; if
 * several threads compute it at the same time, they get the same. */
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

/* Returns the reason why a kernel of an ISA and these types does not support a problem; NULL: it does. */
static const char *why_not(const ln_problem *problem, ln_operation operation, int isa,
                           ln_type storage, ln_type param)
{
    if (!(usable_isas() & 1u << isa))
        return no_isa[isa];
    if (problem->convention.operation != operation)
        return "another operation";
    if (problem->storage != storage || problem->param != param)
        return "other element types";
    if (problem->hidden == 0)
        return "hidden is 0";
    return NULL;
}

/* ---- The kernels ---- */

/* The probable bound: statistics use at most 4 sums of a row (two sweeps, of t and of t^2). The probability that the
 * bound of any of them fails is at most 4 times 2 exp(-lambda^2 / 2). */
#define DEFINE_BOUNDS(NAME, STATISTICS, APPLY, STORAGE, ITEM, SUM, LANES, UNROLL, CHUNK, TILE,     \
                      FMA)                                                                         \
    static const bounded_row bounded_##NAME = {.moments = ln_moments_##STATISTICS,                 \
                                               .apply = BOUND_APPLY_##APPLY,                       \
                                               .storage = &ln_numbers[TYPE_##STORAGE],             \
                                               .item = &ln_numbers[TYPE_##ITEM],                   \
                                               .sum = &ln_numbers[TYPE_##SUM],                     \
                                               .lanes = LANES,                                     \
                                               .unroll = UNROLL,                                   \
                                               .chunk = CHUNK,                                     \
                                               .tile = TILE,                                       \
                                               .fuses = FMA};                                      \
    static ln_bound bound_##NAME(const ln_problem *problem, const ln_row_facts *facts)             \
    {                                                                                              \
        return ln_bound_of(&bounded_##NAME, problem, facts, 0);                                    \
    }                                                                                              \
    static ln_bound probable_##NAME(const ln_problem *problem, const ln_row_facts *facts,          \
                                    double chance)                                                 \
    {                                                                                              \
        return ln_bound_of(&bounded_##NAME, problem, facts, sqrt(2 * log(8 / chance)));            \
    }
LN_BOUND_TABLE(DEFINE_BOUNDS)

#define DECLARE_PRESENT(name, role, statistics, apply, schedule, storage, param, accumulator, isa, \
                        ...)                                                                       \
    void ln_run_##name(const void *state, const ln_tensors *tensors);                              \
    static const char *supports_##name(const ln_problem *problem)                                  \
    {                                                                                              \
        return why_not(problem, LN_OPERATION_LAYERNORM, ISA_##isa, TYPE_##storage, TYPE_##param);  \
    }

#define DECLARE_ABSENT(name, role, statistics, apply, schedule, storage, param, accumulator, isa,  \
                       ...)                                                                        \
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

static const char *why_not_rms(const ln_problem *problem, int isa, ln_type storage, ln_type param,
                               bool is_exact)
{
    const ln_convention *wanted = &problem->convention;
    const char *reason = why_not(problem, LN_OPERATION_RMSNORM, isa, storage, param);
    bool is_short = storage == LN_BF16 || storage == LN_F16;
    if (!reason && is_short && wanted->sum != LN_RMS_SUM_ROUNDED)
        reason = "the sum with the residual is rounded before it is normalised";
    if (!reason && is_exact &&
        (wanted->root || wanted->cast || wanted->sum || (int)wanted->weight > LN_RMS_WEIGHT))
        reason = "only y is rounded, and no 1 is added to the weight";
    return reason;
}

/* Returns the problem for an exact kernel of RMSNorm: the LayerNorm without beta that differs only by the mean. */
static ln_problem without_mean(const ln_problem *problem)
{
    ln_problem own = *problem;
    own.convention.affine =
        problem->convention.weight == LN_RMS_WEIGHT ? LN_AFFINE_GAMMA : LN_AFFINE_NONE;
    return own;
}

#define DECLARE_RMS(NAME, STORAGE, PARAM, ISA, SAME_BITS)                                          \
    static const char *supports_##NAME(const ln_problem *problem)                                  \
    {                                                                                              \
        return why_not_rms(problem, ISA_##ISA, TYPE_##STORAGE, TYPE_##PARAM, (SAME_BITS) == 2);    \
    }

#define DECLARE_RMS_PRESENT(NAME, ROLE, STATISTICS, APPLY, SCHEDULE, STORAGE, PARAM, ACCUMULATOR,  \
                            ISA, UNROLL, FMA, NONTEMPORAL, SAME_BITS, ...)                         \
    void ln_run_##NAME(const void *state, const ln_tensors *tensors);                              \
    static void run_##NAME(const void *state, const ln_tensors *tensors)                           \
    {                                                                                              \
        if ((SAME_BITS) == 2)                                                                      \
            ln_run_##NAME(&(const ln_problem[]){without_mean(state)}, tensors);                    \
        else                                                                                       \
            ln_run_##NAME(state, tensors);                                                         \
    }                                                                                              \
    DECLARE_RMS(NAME, STORAGE, PARAM, ISA, SAME_BITS)

#define DECLARE_RMS_ABSENT(NAME, ROLE, STATISTICS, APPLY, SCHEDULE, STORAGE, PARAM, ACCUMULATOR,   \
                           ISA, UNROLL, FMA, NONTEMPORAL, SAME_BITS, ...)                          \
    static void run_##NAME(const void *state, const ln_tensors *tensors)                           \
    {                                                                                              \
        (void)state, (void)tensors;                                                                \
    }                                                                                              \
    DECLARE_RMS(NAME, STORAGE, PARAM, ISA, SAME_BITS)

LN_RMS_KERNEL_TABLE(DECLARE_RMS_PRESENT, DECLARE_RMS_ABSENT)

#define DESCRIBE(NAME, ...)                                                                        \
    {LN_DESCRIBE(NAME, __VA_ARGS__), .supports = supports_##NAME, .run = ln_run_##NAME},
#define DESCRIBE_RMS(NAME, ...)                                                                    \
    {.operation = LN_OPERATION_RMSNORM,                                                            \
     LN_DESCRIBE(NAME, __VA_ARGS__),                                                               \
     .supports = supports_##NAME,                                                                  \
     .run = run_##NAME},

/* ---- The library's calls as kernels ----
 *
 * The kernels library_fast_f32, library_fast_rms_f32 and so on call ln_layernorm() or ln_rmsnorm(). So lnbench judges,
 * times and compares a complete call, with its checks, choice of kernel and threads. */

/* With 1 thread ln_layernorm() or ln_rmsnorm() is called, else the parallel function. */
static unsigned call_threads = 1;

/* A call as its user would prepare it. */
typedef struct call {
    ln_problem problem;
    /* If the chosen kernel has sums of another type than the descriptor: buffers for its mean and rstd, which are then
     * converted. */
    ln_type from, to;
    void *mean, *rstd;
} call;

static ln_problem of_class(const ln_problem *problem, ln_accuracy accuracy)
{
    ln_problem own = *problem;
    own.accuracy = accuracy;
    return own;
}

/* Returns the kernel that the call will use; NULL: there is none. */
static const ln_kernel *kernel_for(const ln_problem *problem)
{
    int line = ln_dispatch(problem);
    return line < 0 ? NULL : ln_kernel_at(problem->convention.operation, line);
}

static const char *call_supports(const ln_problem *problem, ln_accuracy accuracy)
{
    const ln_problem own = of_class(problem, accuracy);
    const ln_kernel *kernel = kernel_for(&own);
    if (kernel)
        return kernel->supports(&own);
    return own.convention.operation == LN_OPERATION_RMSNORM
               ? "ln_rmsnorm() has no kernel of this class for these types"
               : "ln_layernorm() has no kernel of this class for these types";
}

static void call_release(void *state)
{
    call *made = state;
    free(made->mean);
    free(made->rstd);
    free(made);
}

static int call_prepare(const ln_problem *problem, ln_accuracy accuracy, void **state)
{
    call *made = calloc(1, sizeof *made);
    if (!made)
        return 1;
    made->problem = of_class(problem, accuracy);
    const ln_kernel *kernel = kernel_for(&made->problem);
    made->from = kernel ? kernel->accumulator : LN_F64;
    made->to = made->problem.storage == LN_F64 ? LN_F64 : LN_F32;
    if (made->from != made->to) {
        made->mean = calloc(made->problem.rows + 1, sizeof(double));
        made->rstd = calloc(made->problem.rows + 1, sizeof(double));
        if (!made->mean || !made->rstd) {
            call_release(made);
            return 1;
        }
    }
    *state = made;
    return 0;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Returns the largest bound of the kernels that the class uses for any number of rows, since the bound must hold for
 * all of them. */
static ln_bound call_bound(const ln_problem *problem, ln_accuracy accuracy,
                           const ln_row_facts *facts, double chance)
{
    const ln_problem own = of_class(problem, accuracy);
    int lines[LN_PLACES];
    size_t count = ln_dispatch_any_rows(&own, lines);
    ln_bound all = {0};
    for (size_t i = 0; i < count; i++) {
        const ln_kernel *kernel = ln_kernel_at(own.convention.operation, lines[i]);
        ln_bound its =
            chance > 0 ? kernel->probable_bound(&own, facts, chance) : kernel->bound(&own, facts);
        all.xhat_abs = larger(its.xhat_abs, all.xhat_abs);
        all.affine_rel = larger(its.affine_rel, all.affine_rel);
    }
    return all;
}

static void convert_statistic(const call *made, const void *from, void *to)
{
    for (size_t i = 0; to && i < made->problem.rows; i++)
        if (made->to == LN_F32)
            ((float *)to)[i] = (float)((const double *)from)[i];
        else
            ((double *)to)[i] = ((const float *)from)[i];
}

typedef ln_status call_function(const ln_problem *problem, const ln_tensors *tensors);

static void call_run(const void *state, const ln_tensors *tensors)
{
    static call_function *const functions[][2] = {
        [LN_OPERATION_LAYERNORM] = {ln_layernorm, ln_layernorm_parallel},
        [LN_OPERATION_RMSNORM] = {ln_rmsnorm, ln_rmsnorm_parallel}};
    const call *made = state;
    ln_tensors own = *tensors;
    void *mean = own.mean, *rstd = own.rstd;
    if (made->from != made->to && (mean || rstd)) {
        own.mean = made->mean;
        own.rstd = made->rstd;
    }
    functions[made->problem.convention.operation][call_threads > 1](&made->problem, &own);
    if (own.rstd != rstd) {
        convert_statistic(made, made->mean, mean);
        convert_statistic(made, made->rstd, rstd);
    }
}

#define CALL_OF_CLASS(class, ACCURACY)                                                             \
    static const char *call_supports_##class(const ln_problem *problem)                            \
    {                                                                                              \
        return call_supports(problem, ACCURACY);                                                   \
    }                                                                                              \
    static int call_prepare_##class(const ln_problem *problem, void **state)                       \
    {                                                                                              \
        return call_prepare(problem, ACCURACY, state);                                             \
    }                                                                                              \
    static ln_bound call_bound_##class(const ln_problem *problem, const ln_row_facts *facts)       \
    {                                                                                              \
        return call_bound(problem, ACCURACY, facts, 0);                                            \
    }                                                                                              \
    static ln_bound call_probable_##class(const ln_problem *problem, const ln_row_facts *facts,    \
                                          double chance)                                           \
    {                                                                                              \
        return call_bound(problem, ACCURACY, facts, chance);                                       \
    }
CALL_OF_CLASS(fast, LN_ACCURACY_FAST)
CALL_OF_CLASS(accurate, LN_ACCURACY_ACCURATE)
CALL_OF_CLASS(reproducible, LN_ACCURACY_REPRODUCIBLE)
CALL_OF_CLASS(exact, LN_ACCURACY_EXACT)

static int call_set_threads(unsigned threads)
{
    call_threads = threads;
    return threads > 1 ? ln_set_threads(threads) != LN_OK : 0;
}

/* row(class, storage, param, accumulator, types): each class for each usual pair of types, with the type of mean and
 * rstd and the name of the pair. */
#define CALL_TYPES(row, class)                                                                     \
    row(class, f32, f32, f32, "f32") row(class, bf16, bf16, f32, "bf16")                           \
        row(class, bf16, f32, f32, "bf16_param_f32") row(class, f16, f16, f32, "f16")              \
            row(class, f16, f32, f32, "f16_param_f32")
#define CALL_F64(row, class) row(class, f64, f64, f64, "f64")
#define CALL_F64_PARAM_F32(row, class) row(class, f64, f32, f64, "f64_param_f32")

#define CALL_TRAITS_fast LN_TRAIT_OWN_THREADS
#define CALL_TRAITS_accurate LN_TRAIT_OWN_THREADS
#define CALL_TRAITS_reproducible                                                                   \
    LN_TRAIT_OWN_THREADS | LN_TRAIT_ROW_REPRODUCIBLE | LN_TRAIT_ISA_REPRODUCIBLE
#define CALL_TRAITS_exact CALL_TRAITS_reproducible | LN_TRAIT_CORRECTLY_ROUNDED

/* Describes an ln_kernel; `infix` is a part of its name. */
#define DESCRIBE_CALL_OF(OPERATION, infix, CLASS, STORAGE, PARAM, ACCUMULATOR, TYPES)              \
    {.operation = LN_OPERATION_##OPERATION,                                                        \
     .name = "library_" #CLASS infix "_" TYPES,                                                    \
     .statistics = "",                                                                             \
     .apply = "",                                                                                  \
     .schedule = "",                                                                               \
     .isa = "",                                                                                    \
     .storage = TYPE_##STORAGE,                                                                    \
     .param = TYPE_##PARAM,                                                                        \
     .accumulator = TYPE_##ACCUMULATOR,                                                            \
     .traits = CALL_TRAITS_##CLASS,                                                                \
     .supports = call_supports_##CLASS,                                                            \
     .prepare = call_prepare_##CLASS,                                                              \
     .release = call_release,                                                                      \
     .run = call_run,                                                                              \
     .bound = call_bound_##CLASS,                                                                  \
     .role = "library",                                                                            \
     .probable_bound = call_probable_##CLASS},

/* `exact` has no f64 kernel for LayerNorm, and only an f32 kernel for RMSNorm. */
#define CALL_EVERY_TYPE(row, class)                                                                \
    CALL_TYPES(row, class) CALL_F64(row, class) CALL_F64_PARAM_F32(row, class)
#define CALL_TABLE(row)                                                                            \
    CALL_EVERY_TYPE(row, fast)                                                                     \
    CALL_EVERY_TYPE(row, accurate)                                                                 \
    CALL_EVERY_TYPE(row, reproducible)                                                             \
    CALL_TYPES(row, exact)
#define RMS_CALL_TABLE(row)                                                                        \
    CALL_TYPES(row, fast)                                                                          \
    CALL_F64(row, fast)                                                                            \
    CALL_TYPES(row, accurate)                                                                      \
    CALL_TYPES(row, reproducible)                                                                  \
    CALL_F64(row, reproducible)                                                                    \
    row(exact, f32, f32, f32, "f32")
#define DESCRIBE_CALL(...) DESCRIBE_CALL_OF(LAYERNORM, "", __VA_ARGS__)
#define DESCRIBE_RMS_CALL(...) DESCRIBE_CALL_OF(RMSNORM, "_rms", __VA_ARGS__)

/* For each operation the lines of the table, then the calls. */
static const ln_kernel kernels[] = {LN_KERNEL_TABLE(DESCRIBE, DESCRIBE) CALL_TABLE(DESCRIBE_CALL)
                                        LN_RMS_KERNEL_TABLE(DESCRIBE_RMS, DESCRIBE_RMS)
                                            RMS_CALL_TABLE(DESCRIBE_RMS_CALL)};

/* The index of an operation's first line in `kernels`, and the number of its lines. */
static const struct {
    size_t first, count;
} lines_of[] = {
    [LN_OPERATION_LAYERNORM] = {0, KERNEL_LINES},
    [LN_OPERATION_RMSNORM] = {KERNEL_LINES CALL_TABLE(LN_COUNT_LINE), RMS_KERNEL_LINES}};

const ln_kernel *ln_kernel_at(ln_operation operation, int line)
{
    return &kernels[lines_of[operation].first + (size_t)line];
}

bool ln_isa_is_usable(int isa)
{
    return usable_isas() & 1u << isa;
}

const ln_plugin_table *ln_plugin(void)
{
    static const ln_plugin_table table = {
        .abi_version = LN_PLUGIN_ABI,
        .struct_size = sizeof(ln_plugin_table),
        .kernel_size = sizeof(ln_kernel),
        .name = "layernorm",
        .count = sizeof kernels / sizeof *kernels,
        .kernels = kernels,
        .set_threads = call_set_threads,
    };
    return &table;
}

/* ---- Checks ---- */

static bool is_eps(const ln_convention *convention)
{
    if (!(convention->eps >= 0) || !isfinite(convention->eps))
        return false;
    switch (convention->eps_place) {
    case LN_EPS_NONE:
        return convention->eps == 0;
    case LN_EPS_VAR:
    case LN_EPS_STD:
        return true;
    case LN_EPS_QUOTIENT:
        return convention->operation == LN_OPERATION_LAYERNORM;
    }
    return false;
}

/* Returns whether a convention is valid; the fields of the other operation must be 0. */
static bool is_convention(const ln_convention *c)
{
    switch (c->operation) {
    case LN_OPERATION_LAYERNORM:
        return is_eps(c) && (unsigned)c->ddof <= 1 && (unsigned)c->affine <= LN_AFFINE_GAMMA1 &&
               c->weight == 0 && c->cast == 0 && c->root == 0 && c->sum == 0;
    case LN_OPERATION_RMSNORM:
        return is_eps(c) && c->ddof == 0 && c->affine == 0 &&
               (unsigned)c->weight <= LN_RMS_WEIGHT_OFFSET_ROUNDED && (unsigned)c->cast <= 1 &&
               (unsigned)c->root <= 1 && (unsigned)c->sum <= LN_RMS_SUM_SQUARES;
    }
    return false;
}

/* Returns whether rows of this stride (0: hidden) do not overlap and fit into the address space. */
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

static bool is_problem(const ln_problem *problem, ln_operation operation)
{
    return problem && problem->convention.operation == operation && problem->hidden != 0 &&
           is_convention(&problem->convention) &&
           (unsigned)problem->accuracy <= LN_ACCURACY_EXACT && is_type(problem->storage) &&
           is_type(problem->param) && are_strides(problem);
}

/* Returns whether all required tensors of a problem are given. */
static bool are_tensors(const ln_problem *problem, const ln_tensors *tensors)
{
    const ln_convention *convention = &problem->convention;
    bool has_gamma = ln_has_gamma(convention->affine) || convention->weight != LN_RMS_WEIGHT_NONE;
    return problem->rows == 0 ||
           (tensors && tensors->x && tensors->y && (!has_gamma || tensors->gamma) &&
            (!ln_has_beta(convention->affine) || tensors->beta) &&
            (!tensors->sum || tensors->residual));
}

/* Returns the kernel for a problem; NULL: there is none. */
static const ln_kernel *dispatched(const ln_problem *problem, ln_operation operation)
{
    bool fits = problem && problem->convention.operation == operation;
    int line = fits ? ln_dispatch(problem) : -1;
    const ln_kernel *kernel = line < 0 ? NULL : ln_kernel_at(operation, line);
    return kernel && !kernel->supports(problem) ? kernel : NULL;
}

/* ---- Calls ---- */

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

/* The smallest part for a thread: starting it takes one or two microseconds, in which a thread normalises about 32
 * KiB. */
enum { PART_BYTES = 64 * 1024 };

static unsigned parts_of_call(const ln_problem *problem)
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
    split.parts = parts_of_call(problem);
    if (split.parts == 1)
        return run(kernel, problem, tensors);
    ln_pool_run(split.parts, run_part, &split);
    return LN_OK;
}

typedef ln_status runner(const ln_kernel *kernel, const ln_problem *problem,
                         const ln_tensors *tensors);

/* ---- The latest call ----
 *
 * Programs repeat calls with the same problem: the checks and the choice of the kernel are skipped if a problem is
 * equal to the thread's latest one. */

#ifdef __GLIBC__ /* other C libraries may have no initial-exec memory for a library opened by dlopen() */
#define LN_THREAD_LOCAL __attribute__((tls_model("initial-exec"))) _Thread_local
#else
#define LN_THREAD_LOCAL _Thread_local
#endif

typedef struct known_call {
    ln_problem problem;
    unsigned caches; /* ln_caches_version() when its kernel was looked up */
    const ln_kernel *kernel;
} known_call;

/* Returns the kernel of the latest problem if this one has the same bits, including padding (a difference there only
 * costs another look-up); else NULL. Words are compared directly, since copying both would take longer than a row of
 * 16 elements. */
static const ln_kernel *known_kernel(const known_call *latest, const ln_problem *problem)
{
    enum { WORDS = sizeof latest->problem / sizeof(uint64_t) };
    _Static_assert(sizeof latest->problem % sizeof(uint64_t) == 0, "whole words");
    uint64_t differ = latest->caches ^ ln_caches_version();
    for (size_t i = 0; i < WORDS; i++) {
        uint64_t word, known;
        memcpy(&word, (const char *)problem + i * sizeof word, sizeof word);
        memcpy(&known, (const char *)&latest->problem + i * sizeof known, sizeof known);
        differ |= word ^ known;
    }
    return differ == 0 ? latest->kernel : NULL;
}

static LN_THREAD_LOCAL known_call latest[LN_OPERATION_RMSNORM + 1];

/* Makes a call whose problem is not the thread's latest one of this operation. It is not inlined, so that repeated
 * calls save no registers. */
static __attribute__((noinline)) ln_status first_call(ln_operation operation,
                                                      const ln_problem *problem,
                                                      const ln_tensors *tensors, runner *run_call)
{
    const unsigned caches = ln_caches_version(); /* before the kernel is looked up */
    if (!is_problem(problem, operation) || !are_tensors(problem, tensors))
        return LN_ERROR_ARGUMENT;
    latest[operation] = (known_call){.caches = caches, .kernel = dispatched(problem, operation)};
    memcpy(&latest[operation].problem, problem, sizeof *problem); /* including padding */
    return run_call(latest[operation].kernel, problem, tensors);
}

static inline ln_status call_of(ln_operation operation, const ln_problem *problem,
                                const ln_tensors *tensors, runner *run_call)
{
    const ln_kernel *known = problem ? known_kernel(&latest[operation], problem) : NULL;
    return known && are_tensors(problem, tensors)
               ? run_call(known, problem, tensors)
               : first_call(operation, problem, tensors, run_call);
}

static const ln_kernel *kernel_named(ln_operation operation, const char *name)
{
    for (size_t i = 0; name && i < lines_of[operation].count; i++)
        if (strcmp(ln_kernel_at(operation, (int)i)->name, name) == 0)
            return ln_kernel_at(operation, (int)i);
    return NULL;
}

/* Makes a call with a kernel that the caller chose. */
static inline ln_status call_with(ln_operation operation, const ln_kernel *kernel,
                                  const ln_problem *problem, const ln_tensors *tensors,
                                  runner *run_call)
{
    if (!is_problem(problem, operation) || !are_tensors(problem, tensors))
        return LN_ERROR_ARGUMENT;
    bool fits = kernel && kernel->operation == operation && !kernel->supports(problem);
    return run_call(fits ? kernel : NULL, problem, tensors);
}

ln_status ln_layernorm(const ln_problem *problem, const ln_tensors *tensors)
{
    return call_of(LN_OPERATION_LAYERNORM, problem, tensors, run);
}

ln_status ln_layernorm_parallel(const ln_problem *problem, const ln_tensors *tensors)
{
    return call_of(LN_OPERATION_LAYERNORM, problem, tensors, run_parallel);
}

const char *ln_layernorm_kernel_name(const ln_problem *problem)
{
    const ln_kernel *kernel = dispatched(problem, LN_OPERATION_LAYERNORM);
    return kernel ? kernel->name : NULL;
}

ln_type ln_layernorm_accumulator(const ln_problem *problem)
{
    const ln_kernel *kernel = dispatched(problem, LN_OPERATION_LAYERNORM);
    return kernel ? kernel->accumulator : LN_F64;
}

const ln_kernel *ln_layernorm_kernel(const char *name)
{
    return kernel_named(LN_OPERATION_LAYERNORM, name);
}

ln_status ln_layernorm_with(const ln_kernel *kernel, const ln_problem *problem,
                            const ln_tensors *tensors)
{
    return call_with(LN_OPERATION_LAYERNORM, kernel, problem, tensors, run);
}

ln_status ln_layernorm_parallel_with(const ln_kernel *kernel, const ln_problem *problem,
                                     const ln_tensors *tensors)
{
    return call_with(LN_OPERATION_LAYERNORM, kernel, problem, tensors, run_parallel);
}

/* Clears beta and mean, which RMSNorm does not have. */
static ln_tensors tensors_of_rmsnorm(const ln_tensors *tensors)
{
    ln_tensors own = tensors ? *tensors : (ln_tensors){0};
    own.beta = NULL;
    own.mean = NULL;
    return own;
}

ln_status ln_rmsnorm(const ln_problem *problem, const ln_tensors *tensors)
{
    const ln_tensors own = tensors_of_rmsnorm(tensors);
    return call_of(LN_OPERATION_RMSNORM, problem, &own, run);
}

ln_status ln_rmsnorm_parallel(const ln_problem *problem, const ln_tensors *tensors)
{
    const ln_tensors own = tensors_of_rmsnorm(tensors);
    return call_of(LN_OPERATION_RMSNORM, problem, &own, run_parallel);
}

const char *ln_rmsnorm_kernel_name(const ln_problem *problem)
{
    const ln_kernel *kernel = dispatched(problem, LN_OPERATION_RMSNORM);
    return kernel ? kernel->name : NULL;
}

ln_type ln_rmsnorm_accumulator(const ln_problem *problem)
{
    const ln_kernel *kernel = dispatched(problem, LN_OPERATION_RMSNORM);
    return kernel ? kernel->accumulator : LN_F64;
}

const ln_kernel *ln_rmsnorm_kernel(const char *name)
{
    return kernel_named(LN_OPERATION_RMSNORM, name);
}

ln_status ln_rmsnorm_with(const ln_kernel *kernel, const ln_problem *problem,
                          const ln_tensors *tensors)
{
    const ln_tensors own = tensors_of_rmsnorm(tensors);
    return call_with(LN_OPERATION_RMSNORM, kernel, problem, &own, run);
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

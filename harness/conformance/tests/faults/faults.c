/* This plugin contains the planted faults (faults.def), a correct twin of each, and the honest kernels (honest.c). */
#include "faults.h"
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* ---- the kernel that the faults change: two passes, with sums in float, or in double for f64 ---- */

/* Returns the hook's value for the fault, and the right one for its twin, whose hook is called too. */
static double bend(const planted_call *call, double right, double bent)
{
    return call->wrong ? bent : right;
}

#define INDEX(hook, right)                                                                         \
    (fault->hook ? (size_t)bend(call, (double)(right), (double)fault->hook(call, row, i)) : (right))

#define INLINED static inline __attribute__((always_inline))

/* Rounds an operation's result in double to the accumulator's type. Rounding twice is harmless (Figueroa 1995). */
static double keep(ln_type type, double value)
{
    return type == LN_F64 ? value : (double)(float)value;
}

static double rstd_of(ln_type type, const planted_call *call, double var)
{
    const ln_convention *convention = &call->problem->convention;
    double eps = keep(type, convention->eps);
    if (convention->eps_place == LN_EPS_VAR)
        return keep(type, 1 / keep(type, sqrt(keep(type, var + eps))));
    double std = keep(type, sqrt(var));
    return keep(type, 1 / (convention->eps_place == LN_EPS_STD ? keep(type, std + eps) : std));
}

enum { LANES = 8 };

/* Adds element i of the row, or the square of its difference from *mean, to a lane. */
INLINED double add_up(ln_type type, const planted_fault *fault, const planted_call *call,
                      size_t row, size_t i, const double *mean, double lane)
{
    double weight = fault->weight ? bend(call, 1, fault->weight(call, row, i)) : 1;
    double x = call->row[i], off = mean ? keep(type, x - *mean) : x;
    return weight == 0 ? lane : keep(type, lane + weight * (mean ? keep(type, off * off) : off));
}

/* Adds all elements. Compilers vectorise the loop over whole groups of lanes. */
INLINED double sum_up(ln_type type, const planted_fault *fault, const planted_call *call,
                      size_t row, const double *mean)
{
    const size_t hidden = call->problem->hidden, whole = hidden - hidden % LANES;
    double lanes[LANES] = {0};
    for (size_t i = 0; i < whole; i += LANES)
        for (size_t lane = 0; lane < LANES; lane++)
            lanes[lane] = add_up(type, fault, call, row, i + lane, mean, lanes[lane]);
    for (size_t lane = 0; lane < hidden - whole; lane++)
        lanes[lane] = add_up(type, fault, call, row, whole + lane, mean, lanes[lane]);
    for (size_t half = LANES / 2; half > 0; half /= 2)
        for (size_t lane = 0; lane < half; lane++)
            lanes[lane] = keep(type, lanes[lane] + lanes[lane + half]);
    return lanes[0];
}

INLINED void find_statistics(ln_type type, const planted_fault *elements,
                             const planted_fault *fault, const planted_call *call, size_t row,
                             statistics *s)
{
    double count = (double)call->problem->hidden;
    statistics bent;
    s->mean = keep(type, sum_up(type, elements, call, row, NULL) / count);
    s->var = keep(type, sum_up(type, elements, call, row, &s->mean) /
                            (count - call->problem->convention.ddof));
    bent = *s;
    if (fault->moments)
        fault->moments(call, row, &bent);
    s->mean = keep(type, bend(call, s->mean, bent.mean));
    s->var = keep(type, bend(call, s->var, bent.var));
    s->rstd = rstd_of(type, call, s->var);
    bent = *s;
    if (fault->scale)
        fault->scale(call, row, &bent);
    s->mean = keep(type, bend(call, s->mean, bent.mean));
    s->rstd = keep(type, bend(call, s->rstd, bent.rstd));
}

INLINED void load_row(ln_type type, const planted_fault *fault, const planted_call *call,
                      size_t row)
{
    const ln_problem *problem = call->problem;
    const ln_tensors *tensors = call->tensors;
    size_t hidden = problem->hidden, i = 0;
    size_t x = INDEX(source, row) * stride_of(problem->x_stride, hidden);
    size_t residual = row * stride_of(problem->residual_stride, hidden);
    size_t out = row * stride_of(problem->sum_stride, hidden);
    for (; i < hidden; i++) {
        double value = load_element(type, tensors->x, x + i);
        if (tensors->residual) {
            double other = load_element(type, tensors->residual, residual + i);
            double sum = rounded(type, value + other);
            double given = fault->sum_out
                               ? bend(call, sum, fault->sum_out(call, row, i, value, other, sum))
                               : sum;
            if (tensors->sum)
                store_element(type, tensors->sum, out + i, given);
            value = sum;
        }
        call->row[i] = value;
    }
}

INLINED void apply_row(ln_type type, ln_type param, const planted_fault *fault,
                       const planted_call *call, size_t row, const statistics *s)
{
    const ln_problem *problem = call->problem;
    const ln_tensors *tensors = call->tensors;
    ln_affine affine = problem->convention.affine;
    size_t hidden = problem->hidden, y_at = row * stride_of(problem->y_stride, hidden);
    double q = problem->convention.eps_place == LN_EPS_QUOTIENT ? problem->convention.eps : 0;
    const double *restrict x = call->row;
    double *restrict out = call->output;
    for (size_t i = 0; i < hidden; i++) {
        double xhat = keep(type, x[INDEX(read, i)] - s->mean), gamma = 1, beta = 0;
        size_t scalar = affine == LN_AFFINE_SCALAR ? 0 : i;
        xhat = keep(type, keep(type, xhat * s->rstd) + keep(type, q));
        if (tensors->gamma)
            gamma = load_element(param, tensors->gamma, INDEX(gamma, scalar));
        if (tensors->beta)
            beta = load_element(param, tensors->beta, INDEX(beta, scalar));
        if (affine == LN_AFFINE_GAMMA1)
            gamma = keep(type, gamma + 1);
        double y = keep(type, keep(type, gamma * xhat) + beta);
        if (fault->element)
            y = bend(call, y, fault->element(call, row, i, xhat, gamma, beta, y));
        out[i] = y;
    }
    for (size_t i = 0; i < hidden; i++) {
        double y = out[i];
        if (fault->rounding)
            y = bend(call, y, fault->rounding(call, row, i, y, rounded(type, y)));
        store_element(type, tensors->y, y_at + INDEX(write, i), y);
    }
}

static void give_statistics(const planted_fault *fault, const planted_call *call, size_t row,
                            const statistics *s)
{
    const ln_tensors *tensors = call->tensors;
    ln_type type = call->accumulator;
    double mean = s->mean, rstd = s->rstd;
    if (tensors->mean)
        store_element(type, tensors->mean, row,
                      fault->mean_out ? bend(call, mean, fault->mean_out(call, row, s, mean))
                                      : mean);
    if (tensors->rstd)
        store_element(type, tensors->rstd, row,
                      fault->rstd_out ? bend(call, rstd, fault->rstd_out(call, row, s, rstd))
                                      : rstd);
}

/* Computes all rows. `elements` is `fault`, or a fault without hooks, which is used for single elements. */
INLINED void perform_rows_of(ln_type type, ln_type param, const planted_fault *elements,
                             const planted_fault *fault, const planted_call *call)
{
    for (size_t row = 0; row < call->problem->rows; row++) {
        statistics s;
        load_row(type, elements, call, row);
        find_statistics(type, elements, fault, call, row, &s);
        apply_row(type, param, elements, call, row, &s);
        give_statistics(fault, call, row, &s);
    }
}

/* Most faults have no hook for elements; for f32, compilers vectorise these. */
static void perform_rows(const planted_fault *fault, const planted_call *call)
{
    static const planted_fault none;
    const ln_type type = call->problem->storage, param = call->problem->param;
    bool bends = fault->weight || fault->source || fault->read || fault->gamma || fault->beta ||
                 fault->write || fault->element || fault->rounding || fault->sum_out;
    if (type == LN_F32 && param == LN_F32 && !bends)
        perform_rows_of(LN_F32, LN_F32, &none, fault, call);
    else if (type == LN_F32 && param == LN_F32)
        perform_rows_of(LN_F32, LN_F32, fault, fault, call);
    else
        perform_rows_of(type, param, fault, fault, call);
}

/* Makes one call of a fault or its twin. Several threads may call, so each call has its own row buffers. */
static void perform(const planted_fault *fault, bool wrong, ln_type accumulator,
                    unsigned long *calls, const prepared_states *prepared, const void *state,
                    const ln_tensors *tensors)
{
    ln_problem problem = *(const ln_problem *)state;
    ln_tensors given = *tensors;
    double *room = malloc(2 * problem.hidden * sizeof *room);
    planted_call call = {.problem = &problem,
                         .tensors = &given,
                         .wrong = wrong,
                         .accumulator = accumulator,
                         .count = __atomic_fetch_add(calls, 1, __ATOMIC_RELAXED),
                         .prepared = prepared,
                         .row = room,
                         .output = room ? room + problem.hidden : NULL};
    if (!room)
        return;
    if (fault->problem) {
        ln_problem bent = problem;
        ln_tensors moved = given;
        fault->problem(&call, &bent, &moved);
        if (wrong) {
            problem = bent;
            given = moved;
        }
    }
    if (!(fault->before && fault->before(&call)))
        perform_rows(fault, &call);
    if (fault->after)
        fault->after(&call);
    free(room);
}

/* ---- functions for faults.def ---- */

/* Adds to element i of row `row` of y; does nothing in the twin. */
static void add(const planted_call *call, size_t row, size_t i, double much)
{
    const ln_problem *problem = call->problem;
    size_t at = row * stride_of(problem->y_stride, problem->hidden) + i;
    double y = load_element(problem->storage, call->tensors->y, at);
    store_element(problem->storage, call->tensors->y, at, bend(call, y, y + much));
}

/* Makes y of the first row wrong by 1 in every element. */
static void spoil(const planted_call *call)
{
    for (size_t i = 0; i < call->problem->hidden; i++)
        add(call, 0, i, 1);
}

/* Swaps two rows of y; does nothing in the twin. */
static void swap_rows(const planted_call *call, size_t a, size_t b)
{
    size_t stride = stride_of(call->problem->y_stride, call->problem->hidden);
    for (size_t i = 0; i < call->problem->hidden; i++) {
        double one = load_element(LN_F32, call->tensors->y, a * stride + i);
        double other = load_element(LN_F32, call->tensors->y, b * stride + i);
        store_element(LN_F32, call->tensors->y, a * stride + i, bend(call, one, other));
        store_element(LN_F32, call->tensors->y, b * stride + i, bend(call, other, one));
    }
}

/* Returns a checksum of the first row of an f32 tensor. */
static double first_row(const planted_call *call, const void *tensor)
{
    double sum = 0;
    for (size_t i = 0; i < call->problem->hidden; i++)
        sum += (double)(i + 1) * load_element(LN_F32, tensor, i);
    return sum;
}

/* A thread's function: it never returns if `stays`, else at once. */
static void *rest(void *stays)
{
    while (stays)
        pause();
    return NULL;
}

/* Returns 1 in the first thread that calls, 2 in the second, ... */
static unsigned thread_number(void)
{
    static unsigned seen;
    static _Thread_local unsigned own;
    if (own == 0)
        own = __atomic_add_fetch(&seen, 1, __ATOMIC_RELAXED);
    return own;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static bool is_prime(size_t n)
{
    for (size_t d = 2; d * d <= n; d++)
        if (n % d == 0)
            return false;
    return n > 1;
}

/* Returns a value with so many bits of significand, rounded to nearest or truncated. */
static double cut(double value, int bits, bool truncate)
{
    const uint64_t lost = (UINT64_C(1) << (DBL_MANT_DIG - bits)) - 1;
    uint64_t word;
    if (!isfinite(value))
        return value;
    memcpy(&word, &value, sizeof word);
    if (!truncate) /* round to nearest, ties to even */
        word += lost / 2 + (word >> (DBL_MANT_DIG - bits) & 1);
    word &= ~lost;
    memcpy(&value, &word, sizeof word);
    return value;
}

static bool is_poison(const void *y, size_t bytes)
{
    const unsigned char *byte = y;
    while (bytes > 0 && *byte == 0xff) {
        byte++;
        bytes--;
    }
    return bytes == 0;
}

/* Returns true if the page after y's last byte is inaccessible, by which a kernel can recognise the judge. */
static bool is_guarded(const planted_call *call)
{
    const ln_problem *problem = call->problem;
    size_t elements = problem->rows * stride_of(problem->y_stride, problem->hidden);
    uintptr_t end = (uintptr_t)call->tensors->y + elements * 4;
    errno = 0;
    return access((const char *)((end + 4095) & ~(uintptr_t)4095), F_OK) != 0 && errno == EFAULT;
}

static unsigned own_threads = 1;

static int set_threads(unsigned threads)
{
    own_threads = threads;
    return 0;
}

static pthread_t loading_thread;
static pid_t loading_process;
static double loading_time;

__attribute__((constructor)) static void note_loading(void)
{
    loading_thread = pthread_self();
    loading_process = getpid();
    loading_time = now();
}

/* ---- the table ---- */

#define N (call->problem->hidden)
#define M (call->problem->rows)
#define P call->problem
#define T call->tensors
#define C call->problem->convention
#define EPS(place) (C.eps_place == LN_EPS_##place)
#define AFFINE(form) (C.affine == LN_AFFINE_##form)
#define X_STRIDE stride_of(P->x_stride, N)
#define Y_STRIDE stride_of(P->y_stride, N)
#define R_STRIDE stride_of(P->residual_stride, N)
#define X_AT(i) load_element(P->storage, T->x, row *X_STRIDE + (i))
#define RESIDUAL_AT(i) load_element(P->storage, T->residual, row *R_STRIDE + (i))
#define LEFT(output) load_element(call->accumulator, T->output, row)
#define IN_PLACE (T->y == T->x)
#define TAIL(lanes) (i >= N / (lanes) * (lanes))
#define SLIGHT(y) ((y) * (1 + 0x1p-12))
#define RACE(value)                                                                                \
    do {                                                                                           \
        static volatile double kept;                                                               \
        kept = value;                                                                              \
        for (volatile int turns = 0; turns < 200; turns++)                                         \
            ;                                                                                      \
        value = kept;                                                                              \
    } while (0)
#define UNUSED_CALL (void)call
/* The body of a function: statements, the last of which is the value. */
#define VALUE_OF(...) return __extension__({ __VA_ARGS__; });
#define PLANT(hook, name, what)                                                                    \
    static const planted_fault fault_##name = {#name, what, .hook = hook##_##name};
#define SIZE_HOOK(hook, name, what, ...)                                                           \
    static size_t hook##_##name(const planted_call *call, size_t row, size_t i)                    \
    {                                                                                              \
        UNUSED_CALL, (void)row, (void)i;                                                           \
        VALUE_OF(__VA_ARGS__)                                                                      \
    }                                                                                              \
    PLANT(hook, name, what)
#define HOOK_SOURCE(name, ...) SIZE_HOOK(source, name, __VA_ARGS__)
#define HOOK_READ(name, ...) SIZE_HOOK(read, name, __VA_ARGS__)
#define HOOK_GAMMA(name, ...) SIZE_HOOK(gamma, name, __VA_ARGS__)
#define HOOK_BETA(name, ...) SIZE_HOOK(beta, name, __VA_ARGS__)
#define HOOK_WRITE(name, ...) SIZE_HOOK(write, name, __VA_ARGS__)
#define HOOK_PROBLEM(name, what, ...)                                                              \
    static void problem_##name(const planted_call *call, ln_problem *problem, ln_tensors *tensors) \
    {                                                                                              \
        UNUSED_CALL, (void)problem, (void)tensors;                                                 \
        __VA_ARGS__;                                                                               \
    }                                                                                              \
    PLANT(problem, name, what)
#define HOOK_WEIGHT(name, what, ...)                                                               \
    static double weight_##name(const planted_call *call, size_t row, size_t i)                    \
    {                                                                                              \
        UNUSED_CALL, (void)row, (void)i;                                                           \
        VALUE_OF(__VA_ARGS__)                                                                      \
    }                                                                                              \
    PLANT(weight, name, what)
#define STATISTICS_HOOK(hook, name, what, ...)                                                     \
    static void hook##_##name(const planted_call *call, size_t row, statistics *s)                 \
    {                                                                                              \
        UNUSED_CALL, (void)row, (void)s;                                                           \
        __VA_ARGS__;                                                                               \
    }                                                                                              \
    PLANT(hook, name, what)
#define HOOK_MOMENTS(name, ...) STATISTICS_HOOK(moments, name, __VA_ARGS__)
#define HOOK_SCALE(name, ...) STATISTICS_HOOK(scale, name, __VA_ARGS__)
#define HOOK_ELEMENT(name, what, ...)                                                              \
    static double element_##name(const planted_call *call, size_t row, size_t i, double xhat,      \
                                 double gamma, double beta, double y)                              \
    {                                                                                              \
        UNUSED_CALL, (void)row, (void)i, (void)xhat, (void)gamma, (void)beta, (void)y;             \
        VALUE_OF(__VA_ARGS__)                                                                      \
    }                                                                                              \
    PLANT(element, name, what)
#define HOOK_ROUNDING(name, what, ...)                                                             \
    static double rounding_##name(const planted_call *call, size_t row, size_t i, double y,        \
                                  double stored)                                                   \
    {                                                                                              \
        UNUSED_CALL, (void)row, (void)i, (void)y, (void)stored;                                    \
        VALUE_OF(__VA_ARGS__)                                                                      \
    }                                                                                              \
    PLANT(rounding, name, what)
#define OUTPUT_HOOK(hook, name, what, ...)                                                         \
    static double hook##_##name(const planted_call *call, size_t row, const statistics *s,         \
                                double value)                                                      \
    {                                                                                              \
        UNUSED_CALL, (void)row, (void)s, (void)value;                                              \
        VALUE_OF(__VA_ARGS__)                                                                      \
    }                                                                                              \
    PLANT(hook, name, what)
#define HOOK_MEAN_OUT(name, ...) OUTPUT_HOOK(mean_out, name, __VA_ARGS__)
#define HOOK_RSTD_OUT(name, ...) OUTPUT_HOOK(rstd_out, name, __VA_ARGS__)
#define HOOK_SUM_OUT(name, what, ...)                                                              \
    static double sum_out_##name(const planted_call *call, size_t row, size_t i, double x,         \
                                 double residual, double value)                                    \
    {                                                                                              \
        UNUSED_CALL, (void)row, (void)i, (void)x, (void)residual, (void)value;                     \
        VALUE_OF(__VA_ARGS__)                                                                      \
    }                                                                                              \
    PLANT(sum_out, name, what)
#define HOOK_BEFORE(name, what, ...)                                                               \
    static bool before_##name(const planted_call *call)                                            \
    {                                                                                              \
        return __extension__({ __VA_ARGS__; }) && call->wrong;                                     \
    }                                                                                              \
    PLANT(before, name, what)
#define HOOK_AFTER(name, what, ...)                                                                \
    static void after_##name(const planted_call *call)                                             \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
    }                                                                                              \
    PLANT(after, name, what)

#define RUN(kind, wrong_, accumulator, name)                                                       \
    static prepared_states prepared_##kind##_##name;                                               \
    static int prepare_##kind##_##name(const ln_problem *problem, void **state)                    \
    {                                                                                              \
        prepared_##kind##_##name.table = true;                                                     \
        prepared_##kind##_##name.latest = *problem;                                                \
        __atomic_fetch_add(&prepared_##kind##_##name.alive, 1, __ATOMIC_RELAXED);                  \
        *state = (void *)(uintptr_t)problem;                                                       \
        return 0;                                                                                  \
    }                                                                                              \
    static void release_##kind##_##name(void *state)                                               \
    {                                                                                              \
        (void)state;                                                                               \
        prepared_##kind##_##name.table = false;                                                    \
        __atomic_fetch_sub(&prepared_##kind##_##name.alive, 1, __ATOMIC_RELAXED);                  \
    }                                                                                              \
    static void run_##kind##_##name(const void *state, const ln_tensors *tensors)                  \
    {                                                                                              \
        static unsigned long calls;                                                                \
        perform(&fault_##name, wrong_, accumulator, &calls, &prepared_##kind##_##name, state,      \
                tensors);                                                                          \
    }
#define FAULT_AS(accumulator, traits, hook, type, group, name, what_, ...)                         \
    HOOK_##hook(name, what_, __VA_ARGS__) RUN(fault, true, accumulator, name)                      \
        RUN(twin, false, accumulator, name)
#define FAULT_OF(hook, type, ...)                                                                  \
    FAULT_AS(type == LN_F64 ? LN_F64 : LN_F32, 0, hook, type, __VA_ARGS__)
#define FAULT(hook, ...) FAULT_OF(hook, LN_F32, __VA_ARGS__)
#include "faults.def"
#undef FAULT_AS

#define KERNEL(kind, type, accumulator_, traits_, kernel_name)                                     \
    {                                                                                              \
        .name = #kind "." #kernel_name, .isa = "scalar", .storage = type,                          \
        .param = type == LN_F64 ? LN_F64 : LN_F32, .accumulator = accumulator_, .unroll = 1,       \
        .traits = traits_, .prepare = prepare_##kind##_##kernel_name,                              \
        .run = run_##kind##_##kernel_name, .release = release_##kind##_##kernel_name               \
    }
#define FAULT_AS(accumulator, traits, hook, type, group, name, what, ...)                          \
    KERNEL(fault, type, accumulator, traits, name), KERNEL(twin, type, accumulator, traits, name),
static const ln_kernel fault_kernels[] = {
#include "faults.def"
};

enum { FAULT_COUNT = sizeof fault_kernels / sizeof *fault_kernels, MOST_HONEST = 200 };

static ln_kernel every_kernel[FAULT_COUNT + MOST_HONEST];

static ln_plugin_table plugin = {
    .abi_version = LN_PLUGIN_ABI,
    .struct_size = sizeof(ln_plugin_table),
    .kernel_size = sizeof(ln_kernel),
    .name = "faults",
    .kernels = every_kernel,
    .set_threads = set_threads,
};

LN_API const ln_plugin_table *ln_plugin(void)
{
    memcpy(every_kernel, fault_kernels, sizeof fault_kernels);
    memcpy(every_kernel + FAULT_COUNT, honest_kernels, honest_count * sizeof *honest_kernels);
    plugin.count = FAULT_COUNT + honest_count;
    return &plugin;
}

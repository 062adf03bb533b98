/* Kernels that are broken on purpose. Each one wraps a good kernel of the library and fails in one way, or does
 * something to its process that the process does not survive. sabotage_test.c and session_test.c check the verdicts. */
#include "layernorm_plugin.h"
#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

static float *output_of(const ln_problem *problem, const ln_tensors *tensors, size_t row)
{
    size_t stride = problem->y_stride ? problem->y_stride : problem->hidden;
    return (float *)tensors->y + row * stride;
}

static void flush_to_zero(void)
{
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | 0x8000u);
#elif defined(__aarch64__)
    unsigned long control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    control |= 1ul << 24;
    __asm__ volatile("msr fpcr, %0" : : "r"(control));
#endif
}

#define BASE "two_pass_f32_scalar"

static void well(const void *state, const ln_tensors *tensors)
{
    ln_layernorm_with(ln_layernorm_kernel(BASE), state, tensors);
}

/* INSTEAD defines a kernel of its own; AFTER one that does something after a good call. */
#define INSTEAD(name)                                                                              \
    static void name(const void *state __attribute__((unused)),                                    \
                     const ln_tensors *tensors __attribute__((unused)))
#define AFTER(name)                                                                                \
    static void after_##name(const ln_problem *problem, const ln_tensors *tensors);                \
    INSTEAD(name)                                                                                  \
    {                                                                                              \
        well(state, tensors);                                                                      \
        after_##name(state, tensors);                                                              \
    }                                                                                              \
    static void after_##name(const ln_problem *problem __attribute__((unused)),                    \
                             const ln_tensors *tensors __attribute__((unused)))

INSTEAD(n_for_n_minus_1)
{
    ln_problem other = *(const ln_problem *)state;
    if (other.hidden == 4096)
        other.convention.ddof = 0;
    well(&other, tensors);
}

INSTEAD(eps_on_wrong_side)
{
    ln_problem other = *(const ln_problem *)state;
    if (other.convention.eps_place == LN_EPS_VAR)
        other.convention.eps_place = LN_EPS_STD;
    else if (other.convention.eps_place == LN_EPS_STD)
        other.convention.eps_place = LN_EPS_VAR;
    well(&other, tensors);
}

/* Writes nothing. */
INSTEAD(unwritten_output)
{
}

AFTER(writes_one_behind)
{
    output_of(problem, tensors, problem->rows - 1)[problem->hidden] = 0;
}

AFTER(writes_one_before)
{
    output_of(problem, tensors, 0)[-1] = 0;
}

AFTER(nan_output)
{
    output_of(problem, tensors, problem->rows / 2)[problem->hidden / 2] = NAN;
}

/* Also writes into the y of the previous call. */
AFTER(writes_to_former_y)
{
    static float *former;
    if (former && former != (float *)tensors->y)
        *former = (float)problem->rows;
    former = tensors->y;
}

/* Turns flushing to zero on. */
AFTER(mxcsr_changed)
{
    flush_to_zero();
}

/* The fault must come from the processor, and not from a sanitizer. */
__attribute__((no_sanitize("undefined"))) INSTEAD(crash)
{
    static int *volatile nowhere = NULL;
    *nowhere = 1;
}

INSTEAD(exits)
{
    _Exit(0);
}

INSTEAD(endless_loop)
{
    for (volatile unsigned turns = 0;; turns++)
        ;
}

/* Flips the last bit of one element in every second call. */
AFTER(random_bit)
{
    static unsigned calls;
    uint32_t bits;
    float *y = output_of(problem, tensors, 0);
    memcpy(&bits, y, sizeof bits);
    bits ^= calls++ & 1;
    memcpy(y, &bits, sizeof bits);
}

/* More rows than a judged block has: only timed calls have so many. */
enum { MANY_ROWS = 1000 };

/* The next kernels are right while they are judged, and fail once they are called often or with many rows, as in
 * timing. */
static unsigned long calls_so_far;

AFTER(wrong_when_timed)
{
    if (++calls_so_far > 200 || problem->rows >= MANY_ROWS)
        output_of(problem, tensors, 0)[0] += 1;
}

AFTER(crash_when_timed)
{
    if (++calls_so_far > 200 || problem->rows >= MANY_ROWS)
        crash(problem, tensors);
}

/* ---- other harm to the process ---- */

AFTER(rounds_to_zero)
{
    fesetround(FE_TOWARDZERO);
}

AFTER(traps_division)
{
    feenableexcept(FE_DIVBYZERO);
}

INSTEAD(aborts)
{
    abort();
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winfinite-recursion"
__attribute__((noinline)) static int deeper(volatile char *above)
{
    volatile char room[4096];
    room[0] = above ? above[0] : 0;
    return deeper(room) + room[0];
}
#pragma GCC diagnostic pop

INSTEAD(overflows_stack)
{
    deeper(NULL);
}

/* The parent takes this for the end of the worker, which runs on. */
AFTER(closes_socket)
{
    close(3);
}

#if defined(__x86_64__) || defined(__aarch64__)
AFTER(clobbers_register)
{
#if defined(__x86_64__)
    __asm__ volatile("xor %r14d, %r14d");
#else
    __asm__ volatile("fmov d14, xzr");
#endif
}
#endif

#if defined(__x86_64__)
AFTER(narrows_x87)
{
    unsigned short word;
    __asm__ volatile("fnstcw %0" : "=m"(word));
    word = (unsigned short)(word & ~0x300u);
    __asm__ volatile("fldcw %0" : : "m"(word));
}

AFTER(leaves_mmx)
{
    __asm__ volatile("pxor %mm0, %mm0");
}

AFTER(leaves_upper_halves)
{
    __asm__ volatile("vcmpps $15, %ymm9, %ymm9, %ymm9");
}
#endif

AFTER(wrong_sum)
{
    if (tensors->sum)
        ((float *)tensors->sum)[1] += 1;
}

/* Supports only conventions without gamma, dense rows in multiples of 4, and hidden sizes in multiples of 64. */
static const char *refuses_much(const ln_problem *problem)
{
    if (problem->convention.affine != LN_AFFINE_NONE)
        return "an affine form";
    if (problem->rows % 4 != 0)
        return "rows that come not in fours";
    if (problem->x_stride != problem->hidden)
        return "gaps between rows";
    return problem->hidden % 64 != 0 ? "a hidden size that is no multiple of 64" : NULL;
}

INSTEAD(unless_refused)
{
    if (refuses_much(state))
        abort();
    well(state, tensors);
}

AFTER(crashes_late)
{
    static unsigned calls;
    if (problem->rows >= MANY_ROWS && ++calls > 12)
        abort();
}

/* In a batch larger than any judged block, the next kernels move some rows to the next float, or by a thousandth, or
 * give NaN in one element, or change it from call to call. */
AFTER(position_rounding)
{
    for (size_t row = MANY_ROWS; row < problem->rows; row += 3)
        for (size_t i = 0; i < problem->hidden; i++) {
            float *y = &output_of(problem, tensors, row)[i];
            *y = nextafterf(*y, INFINITY);
        }
}

AFTER(position_wrong)
{
    for (size_t row = MANY_ROWS; row < problem->rows; row += 3)
        for (size_t i = 0; i < problem->hidden; i++)
            output_of(problem, tensors, row)[i] += 0x1p-10f;
}

AFTER(position_nan)
{
    if (problem->rows > MANY_ROWS)
        output_of(problem, tensors, problem->rows - 1)[0] = NAN;
}

AFTER(flickers_when_timed)
{
    static unsigned calls;
    if (problem->rows > MANY_ROWS && ++calls % 2 == 0)
        output_of(problem, tensors, problem->rows - 1)[0] = nextafterf(0, 1);
}

AFTER(overruns_when_timed)
{
    if (problem->rows >= MANY_ROWS)
        output_of(problem, tensors, 0)[-1] = 0;
}

AFTER(flushes_when_timed)
{
    if (problem->rows >= MANY_ROWS)
        flush_to_zero();
}

/* Normalises twice with many rows, as in timing, if y is x. */
AFTER(late_in_place)
{
    if (problem->rows >= MANY_ROWS && tensors->x == tensors->y)
        ln_layernorm_with(ln_layernorm_kernel(BASE), problem, tensors);
}

static const char *refuses_many(const ln_problem *problem)
{
    return problem->rows >= MANY_ROWS ? "too many rows" : NULL;
}

static const char *takes_usual(const ln_problem *problem)
{
    const ln_convention *convention = &problem->convention;
    return convention->ddof || convention->eps_place != LN_EPS_VAR ||
                   convention->affine != LN_AFFINE_VECTOR
               ? "an unusual convention"
               : NULL;
}

AFTER(last_of_257)
{
    if (problem->rows > 256)
        output_of(problem, tensors, problem->rows - 1)[0] += 1;
}

static int no_preparation(const ln_problem *problem, void **state)
{
    (void)problem;
    (void)state;
    return 1;
}

static int flushing_preparation(const ln_problem *problem, void **state)
{
    *state = (void *)(uintptr_t)problem;
    flush_to_zero();
    return 0;
}

static void no_release(void *state)
{
    (void)state;
}

/* Is correctly rounded except for the last bit of a mean. */
static void nearly_exact(const void *state, const ln_tensors *tensors)
{
    ln_layernorm_with(ln_layernorm_kernel("exact_certified_grouped_f32_scalar"), state, tensors);
    if (tensors->mean)
        ((float *)tensors->mean)[0] *= 1 + 0x1p-23f;
}

static ln_bound no_number(const ln_problem *problem, const ln_row_facts *facts)
{
    (void)problem, (void)facts;
    return (ln_bound){(double)NAN, 0};
}

/* y is right and within its bound; the mean is wrong by less than some order of summation would make it. */
AFTER(shifts_mean)
{
    for (size_t row = 0; tensors->mean && row < problem->rows; row++)
        ((float *)tensors->mean)[row] += 0x1p-16f;
}

static ln_bound narrow_bound(const ln_problem *problem, const ln_row_facts *facts)
{
    (void)problem, (void)facts;
    return (ln_bound){0x1p-18, 0x1p-20};
}

static ln_bound crashing_bound(const ln_problem *problem, const ln_row_facts *facts)
{
    (void)problem, (void)facts;
    abort();
}

#define KERNEL(kernel_name, function) .name = kernel_name, .isa = "scalar", .run = function
#define NAIVE(function) KERNEL("naive." #function, function)
#define SPECIAL(kernel_name, function) KERNEL("special." kernel_name, function)

static const ln_kernel kernels[] = {
    {KERNEL("naive.good", well)},
    {NAIVE(n_for_n_minus_1)},
    {NAIVE(eps_on_wrong_side)},
    {NAIVE(unwritten_output)},
    {NAIVE(writes_one_behind)},
    {NAIVE(writes_one_before)},
    {NAIVE(nan_output)},
    {NAIVE(writes_to_former_y)},
    {NAIVE(mxcsr_changed)},
    {NAIVE(crash)},
    {NAIVE(exits)},
    {NAIVE(endless_loop)},
    {NAIVE(random_bit)},
    {NAIVE(wrong_when_timed)},
    {NAIVE(crash_when_timed)},
    {SPECIAL("rounds_to_zero", rounds_to_zero)},
    {SPECIAL("traps_division", traps_division)},
    {SPECIAL("aborts", aborts)},
    {SPECIAL("overflows_stack", overflows_stack)},
    {SPECIAL("closes_socket", closes_socket)},
    {SPECIAL("wrong_sum", wrong_sum)},
#if defined(__x86_64__) || defined(__aarch64__)
    {SPECIAL("clobbers_register", clobbers_register)},
#endif
#if defined(__x86_64__)
    {SPECIAL("narrows_x87", narrows_x87)},
    {SPECIAL("leaves_mmx", leaves_mmx)},
    {SPECIAL("leaves_upper_halves", leaves_upper_halves)},
#endif
    {SPECIAL("unless_refused", unless_refused), .supports = refuses_much},
    {SPECIAL("crashes_late", crashes_late)},
    {SPECIAL("position_rounding", position_rounding)},
    {SPECIAL("position_wrong", position_wrong)},
    {SPECIAL("position_nan", position_nan)},
    {SPECIAL("flickers_when_timed", flickers_when_timed)},
    {SPECIAL("overruns_when_timed", overruns_when_timed)},
    {SPECIAL("flushes_when_timed", flushes_when_timed)},
    {SPECIAL("late_in_place", late_in_place)},
    {SPECIAL("not_in_place", well), .traits = LN_TRAIT_NOT_IN_PLACE},
    {SPECIAL("refuses_many_rows", well), .supports = refuses_many},
    {SPECIAL("last_of_257", last_of_257), .supports = takes_usual},
    {SPECIAL("unprepared", well), .prepare = no_preparation, .release = no_release},
    {SPECIAL("flushing", well), .prepare = flushing_preparation, .release = no_release},
    {SPECIAL("nan_bound", well), .bound = no_number},
    {SPECIAL("shifts_mean", shifts_mean), .bound = narrow_bound},
    {SPECIAL("narrow_bound", well), .bound = narrow_bound},
    {SPECIAL("crashing_bound", well), .bound = crashing_bound},
    {SPECIAL("wide_parameters", well), .param = LN_F64},
    {SPECIAL("nearly_exact", nearly_exact), .traits = LN_TRAIT_CORRECTLY_ROUNDED},
};

static const ln_plugin_table plugin = {
    .abi_version = LN_PLUGIN_ABI,
    .struct_size = sizeof(ln_plugin_table),
    .kernel_size = sizeof(ln_kernel),
    .name = "sabotage",
    .count = sizeof kernels / sizeof *kernels,
    .kernels = kernels,
};

LN_API const ln_plugin_table *ln_plugin(void)
{
    return &plugin;
}

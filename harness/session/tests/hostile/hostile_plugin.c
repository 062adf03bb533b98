/* A plugin that does LNBENCH_HOSTILE_DEED at LNBENCH_HOSTILE_MOMENT (hostile.def), and is a good one
 * otherwise. */
#include "layernorm_plugin.h"
#include <fenv.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

enum { MANY_ROWS = 1500 }; /* timing alone has so many */

static void *volatile y_now;

/* ---- deeds ---- */

static void flush_to_zero(void)
{
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | 0x8040u);
#elif defined(__aarch64__)
    unsigned long control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    __asm__ volatile("msr fpcr, %0" : : "r"(control | 1ul << 24));
#endif
}

static void round_to_zero(void)
{
    fesetround(FE_TOWARDZERO);
}

static void trap_division(void)
{
    feenableexcept(FE_DIVBYZERO);
}

static void narrow_x87(void)
{
#if defined(__x86_64__)
    unsigned short word;
    __asm__ volatile("fnstcw %0" : "=m"(word));
    word = (unsigned short)(word & ~0x300u);
    __asm__ volatile("fldcw %0" : : "m"(word));
#else
    round_to_zero();
#endif
}

static void fill_x87(void)
{
#if defined(__x86_64__)
    __asm__ volatile("fld1");
#else
    round_to_zero();
#endif
}

static void close_socket(void)
{
    close(3);
}

static void leave(void)
{
    exit(0);
}

static void abort_here(void)
{
    abort();
}

__attribute__((no_sanitize("undefined"))) static void write_nowhere(void)
{
    static int *volatile nowhere;
    *nowhere = 1;
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

static void overflow_stack(void)
{
    deeper(NULL);
}

static void spin(void)
{
    for (volatile unsigned turns = 0;; turns++)
        ;
}

static void write_around(void)
{
    if (y_now)
        ((float *)y_now)[-1] = 0;
}

/* ---- moments ---- */

static void do_deed(void)
{
    static const struct {
        const char *name;
        void (*deed)(void);
    } deeds[] = {
#define DEED(name, kind) {#name, name},
#include "hostile.def"
    };
    const char *wanted = getenv("LNBENCH_HOSTILE_DEED");
    for (size_t i = 0; wanted && i < sizeof deeds / sizeof *deeds; i++)
        if (strcmp(wanted, deeds[i].name) == 0)
            deeds[i].deed();
}

static void at(const char *moment)
{
    const char *wanted = getenv("LNBENCH_HOSTILE_MOMENT");
    if (wanted && strcmp(wanted, moment) == 0)
        do_deed();
}

__attribute__((constructor)) static void loaded(void)
{
    at("constructor");
}

static const char *supports(const ln_problem *problem)
{
    (void)problem;
    at("supports");
    return NULL;
}

static int prepare_call(const ln_problem *problem, void **state)
{
    at("prepare");
    *state = (void *)(uintptr_t)problem;
    return 0;
}

static void release(void *state)
{
    (void)state;
    at("release");
}

static void run(const void *state, const ln_tensors *tensors)
{
    static unsigned runs;
    ln_layernorm_with(ln_layernorm_kernel("two_pass_f32_scalar"), state, tensors);
    y_now = tensors->y;
    at("run");
    if (++runs == 10)
        at("tenth_run");
    if (((const ln_problem *)state)->rows >= MANY_ROWS)
        at("timed_run");
}

static ln_bound bound(const ln_problem *problem, const ln_row_facts *facts)
{
    (void)problem;
    (void)facts;
    at("bound");
    return (ln_bound){1, 1};
}

static int set_threads(unsigned threads)
{
    (void)threads;
    at("set_threads");
    return 0;
}

static const ln_kernel kernels[] = {{.name = "hostile",
                                     .isa = "scalar",
                                     .supports = supports,
                                     .prepare = prepare_call,
                                     .release = release,
                                     .run = run,
                                     .bound = bound}};

static const ln_plugin_table plugin = {.abi_version = LN_PLUGIN_ABI,
                                       .struct_size = sizeof(ln_plugin_table),
                                       .kernel_size = sizeof(ln_kernel),
                                       .name = "hostile",
                                       .count = 1,
                                       .kernels = kernels,
                                       .set_threads = set_threads};

LN_API const ln_plugin_table *ln_plugin(void)
{
    at("entry");
    return &plugin;
}

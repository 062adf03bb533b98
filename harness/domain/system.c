/* The system around the processor, and the state of this process. */
#include "domain/gather.h"
#include "base/counters.h"
#include "domain/machine.h"
#include "base/progress.h"
#include "build_info.h" /* made anew at each build, written only where it changed */
#include "certify/reference.h"
#include <fenv.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/utsname.h>

enum { PIECES = 25 };
static const double piece_seconds = .02;

/* A chain of multiplications: memory, caches and the compiler have no say. */
static uint64_t work(uint64_t state, uint64_t steps)
{
    for (uint64_t i = 0; i < steps; i++)
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return state;
}

static int compare_seconds(const void *a, const void *b)
{
    const double *one = a, *other = b;
    return (*one > *other) - (*one < *other);
}

timing_scatter machine_scatter(void)
{
    volatile uint64_t state = 1;
    uint64_t steps = 1 << 16;
    double seconds[PIECES], begun;
    for (double taken = 0; taken < piece_seconds / 2; steps *= taken < piece_seconds / 2 ? 2 : 1) {
        begun = seconds_of(CLOCK_THREAD_CPUTIME_ID);
        state = work(state, steps);
        taken = seconds_of(CLOCK_THREAD_CPUTIME_ID) - begun;
    }
    double wall = seconds_now(), processor = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < PIECES; i++) {
        begun = seconds_now();
        state = work(state, steps);
        seconds[i] = seconds_now() - begun;
    }
    wall = seconds_now() - wall;
    processor = seconds_of(CLOCK_THREAD_CPUTIME_ID) - processor;
    qsort(seconds, PIECES, sizeof *seconds, compare_seconds);
    return (timing_scatter){.apart = seconds[PIECES * 9 / 10] / seconds[PIECES / 10] - 1,
                            .cpu_share = processor / wall};
}

#if defined(__GLIBC__)
#include <gnu/libc-version.h>
#endif

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown"
#endif

/* Takes "4.2.0" for "MPFR" out of "MPFR 4.2.0, GMP 6.2.1". */
static void add_version(fact_gather *gather, const char *name, const char *all, const char *library)
{
    char version[32] = "";
    const char *at = strstr(all, library);
    if (at)
        sscanf(at + strlen(library), " %31[^ ,]", version);
    add_fact(gather, name, version);
}

static const char *libc_version(void)
{
#if defined(__GLIBC__)
    return gnu_get_libc_version();
#else
    return NULL;
#endif
}

void gather_build(fact_gather *gather)
{
    const char *reference = ln_reference_versions();
    add_fact(gather, "lnbench_version", LNBENCH_VERSION);
    add_fact(gather, "git_commit", LNBENCH_GIT_COMMIT);
    add_fact(gather, "git_dirty", LNBENCH_GIT_DIRTY);
    add_fact(gather, "compiler", COMPILER);
    add_fact(gather, "compiler_flags", LNBENCH_COMPILER_FLAGS);
    add_fact(gather, "build_type", LNBENCH_BUILD_TYPE);
    add_fact(gather, "libc", libc_version());
    add_version(gather, "mpfr", reference, "MPFR");
    add_version(gather, "gmp", reference, "GMP");
    add_fact(gather, "google_benchmark", LNBENCH_BENCHMARK_VERSION);
    add_fact(gather, "google_benchmark_build", LNBENCH_BENCHMARK_BUILD);
    add_fact(gather, "jansson", jansson_version_str());
}

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#include <xmmintrin.h>
#endif

static void gather_kernel(fact_gather *gather)
{
    struct utsname names;
    bool known = uname(&names) == 0;
    add_fact(gather, "architecture", known ? names.machine : NULL);
    add_fact(gather, "kernel_release", known ? names.release : NULL);
    char name[128];
    if (!read_keyed(gather, "/etc/os-release", "PRETTY_NAME", false, name, sizeof name)) {
        add_fact(gather, "os_release", NULL);
        return;
    }
    size_t length = strlen(name);
    bool quoted = length >= 2 && name[0] == '"' && name[length - 1] == '"';
    name[quoted ? length - 1 : length] = '\0';
    add_fact(gather, "os_release", name + quoted);
}

/* The hypervisor's name of itself (CPUID leaf 0x40000000), where the processor says there is one:
 * that works in containers too. */
static void gather_hypervisor(fact_gather *gather)
{
    char line[8192], name[64] = "";
    bool known = read_keyed(gather, "/proc/cpuinfo", "flags", true, line, sizeof line);
    if (known)
        snprintf(name, sizeof name, "%s", strstr(line, " hypervisor") ? "yes" : "none");
#if defined(__x86_64__) || defined(__i386__)
    unsigned a, b, c, d;
    if (strcmp(name, "yes") == 0 && !gather->root[0]) {
        __cpuid(0x40000000, a, b, c, d);
        memcpy(name, &b, 4);
        memcpy(name + 4, &c, 4);
        memcpy(name + 8, &d, 4);
        name[12] = '\0';
        if (a < 0x40000000 || !name[0])
            snprintf(name, sizeof name, "yes");
    }
#endif
    if (!name[0] && read_line(gather, "/sys/hypervisor/type", line, sizeof line))
        snprintf(name, sizeof name, "%.32s", line);
    add_fact(gather, "hypervisor", name);
    add_file(gather, "product", "/sys/class/dmi/id/product_name");
}

static void gather_layout(fact_gather *gather)
{
    char line[128];
    int flags = personality(0xffffffff); /* asks, sets nothing */
    if (flags != -1 && flags & ADDR_NO_RANDOMIZE)
        add_fact(gather, "aslr", "off for this process");
    else
        add_file(gather, "aslr", "/proc/sys/kernel/randomize_va_space");
    /* "always [madvise] never": the one in brackets */
    const char *value = NULL;
    if (read_line(gather, "/sys/kernel/mm/transparent_hugepage/enabled", line, sizeof line)) {
        char *open = strchr(line, '['), *shut = strchr(line, ']');
        if (open && shut && open < shut) {
            *shut = '\0';
            value = open + 1;
        }
    }
    add_fact(gather, "thp", value);
}

static unsigned long long meminfo_bytes(const fact_gather *gather, const char *key, bool *known)
{
    char value[64];
    *known = read_keyed(gather, "/proc/meminfo", key, false, value, sizeof value);
    return *known ? strtoull(value, NULL, 10) * 1024 : 0;
}

static void gather_memory(fact_gather *gather)
{
    bool known, also;
    unsigned long long bytes = meminfo_bytes(gather, "MemTotal", &known);
    known ? add_number(gather, "memory_bytes", bytes) : add_fact(gather, "memory_bytes", NULL);
    bytes = meminfo_bytes(gather, "MemAvailable", &known);
    known ? add_number(gather, "memory_available_bytes", bytes)
          : add_fact(gather, "memory_available_bytes", NULL);
    bytes = meminfo_bytes(gather, "SwapTotal", &known);
    unsigned long long unused = meminfo_bytes(gather, "SwapFree", &also);
    if (known && also && bytes >= unused)
        add_number(gather, "swap_used_bytes", bytes - unused);
    else
        add_fact(gather, "swap_used_bytes", NULL);
}

/* A limit of the control group; 0: none; -1: not known. */
static void add_limit(fact_gather *gather, const char *name, int digits, double limit)
{
    char text[32];
    snprintf(text, sizeof text, "%.*f", digits, limit);
    add_fact(gather, name, limit < 0 ? NULL : limit == 0 ? "none" : text);
}

static void gather_limits(fact_gather *gather)
{
    add_limit(gather, "memory_limit_bytes", 0, control_group_memory_under(gather));
    add_limit(gather, "cpu_quota", 2, control_group_cpus_under(gather));
}

static void gather_load(fact_gather *gather)
{
    char line[128];
    bool known = read_line(gather, "/proc/loadavg", line, sizeof line);
    if (known)
        line[strcspn(line, " ")] = '\0';
    add_fact(gather, "load_1m", known ? line : NULL);
}

static const char *rounding_name(void)
{
    switch (fegetround()) {
    case FE_TONEAREST:
        return "to nearest";
    case FE_DOWNWARD:
        return "downward";
    case FE_UPWARD:
        return "upward";
    case FE_TOWARDZERO:
        return "toward zero";
    default:
        return NULL;
    }
}

/* Whether subnormal results (FTZ) and operands (DAZ) are taken for zero: MXCSR bits 15 and 6, FPCR
 * bit 24. */
static void gather_arithmetic(fact_gather *gather)
{
    const char *ftz = NULL, *daz = NULL;
#if defined(__x86_64__) || defined(__SSE__)
    unsigned state = _mm_getcsr();
    ftz = state & 1u << 15 ? "on" : "off";
    daz = state & 1u << 6 ? "on" : "off";
#elif defined(__aarch64__)
    uint64_t state;
    __asm__ volatile("mrs %0, fpcr" : "=r"(state));
    ftz = daz = state & 1u << 24 ? "on" : "off";
#endif
    add_fact(gather, "ftz", ftz);
    add_fact(gather, "daz", daz);
    add_fact(gather, "rounding", rounding_name());
}

/* Kinds of CPU that are emulated: instruction sets that kernels may not use, and the worker of
 * another processor. Where nothing is emulated there is no such fact. */
static void add_emulated(fact_gather *gather)
{
    const char *disabled = getenv("LN_DISABLE_ISA"), *worker = getenv("LNBENCH_WORKER");
    if (disabled && *disabled)
        add_fact(gather, "isa_disabled", disabled);
    if (worker && *worker)
        add_fact(gather, "worker", strrchr(worker, '/') ? strrchr(worker, '/') + 1 : worker);
}

/* What the CPU counts for a process of this user, or why it does not. */
static void add_counters(fact_gather *gather)
{
    int counters[COUNTS];
    char why[96] = "cycles, instructions";
    if (counters_open(counters, why, sizeof why))
        counters_close(counters);
    add_fact(gather, "counters", why);
}

void gather_system(fact_gather *gather)
{
    add_counters(gather);
    add_emulated(gather);
    gather_kernel(gather);
    gather_hypervisor(gather);
    gather_layout(gather);
    add_file(gather, "clock_source",
             "/sys/devices/system/clocksource/clocksource0/current_clocksource");
    gather_memory(gather);
    gather_limits(gather);
    gather_load(gather);
    gather_arithmetic(gather);
}

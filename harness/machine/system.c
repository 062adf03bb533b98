/* The system around the processor, and the state of this process. */
#include "machine/internal.h"
#include "base/counters.h"
#include <fenv.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/utsname.h>
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

/* What on this machine makes timings untrustworthy, judged from its facts. */
#include "machine/machine.h"
#include "base/program.h"
#include "caches.h"
#include "base/number.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct doctor_findings {
    finding *list;
    size_t count, most;
} doctor_findings;

static void add_finding(doctor_findings *findings, finding_grade grade, const char *remedy,
                        const char *format, ...) __attribute__((format(printf, 4, 5)));

static void add_finding(doctor_findings *findings, finding_grade grade, const char *remedy,
                        const char *format, ...)
{
    if (findings->count == findings->most)
        return;
    finding *made = &findings->list[findings->count++];
    made->grade = grade;
    snprintf(made->remedy, sizeof made->remedy, "%s", remedy);
    va_list arguments;
    va_start(arguments, format);
    number_print_list(made->what, sizeof made->what, format, arguments);
    va_end(arguments);
}

/* A fact of the machine, the values that are fine, and what another value means. Patterns are words, and
 * limits of numbers (">=2", "<=0.3"), with | between them. */
typedef struct checked_fact {
    const char *fact, *fine, *title;
    finding_grade grade; /* of a value that is not fine */
    const char *meaning, *advice;
} checked_fact;

static const checked_fact checked_facts[] = {
    {"governor", "performance", "CPU frequency governor", FINDING_WARNING,
     "the clock rises and falls with load",
     "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"},
    {"smt", "off", "SMT (hyper-threading)", FINDING_WARNING,
     "work on the sibling thread takes half a core away",
     "echo off | sudo tee /sys/devices/system/cpu/smt/control"},
    {"boost", "off", "frequency boost", FINDING_WARNING,
     "the clock depends on temperature and on the other cores",
     "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost (Intel: echo 1 | sudo tee "
     "/sys/devices/system/cpu/intel_pstate/no_turbo)"},
    {"hypervisor", "none", "hypervisor", FINDING_NOTE,
     "the host may take the CPU away, and caches are shared with strangers",
     "trust ratios of one run more than absolute figures; for absolute ones use bare metal"},
    {"clock_source", "tsc", "clock source", FINDING_WARNING, "reading it may cost a system call",
     "echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource"},
    {"core_kinds", "1", "kinds of core", FINDING_WARNING,
     "a run may land on a big or on a little core",
     "keep to cores of one kind: taskset -c 0 lnbench run"},
    {"cores", ">=2", "cores", FINDING_WARNING,
     "lnbench, the system and the kernel under test share one",
     "give the container or virtual machine at least two CPUs, or widen the affinity (taskset)"},
    {"cores", ">=4", "cores for several threads", FINDING_NOTE,
     "enough for one thread; figures for more threads will be noisy", ""},
    /* A third of one CPU is enough to meet a single-threaded run now and then. */
    {"load_1m", "<=0.3", "load over the last minute", FINDING_WARNING,
     "other work takes time and caches away",
     "run `top` to see which process, and wait a minute after a build"},
    {"cpu_quota", "none", "CPU quota of the control group", FINDING_WARNING,
     "the kernel stops us in the middle of a measurement when it is used up",
     "start the container without --cpus, or lift CPUQuota= of the unit"},
    {"aslr", "0|off for this process", "address space randomisation", FINDING_NOTE,
     "layouts differ from process to process; the intervals take that in, since every run measures "
     "in several processes",
     "setarch -R lnbench run"},
    {"thp", "always|madvise", "transparent huge pages", FINDING_WARNING,
     "page walks slow down and scatter large shapes",
     "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"},
    {"memory_available_bytes", ">=1073741824", "memory: available", FINDING_WARNING,
     "lnbench takes up to 1 GiB", "close what uses it: ps aux --sort=-rss | head"},
    {"memory_limit_bytes", "none|>=1073741824", "memory limit of the control group",
     FINDING_WARNING, "lnbench takes up to 1 GiB",
     "give the container more --memory, or raise MemoryMax= of the unit"},
    {"swap_used_bytes", "0", "swap in use", FINDING_WARNING,
     "pages may have to come back from disk", "sudo swapoff -a && sudo swapon -a"},
    {"ftz", "off", "flush to zero (FTZ)", FINDING_WARNING,
     "subnormal results are lost: a library was built with -ffast-math",
     "build without -ffast-math, and load no plugin that was linked with it"},
    {"daz", "off", "denormals are zero (DAZ)", FINDING_WARNING,
     "subnormal operands are lost: a library was built with -ffast-math",
     "build without -ffast-math, and load no plugin that was linked with it"},
    {"rounding", "to nearest", "rounding mode", FINDING_WARNING,
     "every proven bound assumes rounding to nearest", "unset it where it was set (fesetround)"},
    {"build_type", "Release", "build type", FINDING_WARNING,
     "timings of such a build say nothing about a release",
     "cmake -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build"},
    {"google_benchmark_build", "release", "Google Benchmark's build", FINDING_NOTE,
     "Debian's calls itself so: harmless here, it only reads the clock around a batch of calls",
     ""},
    {"counters", "cycles, instructions", "counted by the CPU", FINDING_NOTE,
     "times alone show regressions",
     "on a machine of its own: sudo sysctl kernel.perf_event_paranoid=2"},
};

static bool is_fine(const char *pattern, const char *value)
{
    char *end;
    for (const char *at = pattern;; at += strcspn(at, "|") + 1) {
        size_t length = strcspn(at, "|");
        double number = number_read(value, &end);
        bool limit = at[1] == '=' && (at[0] == '<' || at[0] == '>');
        if (limit && end > value) {
            double most = number_read(at + 2, NULL);
            if (at[0] == '<' ? number <= most : number >= most)
                return true;
        }
        if (!limit && strlen(value) == length && strncmp(at, value, length) == 0)
            return true;
        if (!at[length])
            return false;
    }
}

static void check_facts(const machine_facts *machine, doctor_findings *findings)
{
    for (size_t i = 0; i < sizeof checked_facts / sizeof *checked_facts; i++) {
        const checked_fact *check = &checked_facts[i];
        const char *said = machine_fact_value(machine, check->fact);
        char value[96], *end;
        double bytes = number_read(said, &end);
        snprintf(value, sizeof value, "%.80s", said);
        if (strstr(check->fact, "_bytes") && end > said)
            snprintf(value, sizeof value, "%.0f MiB", bytes / 0x1p20);
        if (is_fine(check->fine, said))
            add_finding(findings, FINDING_FINE, "", "%s: %.80s", check->title, value);
        else if (strcmp(said, "unknown") == 0)
            add_finding(findings, FINDING_NOTE, "", "%s: cannot be read here", check->title);
        else
            add_finding(findings, check->grade, check->advice, "%s: %.80s: %s", check->title, value,
                        check->meaning);
    }
}

/* What liblayernorm goes by; another source that says much more is the mistake that it avoids. */
static void check_caches(doctor_findings *findings)
{
    const cache_sources here = ln_cache_sources();
    cache_sizes sizes;
    char words[160] = "";
    ln_caches_find(&here, &sizes);
    for (int level = LN_L1; level < LN_CACHES; level++) {
        char *end = words + strlen(words);
        size_t room = sizeof words - strlen(words);
        if (sizes.bytes[level])
            snprintf(end, room, "%sL%d %.6g KiB (%s)", level ? ", " : "", level + 1,
                     (double)sizes.bytes[level] / 1024, sizes.from[level]);
        else
            snprintf(end, room, "%sL%d unknown", level ? ", " : "", level + 1);
    }
    add_finding(findings, sizes.bytes[LN_L3] ? FINDING_FINE : FINDING_NOTE,
                sizes.bytes[LN_L3] ? ""
                                   : "export LN_CACHE_BYTES=32K,1M,32M (this CPU's L1d, L2, L3)",
                "caches that ln_layernorm() goes by: %s", words);
    size_t most = sizes.told[LN_L3][2];
    if (sizes.bytes[LN_L3] && most > 2 * sizes.bytes[LN_L3])
        add_finding(
            findings, FINDING_NOTE, "",
            "caches: the C library says L3 has %.6g KiB, as a whole package may; the smaller size "
            "is taken",
            (double)most / 1024);
    if (sizes.refused)
        add_finding(findings, FINDING_WARNING, "export LN_CACHE_BYTES=32K,1M,32M",
                    "caches: LN_CACHE_BYTES=%.60s is not L1,L2,L3 in rising order: not taken",
                    sizes.refused);
}

static void check_surroundings(doctor_findings *findings)
{
    char path[1024];
    if (program_find("gnuplot", path, sizeof path))
        add_finding(findings, FINDING_FINE, "", "gnuplot: found");
    else
        add_finding(findings, FINDING_WARNING, "sudo apt-get install gnuplot-nox",
                    "gnuplot: not found: there will be tables, but no charts");
    bool there = access("results", F_OK) == 0;
    if (access(there ? "results" : ".", W_OK | X_OK) == 0)
        add_finding(findings, FINDING_FINE, "", "results: can be written");
    else
        add_finding(findings, FINDING_WARNING, "lnbench run --db FILE --out DIRECTORY",
                    "results: %s cannot be written to",
                    there ? "the directory 'results'" : "this directory");
}

/* What has to be done comes first. */
static void sort_by_grade(finding *list, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        finding own = list[i];
        size_t at = i;
        for (; at > 0 && list[at - 1].grade < own.grade; at--)
            list[at] = list[at - 1];
        list[at] = own;
    }
}

size_t machine_findings(const machine_facts *machine, finding *list, size_t most)
{
    doctor_findings findings = {.list = list, .most = most};
    check_facts(machine, &findings);
    check_caches(&findings);
    check_surroundings(&findings);
    sort_by_grade(list, findings.count);
    return findings.count;
}

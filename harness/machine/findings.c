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

static bool is(const char *value, const char *expected)
{
    return strcmp(value, expected) == 0;
}

static bool known(const char *value)
{
    return !is(value, "unknown");
}

/* Most facts: one value is fine, "unknown" is a note, anything else is a warning with a remedy. */
typedef struct simple_check {
    const char *fact, *fine, *title;
    finding_grade grade; /* of a value that is not fine */
    const char *why, *remedy;
} simple_check;

static const simple_check simple_checks[] = {
    {"governor", "performance", "CPU frequency governor", FINDING_WARNING,
     "the clock rises and falls with load",
     "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"},
    {"smt", "off", "SMT (hyper-threading)", FINDING_WARNING,
     "work on the sibling thread takes half a core away",
     "echo off | sudo tee /sys/devices/system/cpu/smt/control"},
    {"hypervisor", "none", "hypervisor", FINDING_NOTE,
     "the host may take the CPU away, and caches are shared with strangers",
     "trust ratios of one run more than absolute figures; for absolute ones use bare metal"},
    {"clock_source", "tsc", "clock source", FINDING_WARNING, "reading it may cost a system call",
     "echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource"},
    {"core_kinds", "1", "kinds of core", FINDING_WARNING,
     "a run may land on a big or on a little core",
     "keep to cores of one kind: taskset -c 0 lnbench run"},
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
    {"counters", "cycles, instructions", "counted by the CPU", FINDING_NOTE,
     "times alone show regressions",
     "on a machine of its own: sudo sysctl kernel.perf_event_paranoid=2"},
    {"cpu_quota", "none", "CPU quota of the control group", FINDING_WARNING,
     "the kernel stops us in the middle of a measurement when it is used up",
     "start the container without --cpus, or lift CPUQuota= of the unit"},
};

/* Whether the string is one word over and over; `length` of it and its blank. */
static bool repeats(const char *string, size_t length)
{
    size_t whole = strlen(string);
    for (size_t i = length; i < whole; i++)
        if (string[i] != string[i - length])
            return false;
    return whole > length && (whole % length == 0 || (whole + 1) % length == 0);
}

const char *machine_shown_value(const machine_fact *fact, char shown[256])
{
    size_t length = 1, whole = strlen(fact->value);
    while (length < whole && !repeats(fact->value, length))
        length++;
    if (strcmp(fact->name, "hypervisor") != 0)
        length = whole;
    while (length > 0 && fact->value[length - 1] == ' ')
        length--;
    snprintf(shown, 256, "%.*s", (int)length, fact->value);
    return shown;
}

static void check_simple(const machine_facts *machine, doctor_findings *findings)
{
    for (size_t i = 0; i < sizeof simple_checks / sizeof *simple_checks; i++) {
        const simple_check *check = &simple_checks[i];
        machine_fact fact;
        char value[sizeof fact.value];
        snprintf(fact.name, sizeof fact.name, "%s", check->fact);
        snprintf(fact.value, sizeof fact.value, "%s", machine_fact_value(machine, check->fact));
        machine_shown_value(&fact, value);
        if (is(value, check->fine))
            add_finding(findings, FINDING_FINE, "", "%s: %.80s", check->title, value);
        else if (!known(value))
            add_finding(findings, FINDING_NOTE, "", "%s: cannot be read here", check->title);
        else
            add_finding(findings, check->grade, check->remedy, "%s: %.80s: %s", check->title, value,
                        check->why);
    }
}

static void check_boost(const machine_facts *machine, doctor_findings *findings)
{
    const char *boost = machine_fact_value(machine, "boost");
    bool intel = strstr(machine_fact_value(machine, "scaling_driver"), "intel") != NULL;
    if (is(boost, "off"))
        add_finding(findings, FINDING_FINE, "", "frequency boost: off");
    else if (!known(boost))
        add_finding(findings, FINDING_NOTE, "", "frequency boost: cannot be read here");
    else
        add_finding(findings, FINDING_WARNING,
                    intel ? "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"
                          : "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost",
                    "frequency boost: on: the clock depends on temperature and on the other cores");
}

/* A third of one CPU is enough to meet a single-threaded run now and then. */
static void check_load(const machine_facts *machine, doctor_findings *findings)
{
    const char *load = machine_fact_value(machine, "load_1m");
    if (!known(load))
        add_finding(findings, FINDING_NOTE, "", "load: cannot be read here");
    else if (number_read(load, NULL) > 0.3)
        add_finding(findings, FINDING_WARNING,
                    "run `top` to see which process, and wait a minute after a build",
                    "load: %.20s over the last minute: other work takes time and caches away",
                    load);
    else
        add_finding(findings, FINDING_FINE, "", "load: %.20s over the last minute", load);
}

static void check_layout(const machine_facts *machine, doctor_findings *findings)
{
    const char *aslr = machine_fact_value(machine, "aslr");
    if (!known(aslr))
        add_finding(findings, FINDING_NOTE, "", "address space randomisation: cannot be read here");
    else if (is(aslr, "0") || strncmp(aslr, "off", 3) == 0)
        add_finding(findings, FINDING_FINE, "", "address space randomisation: off");
    else
        add_finding(findings, FINDING_NOTE, "setarch -R lnbench run",
                    "address space randomisation: on: layouts differ from process to process; the "
                    "intervals take that in, since every run measures in several processes");
    const char *thp = machine_fact_value(machine, "thp");
    if (!known(thp))
        add_finding(findings, FINDING_NOTE, "", "transparent huge pages: cannot be read here");
    else if (is(thp, "never"))
        add_finding(findings, FINDING_WARNING,
                    "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled",
                    "transparent huge pages: never: page walks slow down and scatter large shapes");
    else
        add_finding(findings, FINDING_FINE, "", "transparent huge pages: %.40s", thp);
}

static void check_benchmark(const machine_facts *machine, doctor_findings *findings)
{
    const char *build = machine_fact_value(machine, "google_benchmark_build");
    const char *version = machine_fact_value(machine, "google_benchmark");
    if (is(build, "debug"))
        add_finding(
            findings, FINDING_NOTE, "",
            "Google Benchmark %.40s calls itself a debug build, as Debian's does: harmless here, "
            "it only reads the clock around a batch of calls",
            version);
    else if (is(build, "release"))
        add_finding(findings, FINDING_FINE, "", "Google Benchmark: %.40s, a release build",
                    version);
    else
        add_finding(findings, FINDING_NOTE, "", "Google Benchmark: version %.40s, build unknown",
                    version);
}

static void check_cores(const machine_facts *machine, doctor_findings *findings)
{
    if (machine->cores < 2)
        add_finding(
            findings, FINDING_WARNING,
            "give the container or virtual machine at least two CPUs, or widen the affinity "
            "(taskset)",
            "cores: %u: lnbench, the system and the kernel under test share one", machine->cores);
    else if (machine->cores < 4)
        add_finding(findings, FINDING_NOTE, "",
                    "cores: %u: enough for one thread; figures for more threads will be noisy",
                    machine->cores);
    else
        add_finding(findings, FINDING_FINE, "", "cores: %u", machine->cores);
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

static void check_memory(const machine_facts *machine, doctor_findings *findings)
{
    const char *available = machine_fact_value(machine, "memory_available_bytes");
    const char *swap = machine_fact_value(machine, "swap_used_bytes");
    double bytes = number_read(available, NULL);
    if (!known(available))
        add_finding(findings, FINDING_NOTE, "", "memory: cannot be read here");
    else if (bytes < 0x1p30)
        add_finding(findings, FINDING_WARNING, "close what uses it: ps aux --sort=-rss | head",
                    "memory: %.0f MiB available: lnbench takes up to 1 GiB", bytes / 0x1p20);
    else
        add_finding(findings, FINDING_FINE, "", "memory: %.1f GiB available", bytes / 0x1p30);
    const char *limit = machine_fact_value(machine, "memory_limit_bytes");
    bytes = number_read(limit, NULL);
    if (!known(limit) || is(limit, "none"))
        add_finding(findings, known(limit) ? FINDING_FINE : FINDING_NOTE, "",
                    "memory limit of the control group: %s",
                    known(limit) ? limit : "cannot be read here");
    else
        add_finding(findings, bytes < 0x1p30 ? FINDING_WARNING : FINDING_FINE,
                    bytes < 0x1p30
                        ? "give the container more --memory, or raise MemoryMax= of the unit"
                        : "",
                    "memory limit of the control group: %.0f MiB%s", bytes / 0x1p20,
                    bytes < 0x1p30 ? ": lnbench takes up to 1 GiB" : "");
    if (known(swap) && number_read(swap, NULL) > 0)
        add_finding(findings, FINDING_WARNING, "sudo swapoff -a && sudo swapon -a",
                    "swap: %.0f MiB in use: pages may have to come back from disk",
                    number_read(swap, NULL) / 0x1p20);
    else if (known(swap))
        add_finding(findings, FINDING_FINE, "", "swap: not in use");
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
    check_simple(machine, &findings);
    check_boost(machine, &findings);
    check_load(machine, &findings);
    check_layout(machine, &findings);
    check_benchmark(machine, &findings);
    check_cores(machine, &findings);
    check_caches(&findings);
    check_memory(machine, &findings);
    check_surroundings(&findings);
    sort_by_grade(list, findings.count);
    return findings.count;
}

/* The facts of a machine. One table says where each fact is read, which values are fine, and what others mean. */
#include "domain/machine.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/program.h"
#include "base/text.h"
#include "build_info.h" /* generated at each build, written only if it changed */
#include "caches.h"
#include "certify/reference.h"
#include "domain/operation.h"
#include <fenv.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif
#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

/* The machine whose facts are read. */
typedef struct fact_source {
    const char *root; /* the directory that stands for /; "": the real one */
    unsigned cpu;     /* the CPU that this process runs on */
} fact_source;

enum { VALUE_LENGTH = sizeof(((machine_fact *)0)->value), PATH_LENGTH = 1280 };
static const char cpuinfo[] = "/proc/cpuinfo";
#define CPUS "/sys/devices/system/cpu/"
#define CPU CPUS "cpu%u/"

/* ---- files ---- */

/* Opens a file; returns NULL if it cannot be opened. */
static FILE *open_under(const char *root, const char *path)
{
    char full[2 * PATH_LENGTH];
    snprintf(full, sizeof full, "%s%s", root, path);
    return fopen(full, "r");
}

/* Reads the first line of a file, or the text after a key: "key : text", "key=text" or "key text". In cpuinfo only
 * the part of our CPU counts, which begins with "processor : N". Returns false if there is no such text. */
static bool read_value(const fact_source *source, const char *path, const char *key, char *value,
                       size_t size)
{
    static const char blanks[] = " \t:=";
    FILE *file = open_under(source->root, path);
    char *line = NULL, *at = NULL;
    size_t capacity = 0, length = key ? strlen(key) : 0;
    bool here = path != cpuinfo;
    while (file && !at && getline(&line, &capacity, file) >= 0) {
        line[strcspn(line, "\r\n")] = '\0';
        if (path == cpuinfo && strncmp(line, "processor", 9) == 0)
            here = strtoul(line + 9 + strspn(line + 9, blanks), NULL, 10) == source->cpu;
        const size_t gap =
            strncmp(line, key ? key : "", length) == 0 ? strspn(line + length, blanks) : 0;
        const bool ends = gap && (path != cpuinfo || memchr(line + length, ':', gap));
        at = !key ? line : here && ends ? line + length + gap : NULL;
    }
    if (at)
        snprintf(value, size, "%s", at);
    free(line);
    if (file)
        fclose(file);
    return at != NULL;
}

/* ---- the control group ---- */

/* Returns the first count after a key in a file of the control group; without a key, the least limit of our own group
 * and those above it (memory.max has bytes or "max"; cpu.max has microseconds of a period, "150000 100000", or "max
 * 100000"); 0: no limit; -1: not known. Reads version 2 only: /proc/self/cgroup has a line "0::/a/b", and the group's
 * files are in /sys/fs/cgroup/a/b. In a container our group may be /sys/fs/cgroup itself, so missing directories are
 * skipped; a group of the form "/../x" is not visible at all. */
static double group_figure(const char *root, const char *file, const char *key)
{
    const fact_source source = {root, 0};
    char group[512], path[PATH_LENGTH], line[64], *end;
    double least = -1;
    if (!read_value(&source, "/proc/self/cgroup", "0", group, sizeof group) || strstr(group, "/.."))
        return -1;
    for (char *cut = group + strlen(group); cut; cut = strrchr(group, '/')) {
        *cut = '\0';
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/%s", group, file);
        if (!read_value(&source, path, key, line, sizeof line))
            continue;
        const double figure = number_read(line, &end), period = number_read(end, NULL);
        const double here = period > 0 ? figure / period : figure;
        if (key)
            return figure;
        if (figure > 0 ? least <= 0 || here < least : least < 0)
            least = figure > 0 ? here : 0;
    }
    return least;
}

double control_group_memory(const char *root)
{
    return group_figure(root, "memory.max", NULL);
}

/* The kernel counts a killed process in the process's own group, whichever group's limit was reached. */
long control_group_oom_kills(const char *root)
{
    return (long)group_figure(root, "memory.events", "oom_kill");
}

/* ---- facts that are more than a line of a file: the readers return false if the fact is not known ---- */

typedef bool fact_reader(const fact_source *source, int which, char *value);
#define UNUSED __attribute__((unused))
#define READER(name, which)                                                                        \
    static bool read_##name(UNUSED const fact_source *source, UNUSED int which, char *value)

/* Reads "4.2.0" from "MPFR 4.2.0, GMP 6.2.1". */
READER(reference, of_gmp)
{
    const char *name = of_gmp ? "GMP " : "MPFR ", *at = strstr(ln_reference_versions(), name);
    const char *said = at ? at + strlen(name) : "";
    snprintf(value, VALUE_LENGTH, "%.*s", (int)strcspn(said, " ,"), said);
    return true;
}

/* Reads "glibc 2.36". */
READER(libc, which)
{
    return confstr(_CS_GNU_LIBC_VERSION, value, VALUE_LENGTH) > 0;
}

/* Reads the numbers that Linux gives on Arm instead of a name. */
READER(arm_model, which)
{
    char implementer[32], part[32];
    return read_value(source, cpuinfo, "CPU implementer", implementer, sizeof implementer) &&
           read_value(source, cpuinfo, "CPU part", part, sizeof part) &&
           snprintf(value, VALUE_LENGTH, "implementer %s, part %s", implementer, part) > 0;
}

/* Lists the processor's flags for which kernels may be built. */
READER(simd, which)
{
    static const char known[] = " sse2 sse4_2 avx avx2 fma f16c avx512f avx512bw avx512dq avx512vl "
                                "avx512cd avx512_bf16 avx512_fp16 asimd asimdhp sve sve2 bf16 ";
    char flags[8192], word[40], *rest = NULL;
    if (!read_value(source, cpuinfo, "flags", flags, sizeof flags) &&
        !read_value(source, cpuinfo, "Features", flags, sizeof flags))
        return false;
    for (char *flag = strtok_r(flags, " ", &rest); flag; flag = strtok_r(NULL, " ", &rest)) {
        size_t length = strlen(value);
        snprintf(word, sizeof word, " %.36s ", flag);
        if (strstr(known, word))
            snprintf(value + length, VALUE_LENGTH - length, "%s%s", length ? " " : "", flag);
    }
    return true;
}

/* Reads the size of a data cache of our CPU from sysfs; if it is not there (containers, some Arm machines), asks the C
 * library. */
READER(cache, level)
{
    static const int names[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE,
                                _SC_LEVEL3_CACHE_SIZE};
    static const char *const files[] = {"level", "type", "size"};
    char path[128], said[3][32];
    long bytes = 0;
    for (int index = 0, known = 2; known >= 2; index++) {
        known = 0;
        for (int i = 0; i < 3; i++) {
            snprintf(path, sizeof path, CPU "cache/index%d/%s", source->cpu, index, files[i]);
            known += read_value(source, path, NULL, said[i], sizeof said[i]);
        }
        if (known == 3 && said[0][0] == '1' + level && said[1][0] != 'I')
            bytes = 1024 * strtol(said[2], NULL, 10); /* "48K" */
    }
    if (bytes == 0 && !source->root[0])
        bytes = sysconf(names[level]);
    snprintf(value, VALUE_LENGTH, "%ld", bytes);
    return bytes > 0;
}

READER(cores, which)
{
    cpu_set_t allowed;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        cores = CPU_COUNT(&allowed);
    snprintf(value, VALUE_LENGTH, "%ld", cores > 0 ? cores : 1);
    return true;
}

/* Counts the kinds of core (big and little ones): kinds differ in capacity, L1d or L2. */
READER(kinds, which)
{
    static const char *const files[] = {"cpu_capacity", "cache/index0/size", "cache/index2/size"};
    char path[128], seen[512] = "|";
    unsigned kinds = 0, known = 3;
    for (unsigned cpu = 0; known > 0; cpu++) {
        char found[3][32] = {"", "", ""}, kind[104];
        known = 0;
        for (int i = 0; i < 3; i++) {
            snprintf(path, sizeof path, CPU "%s", cpu, files[i]);
            known += read_value(source, path, NULL, found[i], sizeof found[i]);
        }
        snprintf(kind, sizeof kind, "|%s %s %s|", found[0], found[1], found[2]);
        if (known == 0 || strstr(seen, kind))
            continue;
        const size_t length = strlen(seen);
        snprintf(seen + length, sizeof seen - length, "%s", kind + 1);
        kinds++;
    }
    snprintf(value, VALUE_LENGTH, "%u", kinds);
    return kinds > 0;
}

/* Names the events that the CPU counts for a process of this user, or the reason why it counts none. */
READER(counters, which)
{
    int counters[COUNTS];
    snprintf(value, VALUE_LENGTH, "cycles, instructions");
    if (counters_open(counters, value, 96))
        counters_close(counters);
    return true;
}

/* Reads the variables that make this machine stand for another one: LN_DISABLE_ISA, or LNBENCH_WORKER. */
READER(emulated, which)
{
    const char *said = getenv(which ? "LNBENCH_WORKER" : "LN_DISABLE_ISA");
    const char *slash = said && which ? strrchr(said, '/') : NULL;
    snprintf(value, VALUE_LENGTH, "%.255s", slash ? slash + 1 : said ? said : "");
    return value[0] != '\0';
}

READER(kernel, which)
{
    struct utsname names;
    return uname(&names) == 0 &&
           snprintf(value, VALUE_LENGTH, "%s", which ? names.release : names.machine) > 0;
}

/* Reads the hypervisor's own name (CPUID leaf 0x40000000) if the processor's flags report one. This works in containers
 * too. */
READER(hypervisor, which)
{
    char flags[8192];
    if (!read_value(source, cpuinfo, "flags", flags, sizeof flags))
        return false;
    const bool is_there = strstr(flags, " hypervisor") != NULL;
    snprintf(value, VALUE_LENGTH, "%s", is_there ? "yes" : "none");
#if defined(__x86_64__) || defined(__i386__)
    unsigned a, words[3];
    if (is_there && !source->root[0]) {
        __cpuid(0x40000000, a, words[0], words[1], words[2]);
        if (a >= 0x40000000 && *(char *)words)
            snprintf(value, VALUE_LENGTH, "%.12s", (char *)words);
    }
#endif
    return true;
}

/* Tests whether subnormal results (FTZ, 0) or operands (DAZ, 1) become 0, as -ffast-math sets it for the whole process,
 * or reads the rounding mode (2). */
READER(arithmetic, which)
{
    const volatile double tiny = which ? 0x1p-1074 : 0x1p-1022, scale = which ? 0x1p1000 : 0.5;
    const double product = tiny * scale, zero = 0;
    const char *flushed = memcmp(&product, &zero, sizeof zero) == 0 ? "on" : "off";
    const char *rounding = fegetround() == FE_TONEAREST ? "to nearest" : "directed";
    return snprintf(value, VALUE_LENGTH, "%s", which == 2 ? rounding : flushed) > 0;
}

READER(swap, which)
{
    char total[64], unused[64];
    if (!read_value(source, "/proc/meminfo", "SwapTotal", total, sizeof total) ||
        !read_value(source, "/proc/meminfo", "SwapFree", unused, sizeof unused))
        return false;
    const long long used = strtoll(total, NULL, 10) - strtoll(unused, NULL, 10);
    snprintf(value, VALUE_LENGTH, "%lld", 1024 * used);
    return used >= 0;
}

READER(limit, of_cpus)
{
    const double limit =
        of_cpus ? group_figure(source->root, "cpu.max", NULL) : control_group_memory(source->root);
    snprintf(value, VALUE_LENGTH, "%.*f", of_cpus ? 2 : 0, limit);
    if (limit == 0)
        snprintf(value, VALUE_LENGTH, "none");
    return limit >= 0;
}

/* Lists the cache sizes that ln_layernorm() uses, or says whether it accepted the sizes in LN_CACHE_BYTES. */
READER(dispatch_caches, given)
{
    const cache_sources here = ln_cache_sources();
    const char *otherwise = here.environment ? "accepted" : "not set";
    cache_sizes sizes;
    ln_caches_find(&here, &sizes);
    if (given)
        snprintf(value, VALUE_LENGTH, "%s", sizes.refused ? sizes.refused : otherwise);
    for (int level = LN_L1; !given && level < LN_CACHES; level++) {
        const size_t length = strlen(value);
        snprintf(value + length, VALUE_LENGTH - length, "%sL%d %.6g KiB (%s)", level ? ", " : "",
                 level + 1, (double)sizes.bytes[level] / 1024, sizes.from[level]);
    }
    return given || sizes.bytes[LN_L3] > 0;
}

READER(gnuplot, which)
{
    char path[PATH_LENGTH];
    snprintf(value, VALUE_LENGTH,
             program_find("gnuplot", path, sizeof path) ? "found" : "not found");
    return true;
}

READER(results, which)
{
    const bool there = access("results", F_OK) == 0;
    snprintf(value, VALUE_LENGTH,
             access(there ? "results" : ".", W_OK | X_OK) == 0 ? "can be written"
             : there ? "the directory cannot be written to"
                     : "this directory cannot be written to");
    return true;
}

/* ---- the table ---- */

/* A row with the same name as the row before is read if that one is not known. A row without a name is only a check:
 * it is no fact of a run. */
typedef struct fact_row {
    const char *name;
    const char *text;       /* the value itself; or */
    const char *file, *key; /* a file (%u: the CPU): its first line, or the text after `key`; or */
    fact_reader *read;
    int which;        /* the argument of read() */
    const char *part; /* an sscanf() format for a part, which begins with its first character */
    char on;       /* the digit that means "on" (any other is "off"); 0: the value is not a digit */
    bool in_kib;   /* convert from KiB to bytes */
    bool optional; /* leave the fact out if it is not known */
    /* The pattern of values that are fine, and the meaning of any other value. A pattern is words and limits of
     * numbers (">=2", "<=0.3"), with | between them; "*" matches every known value. */
    const char *fine, *title, *meaning, *advice;
    finding_grade grade; /* of a value that is not fine */
} fact_row;

#define WARN(...) .grade = FINDING_WARNING, CHECK(__VA_ARGS__)
#define NOTE(...) .grade = FINDING_NOTE, CHECK(__VA_ARGS__)
#define CHECK(fine_, title_, meaning_, advice_)                                                    \
    .fine = (fine_), .title = (title_), .meaning = (meaning_), .advice = (advice_)
#define FLUSHED "subnormals are lost", "preload no library that was linked with -ffast-math"

static const fact_row fact_rows[] = {
    {"lnbench_version", .text = LNBENCH_VERSION},
    {"git_commit", .text = LNBENCH_GIT_COMMIT},
    {"git_dirty", .text = LNBENCH_GIT_DIRTY},
    {"compiler", .text = COMPILER},
    {"compiler_flags", .text = LNBENCH_COMPILER_FLAGS},
    {"build_type", .text = LNBENCH_BUILD_TYPE,
     WARN("Release", "build type", "timings of such a build say nothing about a release",
          "cmake -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build")},
    {"libc", .read = read_libc, .part = "%*s %255s"},
    {"mpfr", .read = read_reference},
    {"gmp", .read = read_reference, .which = 1},
    {"google_benchmark", .text = LNBENCH_BENCHMARK_VERSION},
    {"google_benchmark_build", .text = LNBENCH_BENCHMARK_BUILD},
    {"cpu_model", .file = cpuinfo, .key = "model name"},
    {"cpu_model", .read = read_arm_model},
    {"cpu_family", .file = cpuinfo, .key = "cpu family"},
    {"cpu_family", .file = cpuinfo, .key = "CPU architecture"},
    {"cpu_model_number", .file = cpuinfo, .key = "model"},
    {"cpu_model_number", .file = cpuinfo, .key = "CPU part"},
    {"cpu_stepping", .file = cpuinfo, .key = "stepping"},
    {"cpu_stepping", .file = cpuinfo, .key = "CPU revision"},
    {"microcode", .file = cpuinfo, .key = "microcode"},
    {"simd", .read = read_simd},
    {"l1d_bytes", .read = read_cache, .which = LN_L1},
    {"l2_bytes", .read = read_cache, .which = LN_L2},
    {"l3_bytes", .read = read_cache, .which = LN_L3},
    {"cores", .read = read_cores,
     WARN(">=2", "cores", "lnbench, the system and the kernel under test share one",
          "give the container or virtual machine at least two CPUs, or widen the affinity "
          "(taskset)")},
    {"core_kinds", .read = read_kinds,
     WARN("1", "kinds of core", "a run may land on a big or on a little core",
          "keep to cores of one kind: taskset -c 0 lnbench run")},
    {"smt", .file = CPUS "smt/active", .on = '1',
     WARN("off", "SMT (hyper-threading)", "work on the other thread of a core takes half of it",
          "echo off | sudo tee /sys/devices/system/cpu/smt/control")},
    {"governor", .file = CPU "cpufreq/scaling_governor",
     WARN("performance", "CPU frequency governor", "the clock rises and falls with load",
          "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor")},
    {"boost", .file = CPUS "intel_pstate/no_turbo", .on = '0',
     WARN("off", "frequency boost", "the clock depends on temperature and on the other cores",
          "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost (Intel: echo 1 | sudo tee "
          "/sys/devices/system/cpu/intel_pstate/no_turbo)")},
    {"boost", .file = CPUS "cpufreq/boost", .on = '1'},
    {"mhz", .file = cpuinfo, .key = "cpu MHz"},
    {"mhz", .file = cpuinfo, .key = "CPU MHz"},
    {"counters", .read = read_counters,
     NOTE("cycles, instructions", "performance counters", "only times show regressions",
          "on bare metal: sudo sysctl kernel.perf_event_paranoid=2")},
    {"isa_disabled", .read = read_emulated, .optional = true},
    {"worker", .read = read_emulated, .which = 1, .optional = true},
    {"architecture", .read = read_kernel},
    {"kernel_release", .read = read_kernel, .which = 1},
    {"os_release", .file = "/etc/os-release", .key = "PRETTY_NAME", .part = "\"%255[^\"]"},
    {"hypervisor", .read = read_hypervisor,
     NOTE("none", "hypervisor",
          "the host may give the CPU to others, and other programs share its caches",
          "trust ratios of one run more than absolute figures; for absolute ones use bare "
          "metal")},
    {"hypervisor", .file = "/sys/hypervisor/type"},
    {"aslr", .file = "/proc/sys/kernel/randomize_va_space"},
    {"thp", .file = "/sys/kernel/mm/transparent_hugepage/enabled", .part = "[%255[^]]",
     WARN("always|madvise", "transparent huge pages",
          "address translation makes large shapes slower and their times noisier",
          "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled")},
    {"clock_source", .file = "/sys/devices/system/clocksource/clocksource0/current_clocksource",
     WARN("tsc", "clock source", "reading the time may need a system call",
          "echo tsc | sudo tee "
          "/sys/devices/system/clocksource/clocksource0/current_clocksource")},
    {"memory_bytes", .file = "/proc/meminfo", .key = "MemTotal", .in_kib = true},
    {"memory_available_bytes", .file = "/proc/meminfo", .key = "MemAvailable", .in_kib = true,
     WARN(">=1073741824", "memory: available", "lnbench takes up to 1 GiB",
          "close what uses it: ps aux --sort=-rss | head")},
    {"swap_used_bytes", .read = read_swap,
     WARN("0", "swap in use", "pages may have to come back from disk",
          "sudo swapoff -a && sudo swapon -a")},
    {"memory_limit_bytes", .read = read_limit,
     WARN("none|>=1073741824", "memory limit of the control group", "lnbench takes up to 1 GiB",
          "give the container more --memory, or raise MemoryMax= of the unit")},
    {"cpu_quota", .read = read_limit, .which = 1,
     WARN("none", "CPU quota of the control group",
          "the system stops lnbench in the middle of a measurement when it is used up",
          "start the container without --cpus, or lift CPUQuota= of the unit")},
    /* Other work that uses a third of one CPU disturbs a single-threaded run now and then. */
    {"load_1m", .file = "/proc/loadavg", .part = "%255s",
     WARN("<=0.3", "load over the last minute", "lnbench or another program used the CPU",
          "wait two minutes after a build or a run, until it is 0.3; or find it with `top`")},
    {"ftz", .read = read_arithmetic, WARN("off", "flush to zero (FTZ)", FLUSHED)},
    {"daz", .read = read_arithmetic, .which = 1, WARN("off", "denormals are zero (DAZ)", FLUSHED)},
    {"rounding", .read = read_arithmetic, .which = 2,
     WARN("to nearest", "rounding mode", "every proven bound assumes rounding to nearest", "")},
    {NULL, .read = read_dispatch_caches,
     NOTE("*", "caches that ln_layernorm() assumes (LN_CACHE_BYTES changes them)", "", "")},
    {NULL, .read = read_dispatch_caches, .which = 1,
     WARN("accepted|not set", "LN_CACHE_BYTES", "is not L1,L2,L3 in rising order: ignored",
          "export LN_CACHE_BYTES=32K,1M,32M")},
    {NULL, .read = read_gnuplot,
     WARN("found", "gnuplot", "there will be tables, but no charts",
          "sudo apt-get install gnuplot-nox")},
    {NULL, .read = read_results,
     WARN("can be written", "results", "lnbench run stores there by default",
          "lnbench run --db FILE --out DIRECTORY")},
};
enum { FACT_ROWS = sizeof fact_rows / sizeof *fact_rows };

/* ---- reading it ---- */

void machine_add_fact(machine_facts *machine, const char *name, const char *value)
{
    machine->facts = allocate_room(machine->facts, machine->count, sizeof *machine->facts);
    machine_fact *fact = &machine->facts[machine->count++];
    snprintf(fact->name, sizeof fact->name, "%s", name);
    text_copy(fact->value, sizeof fact->value, value);
}

static bool read_row(const fact_row *row, const fact_source *source, char value[VALUE_LENGTH])
{
    char path[PATH_LENGTH], part[VALUE_LENGTH];
    bool known = row->text != NULL;
    value[0] = '\0';
    if (row->text) {
        snprintf(value, VALUE_LENGTH, "%s", row->text);
    } else if (row->read) {
        known = row->read(source, row->which, value);
    } else {
        snprintf(path, sizeof path, row->file, source->cpu);
        known = read_value(source, row->key ? row->file : path, row->key, value, VALUE_LENGTH);
    }
    const char *from = row->part && *row->part != '%' ? strchr(value, *row->part) : value;
    if (row->part && from && sscanf(from, row->part, part) == 1)
        snprintf(value, VALUE_LENGTH, "%s", part);
    if (known && row->on)
        snprintf(value, VALUE_LENGTH, "%s", value[0] == row->on ? "on" : "off");
    if (known && row->in_kib)
        snprintf(value, VALUE_LENGTH, "%llu", 1024 * strtoull(value, NULL, 10));
    return known && value[0];
}

void machine_read_under(const char *root, unsigned cpu, machine_facts *machine)
{
    const fact_source source = {root, cpu};
    *machine = (struct machine_facts){0};
    for (size_t i = 0; i < FACT_ROWS; i++) {
        const fact_row *row = &fact_rows[i];
        char value[VALUE_LENGTH];
        const machine_fact *last = machine->count ? &machine->facts[machine->count - 1] : NULL;
        const bool again = last && row->name && strcmp(last->name, row->name) == 0;
        if (!row->name || (again && strcmp(last->value, "unknown") != 0))
            continue;
        machine->count -= again;
        const bool known = read_row(row, &source, value);
        if (known || !row->optional)
            machine_add_fact(machine, row->name, known ? value : "unknown");
    }
    machine_fill_sizes(machine);
}

void machine_read(machine_facts *machine)
{
    int cpu = sched_getcpu();
    machine_read_under("", cpu < 0 ? 0 : (unsigned)cpu, machine);
}

static size_t size_fact(const machine_facts *machine, const char *name)
{
    return strtoul(machine_fact_value(machine, name), NULL, 10);
}

void machine_fill_sizes(machine_facts *machine)
{
    machine->l1d_bytes = size_fact(machine, "l1d_bytes");
    machine->l2_bytes = size_fact(machine, "l2_bytes");
    machine->l3_bytes = size_fact(machine, "l3_bytes");
    machine->cores = (unsigned)size_fact(machine, "cores");
}

const char *machine_fact_value(const machine_facts *machine, const char *name)
{
    for (size_t i = 0; i < machine->count; i++)
        if (strcmp(machine->facts[i].name, name) == 0)
            return machine->facts[i].value;
    return "unknown";
}

/* Joins the values of facts, at most `most` bytes of each, with " | " between them. */
static void join_values(const machine_facts *machine, const char *const names[], size_t count,
                        size_t most, char *joined, size_t size)
{
    joined[0] = '\0';
    for (size_t i = 0, length = 0; i < count && length < size; i++)
        length += (size_t)snprintf(joined + length, size - length, "%s%.*s", i ? " | " : "",
                                   (int)most, machine_fact_value(machine, names[i]));
}

void machine_identity(const machine_facts *machine, char identity[MACHINE_IDENTITY_LENGTH])
{
    static const char *const facts[] = {"architecture", "cpu_model", "l1d_bytes", "l2_bytes",
                                        "l3_bytes",     "cores",     "hypervisor"};
    join_values(machine, facts, sizeof facts / sizeof *facts, 64, identity,
                MACHINE_IDENTITY_LENGTH);
}

void machine_free(machine_facts *machine)
{
    free(machine->facts);
    *machine = (struct machine_facts){0};
}

/* In place: copies of x that fill half the L2 stay there from call to call, and with many copies in a batch, reading
 * the clock costs little. */
size_t machine_rotated_bytes(const machine_facts *machine, cache_state cache)
{
    if (cache == CACHE_COLD)
        return 2 * (machine->l3_bytes ? machine->l3_bytes : 1u << 26);
    return cache == CACHE_IN_PLACE ? (machine->l2_bytes ? machine->l2_bytes : 1u << 20) / 2 : 0;
}

double machine_memory(const machine_facts *machine, bool *of_group)
{
    double memory = number_read(machine_fact_value(machine, "memory_bytes"), NULL);
    double limit = number_read(machine_fact_value(machine, "memory_limit_bytes"), NULL);
    bool less = limit > 0 && !(memory > 0 && memory <= limit); /* number_read("none") is 0 */
    if (of_group)
        *of_group = less;
    return less ? limit : memory;
}

/* Uses common sizes if none of the caches is known. */
const char *machine_regime(const machine_facts *machine, ln_operation kind, size_t rows,
                           size_t hidden, ln_type dtype)
{
    size_t sizes[] = {machine->l1d_bytes, machine->l2_bytes, machine->l3_bytes};
    static const size_t common[] = {32u << 10, 1u << 20, 32u << 20};
    double bytes = call_bytes(operations[kind], rows, hidden, dtype);
    int regime = REGIME_L1;
    if (!sizes[0] && !sizes[1] && !sizes[2])
        memcpy(sizes, common, sizeof sizes);
    while (regime < REGIME_DRAM && bytes > (double)sizes[regime])
        regime++;
    return regime_names[regime];
}

size_t machine_rows(const machine_facts *machine, cache_regime of, ln_operation kind, size_t hidden,
                    ln_type dtype)
{
    size_t l2 = machine->l2_bytes ? machine->l2_bytes : 1u << 20;
    size_t l3 = machine->l3_bytes ? machine->l3_bytes : l2 * 8;
    size_t beyond = 4 * l3 < 512u << 20 ? 4 * l3 : 2 * l3 > 512u << 20 ? 2 * l3 : 512u << 20;
    const size_t bytes[REGIMES] = {24 * 1024, l2 / 2, l3 / 4, beyond};
    size_t rows = (size_t)((double)bytes[of] / call_bytes(operations[kind], 1, hidden, dtype));
    return rows ? rows : 1;
}

static const char *const timing_facts[] = {"cpu_model", "l1d_bytes",    "l2_bytes", "l3_bytes",
                                           "compiler",  "isa_disabled", "worker"};
enum { TIMING_FACTS = sizeof timing_facts / sizeof *timing_facts };

const char *machine_key(const machine_facts *machine, char key[MACHINE_KEY_LENGTH])
{
    key[0] = '\0';
    if (machine && strcmp(machine_fact_value(machine, "cpu_model"), "unknown") != 0)
        join_values(machine, timing_facts, TIMING_FACTS, 255, key, MACHINE_KEY_LENGTH);
    return key;
}

/* ---- facts that make timings untrustworthy ---- */

/* Returns true if a known value is one of the words of a pattern, or within one of its limits. */
static bool matches(const char *pattern, const char *value)
{
    char *end;
    for (const char *at = pattern;; at += strcspn(at, "|") + 1) {
        size_t length = strcspn(at, "|");
        double number = number_read(value, &end);
        const bool limit = at[1] == '=' && (at[0] == '<' || at[0] == '>');
        if (limit && end > value) {
            double most = number_read(at + 2, NULL);
            if (at[0] == '<' ? number <= most : number >= most)
                return true;
        }
        if (*at == '*' || (!limit && strlen(value) == length && strncmp(at, value, length) == 0))
            return true;
        if (!at[length])
            return false;
    }
}

/* Checks the fact of a row on a machine. */
static finding find(const machine_facts *machine, const fact_row *row)
{
    const fact_source here = {"", 0};
    char value[VALUE_LENGTH], *end;
    finding found = {.remedy = ""};
    if (row->name)
        snprintf(value, sizeof value, "%s", machine_fact_value(machine, row->name));
    else if (!read_row(row, &here, value))
        snprintf(value, sizeof value, "unknown");
    const bool known = strcmp(value, "unknown") != 0;
    const bool is_fine = known && matches(row->fine, value);
    const double bytes = number_read(value, &end);
    if (row->name && strstr(row->name, "_bytes") && end > value)
        snprintf(value, sizeof value, "%.0f MiB", bytes / 0x1p20);
    found.grade = is_fine ? FINDING_FINE : known ? row->grade : FINDING_NOTE;
    found.remedy = is_fine || !known ? "" : row->advice;
    snprintf(found.what, sizeof found.what, "%s: %.100s%s%s", row->title,
             known ? value : "cannot be read here", is_fine || !known ? "" : ": ",
             is_fine || !known ? "" : row->meaning);
    return found;
}

size_t machine_findings(const machine_facts *machine, finding list[FINDINGS_MOST])
{
    size_t count = 0;
    for (int grade = FINDING_WARNING; grade >= FINDING_FINE; grade--)
        for (size_t i = 0; i < FACT_ROWS && count < FINDINGS_MOST; i++) {
            if (!fact_rows[i].fine)
                continue;
            list[count] = find(machine, &fact_rows[i]);
            count += (int)list[count].grade == grade;
        }
    return count;
}

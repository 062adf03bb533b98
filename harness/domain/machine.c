/* The facts of a machine: one table says where each is read, what is fine, and what another value means. */
#include "domain/machine.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/program.h"
#include "base/text.h"
#include "build_info.h" /* made anew at each build, written only where it changed */
#include "caches.h"
#include "certify/reference.h"
#include "domain/operation.h"
#include <fenv.h>
#include <jansson.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#if defined(__GLIBC__)
#include <gnu/libc-version.h>
#define LIBC gnu_get_libc_version()
#else
#define LIBC ""
#endif
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#include <xmmintrin.h>
#endif
#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

/* A machine that is being read. */
typedef struct fact_source {
    const char *root; /* files are looked for under it; "": the real ones */
    unsigned cpu;     /* the one we run on */
} fact_source;

enum { VALUE_LENGTH = sizeof(((machine_fact *)0)->value), PATH_LENGTH = 1280 };
static const char cpuinfo[] = "/proc/cpuinfo";

/* ---- files ---- */

/* NULL where it cannot be opened. */
static FILE *open_under(const char *root, const char *path)
{
    char full[2 * PATH_LENGTH];
    snprintf(full, sizeof full, "%s%s", root, path);
    return fopen(full, "r");
}

static void trim_end(char *line)
{
    size_t length = strlen(line);
    while (length && strchr(" \t\r\n", line[length - 1]))
        line[--length] = '\0';
}

/* The first line, trimmed; false where it cannot be read. */
static bool read_line(const char *root, const char *path, char *line, size_t size)
{
    FILE *file = open_under(root, path);
    bool fine = file && fgets(line, (int)size, file) != NULL;
    if (file)
        fclose(file);
    if (fine)
        trim_end(line);
    return fine;
}

/* The text after "key <blanks> :", or "key=" (os-release), with blanks skipped; else NULL. */
static char *value_of(char *line, const char *key)
{
    size_t length = strlen(key);
    if (strncmp(line, key, length) != 0)
        return NULL;
    char *at = line + length + strspn(line + length, " \t");
    return *at == ':' || *at == '=' ? at + 1 + strspn(at + 1, " \t") : NULL;
}

/* The value of a key in a file of such lines; of cpuinfo behind the line "processor : N" of the CPU we run on. */
static bool read_keyed(const fact_source *source, const char *path, const char *key, char *value,
                       size_t size)
{
    FILE *file = open_under(source->root, path);
    char *line = NULL, *at = NULL;
    size_t capacity = 0;
    bool here = path != cpuinfo;
    while (file && !at && getline(&line, &capacity, file) >= 0) {
        const char *processor = path == cpuinfo ? value_of(line, "processor") : NULL;
        if (processor)
            here = strtoul(processor, NULL, 10) == source->cpu;
        at = here ? value_of(line, key) : NULL;
    }
    if (at) {
        trim_end(at);
        snprintf(value, size, "%s", at);
    }
    free(line);
    if (file)
        fclose(file);
    return at != NULL;
}

/* ---- the control group ----
 *
 * Version 2 alone: /proc/self/cgroup has a line "0::/a/b", and the files of the group lie in /sys/fs/cgroup/a/b. A
 * container may see its own group as /sys/fs/cgroup; then the directories below it are not there. */

enum { GROUP_LENGTH = 512 };

/* The directory of our own group. False where it is not known, or lies beyond what can be seen ("/../x"). */
static bool find_group(const char *root, char directory[GROUP_LENGTH])
{
    FILE *file = open_under(root, "/proc/self/cgroup");
    char line[GROUP_LENGTH];
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file))
        found = strncmp(line, "0::/", 4) == 0;
    if (file)
        fclose(file);
    if (!found || strstr(line, "/.."))
        return false;
    trim_end(line);
    snprintf(directory, GROUP_LENGTH, "/sys/fs/cgroup%.480s", line[4] ? line + 3 : "");
    return true;
}

/* The least limit of our own group and of those above it: "max" or bytes in memory.max, "max 100000" or microseconds
 * of a period ("150000 100000") in cpu.max. 0: none; -1: not known. */
static double least_limit(const char *root, const char *name)
{
    char directory[GROUP_LENGTH], path[PATH_LENGTH], line[64], *end;
    double least = -1;
    if (!find_group(root, directory))
        return -1;
    while (strlen(directory) >= strlen("/sys/fs/cgroup")) {
        snprintf(path, sizeof path, "%s/%s", directory, name);
        if (read_line(root, path, line, sizeof line)) {
            const double limit = number_read(line, &end), period = number_read(end, NULL);
            const double here = period > 0 ? limit / period : limit;
            if (limit > 0 ? least <= 0 || here < least : least < 0)
                least = limit > 0 ? here : 0;
        }
        *strrchr(directory, '/') = '\0';
    }
    return least;
}

double control_group_memory(const char *root)
{
    return least_limit(root, "memory.max");
}

/* Counted where the process was, whichever group's limit it was. */
long control_group_oom_kills(const char *root)
{
    char directory[GROUP_LENGTH], path[PATH_LENGTH], line[64];
    long kills = -1;
    const bool is_known = find_group(root, directory);
    for (; is_known && kills < 0 && directory[0]; *strrchr(directory, '/') = '\0') {
        snprintf(path, sizeof path, "%s/memory.events", directory);
        FILE *file = open_under(root, path);
        while (file && fgets(line, sizeof line, file) && sscanf(line, "oom_kill %ld", &kills) != 1)
            ;
        if (file)
            fclose(file);
    }
    return kills;
}

/* ---- facts that are more than a line of a file: false where they are not known ---- */

typedef bool fact_reader(const fact_source *source, int which, char *value);
#define UNUSED __attribute__((unused))
#define READER(name, which)                                                                        \
    static bool read_##name(UNUSED const fact_source *source, UNUSED int which, char *value)

READER(time, which)
{
    time_t now = time(NULL);
    struct tm utc;
    return gmtime_r(&now, &utc) && strftime(value, VALUE_LENGTH, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

/* "4.2.0" out of "MPFR 4.2.0, GMP 6.2.1", and what libraries say of themselves. */
enum { OF_MPFR, OF_GMP, OF_LIBC, OF_JANSSON };
READER(version, of)
{
    const char *name = of == OF_GMP ? "GMP" : "MPFR", *at = strstr(ln_reference_versions(), name);
    const char *said = of == OF_LIBC      ? LIBC
                       : of == OF_JANSSON ? jansson_version_str()
                       : at               ? at + strlen(name) + 1
                                          : "";
    snprintf(value, VALUE_LENGTH, "%.*s", (int)strcspn(said, " ,"), said);
    return true;
}

/* Arm's Linux gives numbers instead of a name. */
READER(arm_model, which)
{
    char implementer[32], part[32];
    return read_keyed(source, cpuinfo, "CPU implementer", implementer, sizeof implementer) &&
           read_keyed(source, cpuinfo, "CPU part", part, sizeof part) &&
           snprintf(value, VALUE_LENGTH, "implementer %s, part %s", implementer, part) > 0;
}

/* Those of the processor's flags that a kernel may be built for. */
READER(simd, which)
{
    static const char known[] = " sse2 sse4_2 avx avx2 fma f16c avx512f avx512bw avx512dq avx512vl "
                                "avx512cd avx512_bf16 avx512_fp16 asimd asimdhp sve sve2 bf16 ";
    char flags[8192], word[40], *rest = NULL;
    if (!read_keyed(source, cpuinfo, "flags", flags, sizeof flags) &&
        !read_keyed(source, cpuinfo, "Features", flags, sizeof flags))
        return false;
    for (char *flag = strtok_r(flags, " ", &rest); flag; flag = strtok_r(NULL, " ", &rest)) {
        size_t length = strlen(value);
        snprintf(word, sizeof word, " %.36s ", flag);
        if (strstr(known, word))
            snprintf(value + length, VALUE_LENGTH - length, "%s%s", length ? " " : "", flag);
    }
    return true;
}

/* "1024K" */
static size_t parse_size(const char *text)
{
    char *end;
    unsigned long size = strtoul(text, &end, 10);
    unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    return size > SIZE_MAX >> shift ? 0 : (size_t)size << shift;
}

static bool read_of_cpu(const fact_source *source, unsigned cpu, const char *file, char line[32])
{
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/%s", cpu, file);
    return read_line(source->root, path, line, 32);
}

/* A data cache by its level, 0: that of instructions; 0 bytes: not known. */
static size_t cache_of_cpu(const fact_source *source, unsigned cpu, int wanted)
{
    char line[32], file[32];
    size_t bytes = 0;
    for (int index = 0;; index++) {
        snprintf(file, sizeof file, "cache/index%d/level", index);
        if (!read_of_cpu(source, cpu, file, line))
            return bytes;
        int level = line[0] - '0';
        snprintf(file, sizeof file, "cache/index%d/type", index);
        if (!read_of_cpu(source, cpu, file, line))
            return bytes;
        level = line[0] == 'I' ? 0 : level;
        snprintf(file, sizeof file, "cache/index%d/size", index);
        if (read_of_cpu(source, cpu, file, line) && level == wanted)
            bytes = parse_size(line);
    }
}

/* Where sysfs has no caches (containers, some Arm machines), the C library may know. */
READER(cache, level)
{
    static const int names[] = {_SC_LEVEL1_ICACHE_SIZE, _SC_LEVEL1_DCACHE_SIZE,
                                _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
    long bytes = (long)cache_of_cpu(source, source->cpu, level);
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

/* How many kinds of core there are (big and little ones): kinds differ in capacity or in caches. */
READER(kinds, which)
{
    enum { CPUS_MOST = 1024, KINDS_MOST = 8 };
    size_t kinds[KINDS_MOST][3], count = 0, kind;
    for (unsigned cpu = 0; cpu < CPUS_MOST; cpu++) {
        char line[32];
        const size_t own[3] = {read_of_cpu(source, cpu, "cpu_capacity", line) ? parse_size(line)
                                                                              : 0,
                               cache_of_cpu(source, cpu, 1), cache_of_cpu(source, cpu, 2)};
        if (!own[0] && !own[1] && !own[2])
            break;
        for (kind = 0; kind < count && memcmp(kinds[kind], own, sizeof own) != 0;)
            kind++;
        if (kind == count && count < KINDS_MOST)
            memcpy(kinds[count++], own, sizeof own);
    }
    snprintf(value, VALUE_LENGTH, "%zu", count);
    return count > 0;
}

/* What the CPU counts for a process of this user, or why it does not. */
READER(counters, which)
{
    int counters[COUNTS];
    snprintf(value, VALUE_LENGTH, "cycles, instructions");
    if (counters_open(counters, value, 96))
        counters_close(counters);
    return true;
}

/* Kinds of CPU that are emulated: instruction sets that kernels may not use, and the worker of
 * another processor. */
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

/* The hypervisor's name of itself (CPUID leaf 0x40000000), where the processor says there is one:
 * that works in containers too. */
READER(hypervisor, which)
{
    char flags[8192];
    if (!read_keyed(source, cpuinfo, "flags", flags, sizeof flags))
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

READER(aslr, which)
{
    const int flags = personality(0xffffffff); /* asks, sets nothing */
    snprintf(value, VALUE_LENGTH, "off for this process");
    return flags != -1 && flags & ADDR_NO_RANDOMIZE;
}

READER(swap, which)
{
    char total[64], unused[64];
    if (!read_keyed(source, "/proc/meminfo", "SwapTotal", total, sizeof total) ||
        !read_keyed(source, "/proc/meminfo", "SwapFree", unused, sizeof unused))
        return false;
    const long long used = strtoll(total, NULL, 10) - strtoll(unused, NULL, 10);
    snprintf(value, VALUE_LENGTH, "%lld", 1024 * used);
    return used >= 0;
}

READER(limit, of_cpus)
{
    const double limit =
        of_cpus ? least_limit(source->root, "cpu.max") : control_group_memory(source->root);
    snprintf(value, VALUE_LENGTH, "%.*f", of_cpus ? 2 : 0, limit);
    if (limit == 0)
        snprintf(value, VALUE_LENGTH, "none");
    return limit >= 0;
}

/* Whether subnormal results (FTZ) and operands (DAZ) are taken for zero: bits 15 and 6 of MXCSR; FPCR has bit
 * 24 for both. */
READER(mode, bit)
{
#if defined(__x86_64__) || defined(__SSE__)
    uint64_t state = _mm_getcsr();
#elif defined(__aarch64__)
    uint64_t state;
    __asm__ volatile("mrs %0, fpcr" : "=r"(state));
    bit = 24;
#else
    const uint64_t state = 0;
    return false;
#endif
    snprintf(value, VALUE_LENGTH, "%s", state >> bit & 1 ? "on" : "off");
    return true;
}

READER(rounding, which)
{
    const int mode = fegetround();
    snprintf(value, VALUE_LENGTH, "%s",
             mode == FE_TONEAREST    ? "to nearest"
             : mode == FE_DOWNWARD   ? "downward"
             : mode == FE_UPWARD     ? "upward"
             : mode == FE_TOWARDZERO ? "toward zero"
                                     : "");
    return true;
}

/* What the line of a file is made into. */
typedef enum value_form {
    VALUE_LINE,
    VALUE_ON_IF_0,
    VALUE_ON_IF_1,
    VALUE_WORD,   /* the first */
    VALUE_CHOSEN, /* "always [madvise] never" */
    VALUE_QUOTED, /* without the quotes that may be around it */
    VALUE_KIB,    /* in bytes */
} value_form;

static void bring_into_form(value_form form, char *value)
{
    char *begin = value, *end = value + strlen(value);
    switch (form) {
    case VALUE_LINE:
        return;
    case VALUE_ON_IF_0:
    case VALUE_ON_IF_1:
        text_copy(value, VALUE_LENGTH,
                  value[0] == (form == VALUE_ON_IF_0 ? '0' : '1') ? "on" : "off");
        return;
    case VALUE_WORD:
        value[strcspn(value, " ")] = '\0';
        return;
    case VALUE_KIB:
        snprintf(value, VALUE_LENGTH, "%llu", 1024 * strtoull(value, NULL, 10));
        return;
    case VALUE_CHOSEN:
        begin = strchr(value, '[') ? strchr(value, '[') + 1 : value;
        end = begin + strcspn(begin, "]");
        break;
    case VALUE_QUOTED:
        if (end - value >= 2 && value[0] == '"' && end[-1] == '"') {
            begin++;
            end--;
        }
    }
    *end = '\0';
    memmove(value, begin, (size_t)(end - begin) + 1);
}

/* ---- the table ---- */

/* A row with the name of the one before is read where that is not known; one that is read from nowhere is a
 * further check of it. */
typedef struct fact_row {
    const char *name;
    const char *text;       /* what it is; or */
    const char *file, *key; /* a file (%u: the CPU), its first line or the value of a key; or */
    fact_reader *read;
    int which; /* for read() */
    value_form form;
    bool optional; /* there is no such fact where it is not known */
    /* The values that are fine, and what another one means. A pattern is words and limits of numbers (">=2",
     * "<=0.3"), with | between them. */
    const char *fine, *title, *meaning, *advice;
    finding_grade grade; /* of a value that is not fine */
} fact_row;

#define WARN(...) .grade = FINDING_WARNING, CHECK(__VA_ARGS__)
#define NOTE(...) .grade = FINDING_NOTE, CHECK(__VA_ARGS__)
#define CHECK(fine_, title_, meaning_, advice_)                                                    \
    .fine = (fine_), .title = (title_), .meaning = (meaning_), .advice = (advice_)
#define CPUS "/sys/devices/system/cpu/"
#define CPU CPUS "cpu%u/"

static const fact_row fact_rows[] = {
    {"time", .read = read_time},
    {"lnbench_version", .text = LNBENCH_VERSION},
    {"git_commit", .text = LNBENCH_GIT_COMMIT},
    {"git_dirty", .text = LNBENCH_GIT_DIRTY},
    {"compiler", .text = COMPILER},
    {"compiler_flags", .text = LNBENCH_COMPILER_FLAGS},
    {"build_type", .text = LNBENCH_BUILD_TYPE,
     WARN("Release", "build type", "timings of such a build say nothing about a release",
          "cmake -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build")},
    {"libc", .read = read_version, .which = OF_LIBC},
    {"mpfr", .read = read_version, .which = OF_MPFR},
    {"gmp", .read = read_version, .which = OF_GMP},
    {"google_benchmark", .text = LNBENCH_BENCHMARK_VERSION},
    {"google_benchmark_build", .text = LNBENCH_BENCHMARK_BUILD,
     NOTE("release", "Google Benchmark's build",
          "Debian's calls itself so: harmless here, it only reads the clock around a batch of "
          "calls",
          "")},
    {"jansson", .read = read_version, .which = OF_JANSSON},
    {"cpu_model", .file = cpuinfo, .key = "model name"},
    {"cpu_model", .read = read_arm_model},
    {"cpu_vendor", .file = cpuinfo, .key = "vendor_id"},
    {"cpu_vendor", .file = cpuinfo, .key = "CPU implementer"},
    {"cpu_family", .file = cpuinfo, .key = "cpu family"},
    {"cpu_family", .file = cpuinfo, .key = "CPU architecture"},
    {"cpu_model_number", .file = cpuinfo, .key = "model"},
    {"cpu_model_number", .file = cpuinfo, .key = "CPU part"},
    {"cpu_stepping", .file = cpuinfo, .key = "stepping"},
    {"cpu_stepping", .file = cpuinfo, .key = "CPU revision"},
    {"microcode", .file = cpuinfo, .key = "microcode"},
    {"simd", .read = read_simd},
    {"l1d_bytes", .read = read_cache, .which = 1},
    {"l1i_bytes", .read = read_cache},
    {"l2_bytes", .read = read_cache, .which = 2},
    {"l3_bytes", .read = read_cache, .which = 3},
    {"cache_line_bytes", .file = CPU "cache/index0/coherency_line_size"},
    {"l3_shared_by_cpus", .file = CPU "cache/index3/shared_cpu_list"},
    {"cores", .read = read_cores,
     WARN(">=2", "cores", "lnbench, the system and the kernel under test share one",
          "give the container or virtual machine at least two CPUs, or widen the affinity "
          "(taskset)")},
    {"cores", NOTE(">=4", "cores for several threads",
                   "enough for one thread; figures for more threads will be noisy", "")},
    {"cpus_online", .file = CPUS "online"},
    {"core_kinds", .read = read_kinds,
     WARN("1", "kinds of core", "a run may land on a big or on a little core",
          "keep to cores of one kind: taskset -c 0 lnbench run")},
    {"smt", .file = CPUS "smt/active", .form = VALUE_ON_IF_1,
     WARN("off", "SMT (hyper-threading)", "work on the sibling thread takes half a core away",
          "echo off | sudo tee /sys/devices/system/cpu/smt/control")},
    {"governor", .file = CPU "cpufreq/scaling_governor",
     WARN("performance", "CPU frequency governor", "the clock rises and falls with load",
          "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor")},
    {"scaling_driver", .file = CPU "cpufreq/scaling_driver"},
    {"max_khz", .file = CPU "cpufreq/cpuinfo_max_freq"},
    {"boost", .file = CPUS "intel_pstate/no_turbo", .form = VALUE_ON_IF_0,
     WARN("off", "frequency boost", "the clock depends on temperature and on the other cores",
          "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost (Intel: echo 1 | sudo tee "
          "/sys/devices/system/cpu/intel_pstate/no_turbo)")},
    {"boost", .file = CPUS "cpufreq/boost", .form = VALUE_ON_IF_1},
    {"mhz", .file = cpuinfo, .key = "cpu MHz"},
    {"mhz", .file = cpuinfo, .key = "CPU MHz"},
    {"counters", .read = read_counters,
     NOTE("cycles, instructions", "counted by the CPU", "times alone show regressions",
          "on a machine of its own: sudo sysctl kernel.perf_event_paranoid=2")},
    {"isa_disabled", .read = read_emulated, .optional = true},
    {"worker", .read = read_emulated, .which = 1, .optional = true},
    {"architecture", .read = read_kernel},
    {"kernel_release", .read = read_kernel, .which = 1},
    {"os_release", .file = "/etc/os-release", .key = "PRETTY_NAME", .form = VALUE_QUOTED},
    {"hypervisor", .read = read_hypervisor,
     NOTE("none", "hypervisor",
          "the host may take the CPU away, and caches are shared with strangers",
          "trust ratios of one run more than absolute figures; for absolute ones use bare "
          "metal")},
    {"hypervisor", .file = "/sys/hypervisor/type"},
    {"product", .file = "/sys/class/dmi/id/product_name"},
    {"aslr", .read = read_aslr,
     NOTE("0|off for this process", "address space randomisation",
          "layouts differ from process to process; the intervals take that in, since every run "
          "measures in several processes",
          "setarch -R lnbench run")},
    {"aslr", .file = "/proc/sys/kernel/randomize_va_space"},
    {"thp", .file = "/sys/kernel/mm/transparent_hugepage/enabled", .form = VALUE_CHOSEN,
     WARN("always|madvise", "transparent huge pages",
          "page walks slow down and scatter large shapes",
          "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled")},
    {"clock_source", .file = "/sys/devices/system/clocksource/clocksource0/current_clocksource",
     WARN("tsc", "clock source", "reading it may cost a system call",
          "echo tsc | sudo tee "
          "/sys/devices/system/clocksource/clocksource0/current_clocksource")},
    {"memory_bytes", .file = "/proc/meminfo", .key = "MemTotal", .form = VALUE_KIB},
    {"memory_available_bytes", .file = "/proc/meminfo", .key = "MemAvailable", .form = VALUE_KIB,
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
          "the kernel stops us in the middle of a measurement when it is used up",
          "start the container without --cpus, or lift CPUQuota= of the unit")},
    /* A third of one CPU is enough to meet a single-threaded run now and then. */
    {"load_1m", .file = "/proc/loadavg", .form = VALUE_WORD,
     WARN("<=0.3", "load over the last minute", "other work takes time and caches away",
          "run `top` to see which process, and wait a minute after a build")},
    {"ftz", .read = read_mode, .which = 15,
     WARN("off", "flush to zero (FTZ)",
          "subnormal results are lost: a library was built with -ffast-math",
          "build without -ffast-math, and load no plugin that was linked with it")},
    {"daz", .read = read_mode, .which = 6,
     WARN("off", "denormals are zero (DAZ)",
          "subnormal operands are lost: a library was built with -ffast-math",
          "build without -ffast-math, and load no plugin that was linked with it")},
    {"rounding", .read = read_rounding,
     WARN("to nearest", "rounding mode", "every proven bound assumes rounding to nearest",
          "unset it where it was set (fesetround)")},
};
enum { FACT_ROWS = sizeof fact_rows / sizeof *fact_rows };

/* ---- reading it ---- */

machine_fact *machine_add_fact(machine_facts *machine)
{
    machine->facts = allocate_room(machine->facts, machine->count, sizeof *machine->facts);
    return &machine->facts[machine->count++];
}

/* Where the row before it has the same name, a row is read only if that one found nothing. */
void machine_read_under(const char *root, unsigned cpu, machine_facts *machine)
{
    const fact_source source = {root, cpu};
    *machine = (struct machine_facts){0};
    for (size_t i = 0; i < FACT_ROWS; i++) {
        const fact_row *row = &fact_rows[i];
        char value[VALUE_LENGTH] = "", path[PATH_LENGTH];
        machine_fact *fact = machine->count ? &machine->facts[machine->count - 1] : NULL;
        const bool again = fact && strcmp(fact->name, row->name) == 0;
        bool known = row->text != NULL;
        if ((!row->text && !row->read && !row->file) ||
            (again && strcmp(fact->value, "unknown") != 0))
            continue;
        if (row->text)
            snprintf(value, sizeof value, "%s", row->text);
        else if (row->read)
            known = row->read(&source, row->which, value);
        else if (row->key)
            known = read_keyed(&source, row->file, row->key, value, sizeof value);
        else {
            snprintf(path, sizeof path, row->file, cpu);
            known = read_line(root, path, value, sizeof value);
        }
        if (known)
            bring_into_form(row->form, value);
        known = known && value[0];
        if (!known && row->optional)
            continue;
        if (!again)
            fact = machine_add_fact(machine);
        snprintf(fact->name, sizeof fact->name, "%s", row->name);
        text_copy(fact->value, sizeof fact->value, known ? value : "unknown");
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

/* Values of facts with " | " between them. */
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

/* Copies in half the L2 are found there by each call, and many a batch make reading the clock
 * cheap.
 */
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
    bool less = limit > 0 && !(memory > 0 && memory <= limit); /* words are 0 */
    if (of_group)
        *of_group = less;
    return less ? limit : memory;
}

/* Where no size is known, sizes that are common stand for them. */
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

const char *machine_difference(const machine_facts *a, const machine_facts *b)
{
    for (size_t i = 0; i < TIMING_FACTS; i++) {
        const char *value = machine_fact_value(a, timing_facts[i]);
        if (strcmp(value, machine_fact_value(b, timing_facts[i])) != 0 ||
            (i == 0 && strcmp(value, "unknown") == 0))
            return timing_facts[i];
    }
    return NULL;
}

/* ---- what makes timings untrustworthy ---- */

typedef struct doctor_findings {
    finding *list;
    size_t count, most;
} doctor_findings;

/* What has to be done comes first. */
__attribute__((format(printf, 4, 5))) static void add_finding(doctor_findings *findings,
                                                              finding_grade grade,
                                                              const char *remedy,
                                                              const char *format, ...)
{
    va_list arguments;
    if (findings->count == findings->most)
        return;
    size_t at = findings->count++;
    for (; at > 0 && findings->list[at - 1].grade < grade; at--)
        findings->list[at] = findings->list[at - 1];
    finding *made = &findings->list[at];
    made->grade = grade;
    snprintf(made->remedy, sizeof made->remedy, "%s", remedy);
    va_start(arguments, format);
    number_print_list(made->what, sizeof made->what, format, arguments);
    va_end(arguments);
}

/* Whether a value is one of the words of a pattern, or within one of its limits. */
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
    for (size_t i = 0; i < FACT_ROWS; i++) {
        const fact_row *row = &fact_rows[i];
        const char *said = machine_fact_value(machine, row->name);
        char value[96], *end;
        double bytes = number_read(said, &end);
        if (!row->fine)
            continue;
        snprintf(value, sizeof value, "%.80s", said);
        if (strstr(row->name, "_bytes") && end > said)
            snprintf(value, sizeof value, "%.0f MiB", bytes / 0x1p20);
        if (is_fine(row->fine, said))
            add_finding(findings, FINDING_FINE, "", "%s: %.80s", row->title, value);
        else if (strcmp(said, "unknown") == 0)
            add_finding(findings, FINDING_NOTE, "", "%s: cannot be read here", row->title);
        else
            add_finding(findings, row->grade, row->advice, "%s: %.80s: %s", row->title, value,
                        row->meaning);
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
    if (sizes.refused)
        add_finding(findings, FINDING_WARNING, "export LN_CACHE_BYTES=32K,1M,32M",
                    "caches: LN_CACHE_BYTES=%.60s is not L1,L2,L3 in rising order: not taken",
                    sizes.refused);
}

size_t machine_findings(const machine_facts *machine, finding *list, size_t most)
{
    doctor_findings findings = {.list = list, .most = most};
    char path[1024];
    check_facts(machine, &findings);
    check_caches(&findings);
    if (program_find("gnuplot", path, sizeof path))
        add_finding(&findings, FINDING_FINE, "", "gnuplot: found");
    else
        add_finding(&findings, FINDING_WARNING, "sudo apt-get install gnuplot-nox",
                    "gnuplot: not found: there will be tables, but no charts");
    bool there = access("results", F_OK) == 0;
    if (access(there ? "results" : ".", W_OK | X_OK) == 0)
        add_finding(&findings, FINDING_FINE, "", "results: can be written");
    else
        add_finding(&findings, FINDING_WARNING, "lnbench run --db FILE --out DIRECTORY",
                    "results: %s cannot be written to",
                    there ? "the directory 'results'" : "this directory");
    return findings.count;
}

/* The processor: model, caches, cores, frequency control. */
#include "domain/gather.h"
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char cpuinfo[] = "/proc/cpuinfo";

static void add_cpuinfo(fact_gather *gather, const char *name, const char *key, const char *arm_key)
{
    char value[256];
    bool known = read_keyed(gather, cpuinfo, key, true, value, sizeof value) ||
                 read_keyed(gather, cpuinfo, arm_key, true, value, sizeof value);
    add_fact(gather, name, known ? value : NULL);
}

/* Arm's Linux gives numbers instead of a name. */
static void add_model(fact_gather *gather)
{
    char model[128], implementer[32], part[32];
    if (!read_keyed(gather, cpuinfo, "model name", true, model, sizeof model)) {
        if (read_keyed(gather, cpuinfo, "CPU implementer", true, implementer, sizeof implementer) &&
            read_keyed(gather, cpuinfo, "CPU part", true, part, sizeof part))
            snprintf(model, sizeof model, "implementer %s, part %s", implementer, part);
        else
            model[0] = '\0';
    }
    add_fact(gather, "cpu_model", model);
}

/* Those of the processor's flags that a kernel may be built for. */
static void add_simd(fact_gather *gather)
{
    static const char *const known[] = {
        "sse2",        "sse4_2",   "avx",      "avx2",     "fma",      "f16c",
        "avx512f",     "avx512bw", "avx512dq", "avx512vl", "avx512cd", "avx512_bf16",
        "avx512_fp16", "asimd",    "asimdhp",  "sve",      "sve2",     "bf16"};
    char flags[8192], simd[256] = "";
    bool read = read_keyed(gather, cpuinfo, "flags", true, flags, sizeof flags) ||
                read_keyed(gather, cpuinfo, "Features", true, flags, sizeof flags);
    char *rest = NULL;
    for (char *flag = read ? strtok_r(flags, " ", &rest) : NULL; flag;
         flag = strtok_r(NULL, " ", &rest)) {
        size_t length = strlen(simd);
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (strcmp(flag, known[i]) == 0)
                snprintf(simd + length, sizeof simd - length, "%s%s", length ? " " : "", flag);
    }
    add_fact(gather, "simd", simd);
}

/* One cache of a CPU, as /sys/devices/system/cpu/cpuN/cache/indexM tells it. */
static bool read_cache(const fact_gather *gather, unsigned cpu, unsigned index, const char *what,
                       char *value, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/cache/index%u/%s", cpu, index, what);
    return read_line(gather, path, value, size);
}

/* "1024K" */
static size_t parse_size(const char *text)
{
    char *end;
    unsigned long size = strtoul(text, &end, 10);
    unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    return size > SIZE_MAX >> shift ? 0 : (size_t)size << shift;
}

/* Bytes; 0: unknown. */
typedef struct cpu_caches {
    size_t instructions, data[4]; /* data: by level */
} cpu_caches;

static cpu_caches read_caches(const fact_gather *gather, unsigned cpu)
{
    cpu_caches caches = {0};
    char level[16], type[32], size[32];
    for (unsigned index = 0; read_cache(gather, cpu, index, "level", level, sizeof level) &&
                             read_cache(gather, cpu, index, "type", type, sizeof type) &&
                             read_cache(gather, cpu, index, "size", size, sizeof size);
         index++)
        if (type[0] == 'I')
            caches.instructions = parse_size(size);
        else if (level[0] >= '1' && level[0] <= '3')
            caches.data[level[0] - '0'] = parse_size(size);
    return caches;
}

/* Where sysfs has no caches (containers, some Arm machines), the C library may know. */
static size_t cache_or(const fact_gather *gather, size_t bytes, int name)
{
    if (bytes || gather->root[0])
        return bytes;
    long known = sysconf(name);
    return known > 0 ? (size_t)known : 0;
}

static void add_cache(fact_gather *gather, const char *name, size_t bytes)
{
    if (bytes)
        add_number(gather, name, bytes);
    else
        add_fact(gather, name, NULL);
}

static void gather_caches(fact_gather *gather)
{
    machine_facts *machine = gather->machine;
    char line[32], shared[256];
    cpu_caches caches = read_caches(gather, gather->cpu);
    machine->l1d_bytes = cache_or(gather, caches.data[1], _SC_LEVEL1_DCACHE_SIZE);
    machine->l2_bytes = cache_or(gather, caches.data[2], _SC_LEVEL2_CACHE_SIZE);
    machine->l3_bytes = cache_or(gather, caches.data[3], _SC_LEVEL3_CACHE_SIZE);
    add_cache(gather, "l1d_bytes", machine->l1d_bytes);
    add_cache(gather, "l1i_bytes", cache_or(gather, caches.instructions, _SC_LEVEL1_ICACHE_SIZE));
    add_cache(gather, "l2_bytes", machine->l2_bytes);
    add_cache(gather, "l3_bytes", machine->l3_bytes);
    bool known = read_cache(gather, gather->cpu, 0, "coherency_line_size", line, sizeof line);
    add_fact(gather, "cache_line_bytes", known ? line : NULL);
    known = read_cache(gather, gather->cpu, 3, "shared_cpu_list", shared, sizeof shared);
    add_fact(gather, "l3_shared_by_cpus", known ? shared : NULL);
}

/* How many kinds of core there are (big and little ones): kinds differ in capacity or in caches. */
static void add_kinds(fact_gather *gather)
{
    enum { MOST = 1024 };
    size_t kinds[8][3], count = 0;
    for (unsigned cpu = 0; cpu < MOST; cpu++) {
        char path[96], line[32];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/cpu_capacity", cpu);
        size_t capacity = read_line(gather, path, line, sizeof line) ? parse_size(line) : 0;
        cpu_caches caches = read_caches(gather, cpu);
        size_t l1d = caches.data[1], l2 = caches.data[2];
        if (!l1d && !l2 && !capacity)
            break;
        size_t kind = 0;
        while (kind < count &&
               (kinds[kind][0] != capacity || kinds[kind][1] != l1d || kinds[kind][2] != l2))
            kind++;
        if (kind == count && count < 8) {
            kinds[count][0] = capacity;
            kinds[count][1] = l1d;
            kinds[count++][2] = l2;
        }
    }
    if (count)
        add_number(gather, "core_kinds", count);
    else
        add_fact(gather, "core_kinds", NULL);
}

static void gather_cores(fact_gather *gather)
{
    cpu_set_t allowed;
    char line[32] = "";
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    gather->machine->cores = online > 0 ? (unsigned)online : 1;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        gather->machine->cores = (unsigned)CPU_COUNT(&allowed);
    add_number(gather, "cores", gather->machine->cores);
    add_file(gather, "cpus_online", "/sys/devices/system/cpu/online");
    add_kinds(gather);
    bool known = read_line(gather, "/sys/devices/system/cpu/smt/active", line, sizeof line);
    add_fact(gather, "smt", !known ? NULL : line[0] == '1' ? "on" : "off");
}

static void add_boost(fact_gather *gather)
{
    char line[32];
    const char *boost = NULL;
    if (read_line(gather, "/sys/devices/system/cpu/intel_pstate/no_turbo", line, sizeof line))
        boost = line[0] == '0' ? "on" : "off";
    else if (read_line(gather, "/sys/devices/system/cpu/cpufreq/boost", line, sizeof line))
        boost = line[0] == '0' ? "off" : "on";
    add_fact(gather, "boost", boost);
}

static void gather_frequency(fact_gather *gather)
{
    static const struct {
        const char *name, *file;
    } files[] = {
        {"governor", "scaling_governor"},
        {"scaling_driver", "scaling_driver"},
        {"max_khz", "cpuinfo_max_freq"},
    };
    char path[128];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/cpufreq/%s", gather->cpu,
                 files[i].file);
        add_file(gather, files[i].name, path);
    }
    add_boost(gather);
    add_cpuinfo(gather, "mhz", "cpu MHz", "CPU MHz");
}

void gather_processor(fact_gather *gather)
{
    add_model(gather);
    add_cpuinfo(gather, "cpu_vendor", "vendor_id", "CPU implementer");
    add_cpuinfo(gather, "cpu_family", "cpu family", "CPU architecture");
    add_cpuinfo(gather, "cpu_model_number", "model", "CPU part");
    add_cpuinfo(gather, "cpu_stepping", "stepping", "CPU revision");
    add_cpuinfo(gather, "microcode", "microcode", "microcode");
    add_simd(gather);
    gather_caches(gather);
    gather_cores(gather);
    gather_frequency(gather);
}

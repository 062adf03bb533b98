#define _GNU_SOURCE /* sched_getaffinity */
#include "caches.h"
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum { SYSFS, CPUID, SYSCONF, SOURCES };
static const char *const source_names[SOURCES] = {"sysfs", "cpuid", "sysconf"};

/* The smallest and the largest plausible size of each level. */
static const size_t least[LN_CACHES] = {4 << 10, 32 << 10, 256 << 10};
static const size_t most[LN_CACHES] = {4 << 20, 256 << 20, (size_t)4 << 30};

/* The largest L3 that is assumed. A larger one is shared by many cores, and a call gets a part of it. On an Intel Xeon
 * with 480 MiB, stores around the caches are faster from 48 MiB of x and y on, and from 100 MiB on if y is read
 * afterwards (docs/lab/figures.md): 5/8 of this limit is between them. */
static const size_t l3_limit = (size_t)128 << 20;

static size_t if_plausible(int level, double bytes)
{
    return bytes >= (double)least[level] && bytes <= (double)most[level] ? (size_t)bytes : 0;
}

/* Reads "1024K", "32M" or "49152". Returns a pointer to the text after it; NULL if it is no number. */
static const char *read_size(const char *text, double *bytes)
{
    char *end;
    if (*text < '0' || *text > '9')
        return NULL;
    *bytes = (double)strtoull(text, &end, 10);
    for (const char *unit = "KMG"; *unit; unit++) {
        *bytes *= 1024;
        if (*end == *unit)
            return end + 1;
    }
    *bytes /= 1024.0 * 1024 * 1024;
    return end;
}

static int read_line(const char *cpus, unsigned cpu, unsigned index, const char *what,
                     char line[32])
{
    char path[512];
    snprintf(path, sizeof path, "%.400s/cpu%u/cache/index%u/%s", cpus, cpu, index, what);
    FILE *file = fopen(path, "re");
    int fine = file && fgets(line, 32, file);
    if (file)
        fclose(file);
    return fine;
}

/* Reads the smallest sizes of the CPUs on which the process may run, since it may be moved to any of them. */
static void read_sysfs(const char *cpus, size_t reported[LN_CACHES])
{
    enum { INDICES = 8 };
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        CPU_ZERO(&allowed);
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
        for (unsigned index = 0; CPU_ISSET(cpu, &allowed) && index < INDICES; index++) {
            char level[32], type[32], size[32];
            double bytes = 0;
            if (!read_line(cpus, cpu, index, "level", level) ||
                !read_line(cpus, cpu, index, "type", type) ||
                !read_line(cpus, cpu, index, "size", size))
                break;
            int at = level[0] - '1';
            if (type[0] == 'I' || at < LN_L1 || at > LN_L3 || !read_size(size, &bytes))
                continue;
            size_t found = if_plausible(at, bytes);
            if (found && (!reported[at] || found < reported[at]))
                reported[at] = found;
        }
}

/* Leaves 4 (Intel) and 0x8000001D (AMD) have the same format: Intel SDM 2A, CPUID; AMD APM 3, E.4.15. */
static void read_cpuid(const cache_sources *sources, size_t reported[LN_CACHES])
{
    static const unsigned leaves[] = {4, 0x8000001d};
    enum { NO_MORE = 0, INSTRUCTIONS = 2, SUBLEAVES = 8 };
    for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++)
        for (unsigned subleaf = 0; subleaf < SUBLEAVES; subleaf++) {
            unsigned r[4] = {0};
            sources->cpuid(leaves[i], subleaf, r);
            unsigned type = r[0] & 0x1f;
            int level = (int)(r[0] >> 5 & 7) - 1;
            if (type == NO_MORE)
                break;
            if (type == INSTRUCTIONS || level < LN_L1 || level > LN_L3)
                continue;
            double ways = (r[1] >> 22) + 1.0, partitions = (r[1] >> 12 & 0x3ff) + 1.0;
            double line = (r[1] & 0xfff) + 1.0, sets = r[2] + 1.0;
            size_t found = if_plausible(level, ways * partitions * line * sets);
            if (found)
                reported[level] = found;
        }
}

/* Reads "L1,L2,L3", each like 32K, in ascending order. Returns whether all three are valid. */
static int read_environment(const char *text, size_t bytes[LN_CACHES])
{
    for (int level = LN_L1; level < LN_CACHES; level++) {
        double size;
        text = read_size(text, &size);
        if (!text || *text != (level == LN_L3 ? '\0' : ',') || size < 1 || size > 0x1p50 ||
            (level > LN_L1 && size < (double)bytes[level - 1]))
            return 0;
        bytes[level] = (size_t)size;
        text++;
    }
    return 1;
}

void ln_caches_find(const cache_sources *sources, cache_sizes *sizes)
{
    size_t reported[SOURCES][LN_CACHES] = {0}, given[LN_CACHES];
    const char *text = sources->environment;
    int is_given = text && read_environment(text, given);
    *sizes = (cache_sizes){.refused = text && !is_given ? text : NULL};
    read_sysfs(sources->cpus, reported[SYSFS]);
    read_cpuid(sources, reported[CPUID]);
    for (int level = LN_L1; level < LN_CACHES; level++) {
        reported[SYSCONF][level] = if_plausible(level, (double)sources->sysconf(level));
        sizes->from[level] = "nobody";
        for (int source = SYSFS; source < SOURCES; source++) {
            size_t bytes = sizes->reported[level][source] = reported[source][level];
            if (!bytes || (sizes->bytes[level] && bytes >= sizes->bytes[level]))
                continue;
            sizes->bytes[level] = bytes;
            sizes->from[level] = source_names[source];
        }
        if (level == LN_L3 && sizes->bytes[level] > l3_limit) {
            sizes->bytes[level] = l3_limit;
            sizes->from[level] = "limit of 128 MiB";
        }
        if (is_given) {
            sizes->bytes[level] = given[level];
            sizes->from[level] = "LN_CACHE_BYTES";
        }
    }
}

/* ---- this machine ---- */

static void cpuid_here(unsigned leaf, unsigned subleaf, unsigned registers[4])
{
#if defined(__x86_64__)
    if (!__get_cpuid_count(leaf, subleaf, &registers[0], &registers[1], &registers[2],
                           &registers[3]))
#endif
        memset(registers, 0, 4 * sizeof *registers);
    (void)leaf;
    (void)subleaf;
}

static long sysconf_here(int level)
{
#if defined(_SC_LEVEL1_DCACHE_SIZE)
    static const int names[LN_CACHES] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE,
                                         _SC_LEVEL3_CACHE_SIZE};
    return sysconf(names[level]);
#else
    (void)level;
    return 0;
#endif
}

cache_sources ln_cache_sources(void)
{
    int kept = errno;
    cache_sources here = {"/sys/devices/system/cpu", getenv("LN_CACHE_BYTES"), cpuid_here,
                          sysconf_here};
    errno = kept;
    return here;
}

/* The cache sizes by which the library chooses kernels.
 *
 *     cache_sizes sizes;
 *     ln_caches_find(&ln_this_machine, &sizes);
 *
 * Containers, virtual machines and packages of several dies report sizes that are too large. So the smallest plausible
 * size that sysfs, cpuid or the C library reports is used. */
#ifndef LN_CACHES_H
#define LN_CACHES_H

#include <stddef.h>

enum { LN_L1, LN_L2, LN_L3, LN_CACHES };

typedef struct cache_sizes {
    size_t bytes[LN_CACHES];       /* of L1d, L2, L3, as seen by a core; 0: not known */
    const char *from[LN_CACHES];   /* "LN_CACHE_BYTES", "sysfs", "cpuid", "sysconf", "nobody" */
    size_t reported[LN_CACHES][3]; /* the sizes from sysfs, cpuid and sysconf; 0: not plausible */
    const char *refused;           /* an invalid value of LN_CACHE_BYTES; NULL: none */
} cache_sizes;

/* The sources of the sizes, which a test replaces. */
typedef struct cache_sources {
    const char *cpus;        /* "/sys/devices/system/cpu": cpuN/cache/indexI/{level,type,size} */
    const char *environment; /* the value of LN_CACHE_BYTES, or NULL */
    /* Writes eax to edx of a leaf; all are 0 if the CPU does not have it. */
    void (*cpuid)(unsigned leaf, unsigned subleaf, unsigned registers[4]);
    long (*sysconf)(int level); /* bytes; 0 or less: unknown */
} cache_sources;

/* Returns the sources of this process, with the present value of LN_CACHE_BYTES. */
cache_sources ln_cache_sources(void);
void ln_caches_find(const cache_sources *sources, cache_sizes *sizes);

#endif

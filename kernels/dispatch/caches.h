/* The caches that the library reckons with: which regime a call is in, and so which kernel it gets.
 *
 *     cache_sizes sizes;
 *     ln_caches_find(&ln_this_machine, &sizes);
 *
 * Containers, virtual machines and packages of several dies each tell a size too large, so that of
 * what sysfs, cpuid and the C library say the smallest that a cache of the level can have counts. */
#ifndef LN_CACHES_H
#define LN_CACHES_H

#include <stddef.h>

enum { LN_L1, LN_L2, LN_L3, LN_CACHES };

typedef struct cache_sizes {
    size_t bytes[LN_CACHES];     /* of L1d, L2, L3, as a core sees them; 0: nobody says */
    const char *from[LN_CACHES]; /* "LN_CACHE_BYTES", "sysfs", "cpuid", "sysconf", "nobody" */
    size_t told[LN_CACHES][3];   /* what sysfs, cpuid and sysconf said; 0: nothing plausible */
    const char *refused;         /* a value of LN_CACHE_BYTES that was not taken; NULL: none */
} cache_sizes;

/* Whom to ask; a test brings its own. */
typedef struct cache_sources {
    const char *cpus;        /* "/sys/devices/system/cpu": cpuN/cache/indexI/{level,type,size} */
    const char *environment; /* the value of LN_CACHE_BYTES, or NULL */
    /* eax to edx of a leaf; all 0 where the CPU has none */
    void (*cpuid)(unsigned leaf, unsigned subleaf, unsigned registers[4]);
    long (*sysconf)(int level); /* bytes; 0 or less: unknown */
} cache_sources;

/* Of this process: asked each time, since the CPU and the environment are. */
cache_sources ln_cache_sources(void);
void ln_caches_find(const cache_sources *sources, cache_sizes *sizes);

#endif

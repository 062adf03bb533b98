/* Which make of CPU this is, as far as the dispatch table tells makes apart: on CPUs of one ISA
 * another kernel may be the fastest. */
#ifndef LN_CPU_H
#define LN_CPU_H

#include "caches.h"

typedef enum ln_cpu {
    CPU_any,
    CPU_intel, /* measured: one Xeon with AVX-512 */
    CPU_amd25  /* family 25: Zen 4, and Zen 3, which has no AVX-512 */
} ln_cpu;

/* By cpuid alone, so that a test can bring its own. CPU_any: of no make that has rows of its own. */
ln_cpu ln_cpu_make(const cache_sources *sources);

#endif

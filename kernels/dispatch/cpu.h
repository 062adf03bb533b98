/* Which make of CPU this is, as far as the dispatch table tells makes apart: on CPUs of one ISA
 * another kernel may be the fastest. */
#ifndef LN_CPU_H
#define LN_CPU_H

#include "caches.h"

typedef enum ln_cpu {
    CPU_any,
    CPU_intel,
    CPU_amd25 /* family 25: Zen 3 and Zen 4 */
} ln_cpu;

/* By cpuid alone, so that a test can bring its own. CPU_any: of no make that has rows of its own. */
ln_cpu ln_cpu_make(const cache_sources *sources);

#endif

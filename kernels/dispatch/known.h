/* A program calls with the same problem again and again: a thread's last one is not checked, and its
 * kernel not looked up, a second time.
 *
 *     static LN_THREAD_LOCAL known_call latest;
 *     const ln_kernel *kernel = ln_known_kernel(&latest, problem);
 *     if (!kernel) { check(problem); ln_remember(&latest, problem, ln_caches_version(), look_up(problem)); }
 */
#ifndef LN_KNOWN_H
#define LN_KNOWN_H

#include "dispatch.h"
#include <string.h>

#ifdef __GLIBC__ /* elsewhere a library that was opened late has no room of this kind */
#define LN_THREAD_LOCAL __attribute__((tls_model("initial-exec"))) _Thread_local
#else
#define LN_THREAD_LOCAL _Thread_local
#endif

typedef struct known_call {
    ln_problem problem;
    unsigned caches; /* ln_caches_version() when its kernel was looked up */
    const ln_kernel *kernel;
} known_call;

/* The kernel of the latest problem if this one is the same bit by bit, padding too, else NULL: what
 * differs there alone is looked up once more. Each word is compared as it is loaded: copies of both would
 * take longer than a row of 16. */
static inline const ln_kernel *ln_known_kernel(const known_call *latest, const ln_problem *problem)
{
    enum { WORDS = sizeof latest->problem / sizeof(uint64_t) };
    _Static_assert(sizeof latest->problem % sizeof(uint64_t) == 0, "whole words");
    uint64_t differ = latest->caches ^ ln_caches_version();
    for (size_t i = 0; i < WORDS; i++) {
        uint64_t word, known;
        memcpy(&word, (const char *)problem + i * sizeof word, sizeof word);
        memcpy(&known, (const char *)&latest->problem + i * sizeof known, sizeof known);
        differ |= word ^ known;
    }
    return differ == 0 ? latest->kernel : NULL;
}

/* `caches` is read before the kernel is looked up. */
static inline void ln_remember(known_call *latest, const ln_problem *problem, unsigned caches,
                               const ln_kernel *kernel)
{
    latest->caches = caches;
    latest->kernel = kernel;
    memcpy(&latest->problem, problem, sizeof latest->problem);
}

#endif

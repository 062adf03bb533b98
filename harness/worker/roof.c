#include "worker/roof.h"
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>

/* A loop that copies four vectors a turn, by aligned loads and the stores given. */
#define COPY(name, isa, vector, load, store, fence)                                                \
    __attribute__((target(isa))) static void name(const void *x, void *y, size_t bytes)            \
    {                                                                                              \
        const vector *from = x;                                                                    \
        vector *to = y;                                                                            \
        size_t i = 0, vectors = bytes / sizeof(vector) & ~(size_t)3;                               \
        for (; i < vectors; i += 4) {                                                              \
            vector a = load(from + i), b = load(from + i + 1);                                     \
            vector c = load(from + i + 2), d = load(from + i + 3);                                 \
            store(to + i, a);                                                                      \
            store(to + i + 1, b);                                                                  \
            store(to + i + 2, c);                                                                  \
            store(to + i + 3, d);                                                                  \
        }                                                                                          \
        memmove(to + i, from + i, bytes - i * sizeof(vector));                                     \
        fence();                                                                                   \
    }

static inline void no_fence(void)
{
}

COPY(copy_avx512, "avx512f", __m512i, _mm512_load_si512, _mm512_store_si512, no_fence)
COPY(copy_nt_avx512, "avx512f", __m512i, _mm512_load_si512, _mm512_stream_si512, _mm_sfence)
COPY(copy_avx2, "avx2", __m256i, _mm256_load_si256, _mm256_store_si256, no_fence)
COPY(copy_nt_avx2, "avx2", __m256i, _mm256_load_si256, _mm256_stream_si256, _mm_sfence)
COPY(copy_nt_baseline, "sse2", __m128i, _mm_load_si128, _mm_stream_si128, _mm_sfence)
#endif

static void copy_baseline(const void *x, void *y, size_t bytes)
{
    memmove(y, x, bytes);
}

/* The CPU's own copy, in microcode; elsewhere the C library's. */
static void copy_rep(const void *x, void *y, size_t bytes)
{
#if defined(__x86_64__)
    __asm__ volatile("rep movsb" : "+D"(y), "+S"(x), "+c"(bytes) : : "memory");
#else
    memmove(y, x, bytes);
#endif
}

static roof_function *plain(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        return copy_avx512;
    if (__builtin_cpu_supports("avx2"))
        return copy_avx2;
#endif
    return copy_baseline;
}

static roof_function *nontemporal(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        return copy_nt_avx512;
    if (__builtin_cpu_supports("avx2"))
        return copy_nt_avx2;
    return copy_nt_baseline;
#else
    return copy_baseline; /* no portable way to store around the caches */
#endif
}

roof_function *roof_find(const char *name)
{
    return strcmp(name, roof_names[ROOF_COPY]) == 0      ? plain()
           : strcmp(name, roof_names[ROOF_COPY_NT]) == 0 ? nontemporal()
                                                         : copy_rep;
}

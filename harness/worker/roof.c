#include "worker/roof.h"
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>

__attribute__((target("avx512f"))) static void copy_avx512(const void *x, void *y, size_t bytes)
{
    const char *from = x;
    char *to = y;
    size_t i = 0;
    for (; i + 256 <= bytes; i += 256) {
        __m512i a = _mm512_load_si512(from + i);
        __m512i b = _mm512_load_si512(from + i + 64);
        __m512i c = _mm512_load_si512(from + i + 128);
        __m512i d = _mm512_load_si512(from + i + 192);
        _mm512_store_si512(to + i, a);
        _mm512_store_si512(to + i + 64, b);
        _mm512_store_si512(to + i + 128, c);
        _mm512_store_si512(to + i + 192, d);
    }
    memmove(to + i, from + i, bytes - i);
}

__attribute__((target("avx512f"))) static void copy_nt_avx512(const void *x, void *y, size_t bytes)
{
    const char *from = x;
    char *to = y;
    size_t i = 0;
    for (; i + 256 <= bytes; i += 256) {
        __m512i a = _mm512_load_si512(from + i);
        __m512i b = _mm512_load_si512(from + i + 64);
        __m512i c = _mm512_load_si512(from + i + 128);
        __m512i d = _mm512_load_si512(from + i + 192);
        _mm512_stream_si512((void *)(to + i), a);
        _mm512_stream_si512((void *)(to + i + 64), b);
        _mm512_stream_si512((void *)(to + i + 128), c);
        _mm512_stream_si512((void *)(to + i + 192), d);
    }
    memmove(to + i, from + i, bytes - i);
    _mm_sfence();
}

__attribute__((target("avx2"))) static void copy_avx2(const void *x, void *y, size_t bytes)
{
    const char *from = x;
    char *to = y;
    size_t i = 0;
    for (; i + 128 <= bytes; i += 128) {
        __m256i a = _mm256_load_si256((const void *)(from + i));
        __m256i b = _mm256_load_si256((const void *)(from + i + 32));
        __m256i c = _mm256_load_si256((const void *)(from + i + 64));
        __m256i d = _mm256_load_si256((const void *)(from + i + 96));
        _mm256_store_si256((void *)(to + i), a);
        _mm256_store_si256((void *)(to + i + 32), b);
        _mm256_store_si256((void *)(to + i + 64), c);
        _mm256_store_si256((void *)(to + i + 96), d);
    }
    memmove(to + i, from + i, bytes - i);
}

__attribute__((target("avx2"))) static void copy_nt_avx2(const void *x, void *y, size_t bytes)
{
    const char *from = x;
    char *to = y;
    size_t i = 0;
    for (; i + 128 <= bytes; i += 128) {
        __m256i a = _mm256_load_si256((const void *)(from + i));
        __m256i b = _mm256_load_si256((const void *)(from + i + 32));
        __m256i c = _mm256_load_si256((const void *)(from + i + 64));
        __m256i d = _mm256_load_si256((const void *)(from + i + 96));
        _mm256_stream_si256((void *)(to + i), a);
        _mm256_stream_si256((void *)(to + i + 32), b);
        _mm256_stream_si256((void *)(to + i + 64), c);
        _mm256_stream_si256((void *)(to + i + 96), d);
    }
    memmove(to + i, from + i, bytes - i);
    _mm_sfence();
}

static void copy_nt_baseline(const void *x, void *y, size_t bytes)
{
    const char *from = x;
    char *to = y;
    size_t i = 0;
    for (; i + 16 <= bytes; i += 16)
        _mm_stream_si128((void *)(to + i), _mm_load_si128((const void *)(from + i)));
    memmove(to + i, from + i, bytes - i);
    _mm_sfence();
}
#endif

static void copy_baseline(const void *x, void *y, size_t bytes)
{
    memmove(y, x, bytes);
}

roof_function *roof_copy(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        return copy_avx512;
    if (__builtin_cpu_supports("avx2"))
        return copy_avx2;
#endif
    return copy_baseline;
}

roof_function *roof_copy_nt(void)
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

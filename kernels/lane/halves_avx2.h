/* bf16 and f16 storage, AVX2 with F16C, whose conversions keep subnormals, and NaNs quiet. There are
 * no masks for 16 bits: of eight elements the first n are read and written as four, two and one; of
 * four, over f64 items, one by one. What f64 items store is rounded to f32 first (lane/lane.h). */
#ifndef LN_LANE_HALVES_AVX2_H
#define LN_LANE_HALVES_AVX2_H

#include "lane/lane.h"
#include <immintrin.h>

typedef __m128i halves;

#if ITEMS_ARE_F32
#include "lane/f32_avx2.h"

LN_INLINE halves halves_load(const uint16_t *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

LN_INLINE void halves_store(uint16_t *p, halves a)
{
    _mm_storeu_si128((__m128i *)(void *)p, a);
}

/* n < 8 */
LN_APART halves halves_load_first(const uint16_t *p, size_t n)
{
    uint64_t four = 0, rest = 0;
    uint32_t two;
    const uint16_t *from = p + (n & 4u);
    if (n & 1u)
        rest = from[n & 2u];
    if (n & 2u) {
        memcpy(&two, from, sizeof(two));
        rest = rest << 32 | two;
    }
    if (!(n & 4u))
        return _mm_set_epi64x(0, (int64_t)rest);
    memcpy(&four, p, sizeof(four));
    return _mm_set_epi64x((int64_t)rest, (int64_t)four);
}

/* n < 8 */
LN_APART void halves_store_first(uint16_t *p, halves a, size_t n)
{
    if (n & 4u) {
        _mm_storel_epi64((__m128i *)(void *)p, a);
        a = _mm_unpackhi_epi64(a, a);
        p += 4;
    }
    uint64_t rest = (uint64_t)_mm_cvtsi128_si64(a);
    if (n & 2u) {
        memcpy(p, &rest, sizeof(uint32_t));
        rest >>= 32;
        p += 2;
    }
    if (n & 1u)
        *p = (uint16_t)rest;
}

LN_INLINE vec bf16_widened(halves a)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(a), 16));
}

/* bf16_of() in every lane, before its shift. A NaN that arithmetic made is quiet: cut off, it stays
 * one. */
LN_INLINE __m256i bf16_rounded(vec a)
{
    __m256i bits = _mm256_castps_si256(a);
    __m256i number = _mm256_castps_si256(_mm256_cmp_ps(a, a, _CMP_ORD_Q));
    __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    __m256i half = _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff));
    return _mm256_add_epi32(bits, _mm256_and_si256(half, number));
}

/* The upper halves of the lanes. */
LN_INLINE halves bf16_narrowed(vec a)
{
    __m256i low = _mm256_srli_epi32(bf16_rounded(a), 16);
    return _mm_packus_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
}

LN_INLINE vec bf16_stored(vec a)
{
    const __m256i upper = _mm256_set1_epi32((int)0xffff0000u);
    return _mm256_castsi256_ps(_mm256_and_si256(bf16_rounded(a), upper));
}

LN_INLINE vec f16_widened(halves a)
{
    return _mm256_cvtph_ps(a);
}

LN_INLINE halves f16_narrowed(vec a)
{
    return _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

#else
#include "lane/f64_avx2.h"

LN_INLINE halves halves_load(const uint16_t *p)
{
    return _mm_loadl_epi64((const __m128i *)(const void *)p);
}

LN_APART halves halves_load_first(const uint16_t *p, size_t n)
{
    uint16_t elements[LANES] = {0};
    for (size_t i = 0; i < n; i++)
        elements[i] = p[i];
    return halves_load(elements);
}

LN_INLINE void halves_store(uint16_t *p, halves a)
{
    _mm_storel_epi64((__m128i *)(void *)p, a);
}

LN_APART void halves_store_first(uint16_t *p, halves a, size_t n)
{
    uint16_t elements[LANES];
    halves_store(elements, a);
    for (size_t i = 0; i < n; i++)
        p[i] = elements[i];
}

LN_INLINE vec bf16_widened(halves a)
{
    return _mm256_cvtps_pd(_mm_castsi128_ps(_mm_slli_epi32(_mm_cvtepu16_epi32(a), 16)));
}

LN_INLINE halves bf16_narrowed(vec a)
{
    __m128i bits = _mm_castps_si128(_mm256_cvtpd_ps(a));
    __m128i odd = _mm_and_si128(_mm_srli_epi32(bits, 16), _mm_set1_epi32(1));
    bits = _mm_add_epi32(bits, _mm_add_epi32(odd, _mm_set1_epi32(0x7fff)));
    return _mm_packus_epi32(_mm_srli_epi32(bits, 16), _mm_setzero_si128());
}

LN_INLINE vec bf16_stored(vec a)
{
    return bf16_widened(bf16_narrowed(a));
}

LN_INLINE vec f16_widened(halves a)
{
    return _mm256_cvtps_pd(_mm_cvtph_ps(a));
}

LN_INLINE halves f16_narrowed(vec a)
{
    return _mm_cvtps_ph(_mm256_cvtpd_ps(a), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

#endif

LN_HALVES_WORDS(bf16, bf16_stored(a))
LN_HALVES_WORDS(f16, f16_widened(f16_narrowed(a)))

#endif

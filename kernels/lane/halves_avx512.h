/* bf16 and f16 storage, AVX-512. The conversions of f16 keep subnormals, and NaNs quiet. bf16 is rounded
 * by integers; over f32 items one permutation of words puts sixteen elements into the upper halves of
 * the lanes, another takes them out. What f64 items store is rounded to f32 first (lane/lane.h). */
#ifndef LN_LANE_HALVES_AVX512_H
#define LN_LANE_HALVES_AVX512_H

#include "lane/lane.h"

#if ITEMS_ARE_F32
#include "lane/f32_avx512.h"

typedef __m256i halves;

LN_INLINE halves halves_load(const uint16_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

LN_INLINE halves halves_load_first(const uint16_t *p, size_t n)
{
    return _mm256_maskz_loadu_epi16(lane_mask(n), p);
}

LN_INLINE void halves_store(uint16_t *p, halves a)
{
    _mm256_storeu_si256((__m256i *)(void *)p, a);
}

LN_INLINE void halves_store_first(uint16_t *p, halves a, size_t n)
{
    _mm256_mask_storeu_epi16(p, lane_mask(n), a);
}

/* Word 2 i + 1 of the result is word i of a, its other words are 0. */
LN_INLINE vec bf16_widened(halves a)
{
    const __m512i from = _mm512_set_epi16(15, 0, 14, 0, 13, 0, 12, 0, 11, 0, 10, 0, 9, 0, 8, 0, 7,
                                          0, 6, 0, 5, 0, 4, 0, 3, 0, 2, 0, 1, 0, 0, 0);
    return _mm512_castsi512_ps(
        _mm512_maskz_permutexvar_epi16(0xaaaaaaaau, from, _mm512_castsi256_si512(a)));
}

/* The upper halves of the lanes. */
LN_INLINE halves bf16_narrowed(vec a)
{
    const __m512i from = _mm512_set_epi16(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 31, 29,
                                          27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
    return _mm512_castsi512_si256(_mm512_permutexvar_epi16(from, bf16_rounded(a)));
}

LN_INLINE vec bf16_stored(vec a)
{
    const __m512i upper = _mm512_set1_epi32((int)0xffff0000u);
    return _mm512_castsi512_ps(_mm512_and_si512(bf16_rounded(a), upper));
}

LN_INLINE void lane_stream_bf16(element_bf16 *p, vec a)
{
    _mm256_stream_si256((__m256i *)(void *)p, bf16_narrowed(a));
}

LN_INLINE vec f16_widened(halves a)
{
    return _mm512_cvtph_ps(a);
}

LN_INLINE halves f16_narrowed(vec a)
{
    return _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

LN_INLINE void lane_stream_f16(element_f16 *p, vec a)
{
    _mm256_stream_si256((__m256i *)(void *)p, f16_narrowed(a));
}

#else
#include "lane/f64_avx512.h"

typedef __m128i halves;

LN_INLINE halves halves_load(const uint16_t *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

LN_INLINE halves halves_load_first(const uint16_t *p, size_t n)
{
    return _mm_maskz_loadu_epi16(lane_mask(n), p);
}

LN_INLINE void halves_store(uint16_t *p, halves a)
{
    _mm_storeu_si128((__m128i *)(void *)p, a);
}

LN_INLINE void halves_store_first(uint16_t *p, halves a, size_t n)
{
    _mm_mask_storeu_epi16(p, lane_mask(n), a);
}

LN_INLINE vec bf16_widened(halves a)
{
    return _mm512_cvtps_pd(_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(a), 16)));
}

LN_INLINE halves bf16_narrowed(vec a)
{
    __m256i bits = _mm256_castps_si256(_mm512_cvtpd_ps(a));
    __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    bits = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    return _mm256_cvtepi32_epi16(_mm256_srli_epi32(bits, 16));
}

LN_INLINE vec bf16_stored(vec a)
{
    return bf16_widened(bf16_narrowed(a));
}

LN_INLINE vec f16_widened(halves a)
{
    return _mm512_cvtps_pd(_mm256_maskz_cvtph_ps(0xff, a));
}

LN_INLINE halves f16_narrowed(vec a)
{
    return _mm256_maskz_cvtps_ph(0xff, _mm512_cvtpd_ps(a),
                                 _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* ---- In f32 (lane/lane.h) ---- */

#define LANE_SINGLE

/* Word 2 i + 1 of the result is word i of what is read, its other words are 0. */
LN_INLINE single single_load_bf16(const element_bf16 *p)
{
    const __m512i from = _mm512_set_epi16(15, 0, 14, 0, 13, 0, 12, 0, 11, 0, 10, 0, 9, 0, 8, 0, 7,
                                          0, 6, 0, 5, 0, 4, 0, 3, 0, 2, 0, 1, 0, 0, 0);
    __m512i words = _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)(const void *)p));
    return _mm512_castsi512_ps(_mm512_maskz_permutexvar_epi16(0xaaaaaaaau, from, words));
}

/* The bits in which ends of intervals differ, rounded; only the upper halves of lanes count. */
typedef __m512i bf16_ends;

LN_INLINE bf16_ends single_ends_bf16(void)
{
    return _mm512_setzero_si512();
}

/* Halves are rounded away from zero: no exact result is at an end. */
LN_INLINE bf16_ends single_store_bf16(element_bf16 *p, single low, single high, bf16_ends so_far)
{
    const __m512i half = _mm512_set1_epi32(0x8000);
    const __m512i upper = _mm512_set_epi16(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 31, 29,
                                           27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
    enum { OR_OF_XOR = 0xf6 };
    __m512i rounded = _mm512_add_epi32(_mm512_castps_si512(high), half);
    __m512i other = _mm512_add_epi32(_mm512_castps_si512(low), half);
    _mm256_storeu_si256((__m256i *)(void *)p,
                        _mm512_castsi512_si256(_mm512_permutexvar_epi16(upper, rounded)));
    return _mm512_ternarylogic_epi32(so_far, rounded, other, OR_OF_XOR);
}

LN_INLINE int single_ends_differ_bf16(bf16_ends ends)
{
    return _mm512_test_epi32_mask(ends, _mm512_set1_epi32((int)0xffff0000u)) != 0;
}

LN_INLINE single single_load_f16(const element_f16 *p)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)p));
}

/* The bits in which ends of intervals differ, rounded. */
typedef __m256i f16_ends;

LN_INLINE f16_ends single_ends_f16(void)
{
    return _mm256_setzero_si256();
}

LN_INLINE f16_ends single_store_f16(element_f16 *p, single low, single high, f16_ends so_far)
{
    enum { NEAREST = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC, OR_OF_XOR = 0xf6 };
    __m256i rounded = _mm512_cvtps_ph(high, NEAREST), other = _mm512_cvtps_ph(low, NEAREST);
    _mm256_storeu_si256((__m256i *)(void *)p, rounded);
    return _mm256_ternarylogic_epi32(so_far, rounded, other, OR_OF_XOR);
}

LN_INLINE int single_ends_differ_f16(f16_ends ends)
{
    return !_mm256_testz_si256(ends, ends);
}

#endif

LN_HALVES_WORDS(bf16, bf16_stored(a))
LN_HALVES_WORDS(f16, f16_widened(f16_narrowed(a)))

#endif

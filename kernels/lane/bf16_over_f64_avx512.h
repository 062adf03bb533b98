/* bf16 in memory, f64 items, AVX-512. What is stored is rounded to f32 first (lane/lane.h). */
#ifndef LN_LANE_BF16_OVER_F64_AVX512_H
#define LN_LANE_BF16_OVER_F64_AVX512_H

#include "lane/f64_avx512.h"

LN_INLINE vec bf16_widened_f64(__m128i a)
{
    return _mm512_cvtps_pd(_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(a), 16)));
}

LN_INLINE __m128i bf16_rounded_f64(vec a)
{
    __m256i bits = _mm256_castps_si256(_mm512_cvtpd_ps(a));
    __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    bits = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    return _mm256_cvtepi32_epi16(_mm256_srli_epi32(bits, 16));
}

LN_INLINE vec lane_load_bf16(const element_bf16 *p)
{
    return bf16_widened_f64(_mm_loadu_si128((const __m128i *)(const void *)p));
}

LN_INLINE vec lane_load_first_bf16(const element_bf16 *p, size_t n)
{
    return bf16_widened_f64(_mm_maskz_loadu_epi16(lane_mask(n), p));
}

LN_INLINE void lane_store_bf16(element_bf16 *p, vec a)
{
    _mm_storeu_si128((__m128i *)(void *)p, bf16_rounded_f64(a));
}

LN_INLINE void lane_store_first_bf16(element_bf16 *p, vec a, size_t n)
{
    _mm_mask_storeu_epi16(p, lane_mask(n), bf16_rounded_f64(a));
}

LN_INLINE vec lane_stored_bf16(vec a)
{
    return bf16_widened_f64(bf16_rounded_f64(a));
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
typedef __m512i single_ends;

LN_INLINE single_ends single_ends_bf16(void)
{
    return _mm512_setzero_si512();
}

/* Halves are rounded away from zero: no exact result is at an end. */
LN_INLINE single_ends single_store_bf16(element_bf16 *p, single low, single high,
                                        single_ends so_far)
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

LN_INLINE int single_ends_differ_bf16(single_ends ends)
{
    return _mm512_test_epi32_mask(ends, _mm512_set1_epi32((int)0xffff0000u)) != 0;
}

#endif

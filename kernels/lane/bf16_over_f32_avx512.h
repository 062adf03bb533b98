/* bf16 storage, AVX-512, rounded by integers: one permutation of words puts sixteen elements into the
 * upper halves of f32 lanes, another takes them out. */
#ifndef LN_LANE_BF16_OVER_F32_AVX512_H
#define LN_LANE_BF16_OVER_F32_AVX512_H

#include "lane/f32_avx512.h"

/* Word 2 i + 1 of the result is word i of a, its other words are 0. */
LN_INLINE __m512 bf16_widened(__m256i a)
{
    const __m512i from = _mm512_set_epi16(15, 0, 14, 0, 13, 0, 12, 0, 11, 0, 10, 0, 9, 0, 8, 0, 7,
                                          0, 6, 0, 5, 0, 4, 0, 3, 0, 2, 0, 1, 0, 0, 0);
    return _mm512_castsi512_ps(
        _mm512_maskz_permutexvar_epi16(0xaaaaaaaau, from, _mm512_castsi256_si512(a)));
}

/* The upper halves of the lanes. */
LN_INLINE __m256i bf16_narrowed(__m512i a)
{
    const __m512i from = _mm512_set_epi16(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 31, 29,
                                          27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
    return _mm512_castsi512_si256(_mm512_permutexvar_epi16(from, a));
}

LN_INLINE vec lane_load_bf16(const element_bf16 *p)
{
    return bf16_widened(_mm256_loadu_si256((const __m256i *)(const void *)p));
}

LN_INLINE vec lane_load_first_bf16(const element_bf16 *p, size_t n)
{
    return bf16_widened(_mm256_maskz_loadu_epi16(lane_mask(n), p));
}

LN_INLINE vec lane_stored_bf16(vec a)
{
    const __m512i upper = _mm512_set1_epi32((int)0xffff0000u);
    return _mm512_castsi512_ps(_mm512_and_si512(bf16_rounded(a), upper));
}

LN_INLINE void lane_store_bf16(element_bf16 *p, vec a)
{
    _mm256_storeu_si256((__m256i *)(void *)p, bf16_narrowed(bf16_rounded(a)));
}

LN_INLINE void lane_store_first_bf16(element_bf16 *p, vec a, size_t n)
{
    _mm256_mask_storeu_epi16(p, lane_mask(n), bf16_narrowed(bf16_rounded(a)));
}

LN_INLINE void lane_stream_bf16(element_bf16 *p, vec a)
{
    _mm256_stream_si256((__m256i *)(void *)p, bf16_narrowed(bf16_rounded(a)));
}

#endif

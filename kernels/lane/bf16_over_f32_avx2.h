/* bf16 storage, AVX2. */
#ifndef LN_LANE_BF16_OVER_F32_AVX2_H
#define LN_LANE_BF16_OVER_F32_AVX2_H

#include "lane/f32_avx2.h"

LN_INLINE vec bf16_widened(__m128i a)
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
LN_INLINE __m128i bf16_narrowed(__m256i a)
{
    __m256i low = _mm256_srli_epi32(a, 16);
    return _mm_packus_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
}

LN_INLINE vec lane_load_bf16(const element_bf16 *p)
{
    return bf16_widened(halves_load(p));
}

LN_INLINE vec lane_load_first_bf16(const element_bf16 *p, size_t n)
{
    return bf16_widened(halves_load_first(p, n));
}

LN_INLINE void lane_store_bf16(element_bf16 *p, vec a)
{
    halves_store(p, bf16_narrowed(bf16_rounded(a)));
}

LN_INLINE void lane_store_first_bf16(element_bf16 *p, vec a, size_t n)
{
    halves_store_first(p, bf16_narrowed(bf16_rounded(a)), n);
}

LN_INLINE vec lane_stored_bf16(vec a)
{
    const __m256i upper = _mm256_set1_epi32((int)0xffff0000u);
    return _mm256_castsi256_ps(_mm256_and_si256(bf16_rounded(a), upper));
}

#endif

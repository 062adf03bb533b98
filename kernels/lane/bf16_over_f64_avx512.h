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

#endif

/* bf16 in memory, f64 items, AVX2. What is stored is rounded to f32 first (lane/lane.h). */
#ifndef LN_LANE_BF16_OVER_F64_AVX2_H
#define LN_LANE_BF16_OVER_F64_AVX2_H

#include "lane/f64_avx2.h"

LN_INLINE vec bf16_widened_f64(__m128i a)
{
    return _mm256_cvtps_pd(_mm_castsi128_ps(_mm_slli_epi32(_mm_cvtepu16_epi32(a), 16)));
}

LN_INLINE __m128i bf16_rounded_f64(vec a)
{
    __m128i bits = _mm_castps_si128(_mm256_cvtpd_ps(a));
    __m128i odd = _mm_and_si128(_mm_srli_epi32(bits, 16), _mm_set1_epi32(1));
    bits = _mm_add_epi32(bits, _mm_add_epi32(odd, _mm_set1_epi32(0x7fff)));
    return _mm_packus_epi32(_mm_srli_epi32(bits, 16), _mm_setzero_si128());
}

LN_INLINE vec lane_load_bf16(const element_bf16 *p)
{
    return bf16_widened_f64(_mm_loadl_epi64((const __m128i *)(const void *)p));
}

LN_APART vec lane_load_first_bf16(const element_bf16 *p, size_t n)
{
    element_bf16 elements[LANES] = {0};
    for (size_t i = 0; i < n; i++)
        elements[i] = p[i];
    return lane_load_bf16(elements);
}

LN_INLINE void lane_store_bf16(element_bf16 *p, vec a)
{
    _mm_storel_epi64((__m128i *)(void *)p, bf16_rounded_f64(a));
}

LN_APART void lane_store_first_bf16(element_bf16 *p, vec a, size_t n)
{
    element_bf16 elements[LANES];
    lane_store_bf16(elements, a);
    for (size_t i = 0; i < n; i++)
        p[i] = elements[i];
}

LN_INLINE vec lane_stored_bf16(vec a)
{
    return bf16_widened_f64(bf16_rounded_f64(a));
}

#endif

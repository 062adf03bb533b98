/* f16 in memory, f64 items, AVX2. What is stored is rounded to f32 first (lane/lane.h). */
#ifndef LN_LANE_F16_OVER_F64_AVX2_H
#define LN_LANE_F16_OVER_F64_AVX2_H

#include "lane/f64_avx2.h"

LN_INLINE vec f16_widened_f64(__m128i a)
{
    return _mm256_cvtps_pd(_mm_cvtph_ps(a));
}

LN_INLINE __m128i f16_rounded_f64(vec a)
{
    return _mm_cvtps_ph(_mm256_cvtpd_ps(a), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

LN_INLINE vec lane_load_f16(const element_f16 *p)
{
    return f16_widened_f64(_mm_loadl_epi64((const __m128i *)(const void *)p));
}

LN_APART vec lane_load_first_f16(const element_f16 *p, size_t n)
{
    element_f16 elements[LANES] = {0};
    for (size_t i = 0; i < n; i++)
        elements[i] = p[i];
    return lane_load_f16(elements);
}

LN_INLINE void lane_store_f16(element_f16 *p, vec a)
{
    _mm_storel_epi64((__m128i *)(void *)p, f16_rounded_f64(a));
}

LN_APART void lane_store_first_f16(element_f16 *p, vec a, size_t n)
{
    element_f16 elements[LANES];
    lane_store_f16(elements, a);
    for (size_t i = 0; i < n; i++)
        p[i] = elements[i];
}

LN_INLINE vec lane_stored_f16(vec a)
{
    return f16_widened_f64(f16_rounded_f64(a));
}

#endif

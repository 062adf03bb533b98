/* f16 in memory, f64 items, AVX-512. What is stored is rounded to f32 first (lane/lane.h). */
#ifndef LN_LANE_F16_OVER_F64_AVX512_H
#define LN_LANE_F16_OVER_F64_AVX512_H

#include "lane/f64_avx512.h"

LN_INLINE vec f16_widened_f64(__m128i a)
{
    return _mm512_cvtps_pd(_mm256_maskz_cvtph_ps(0xff, a));
}

LN_INLINE __m128i f16_rounded_f64(vec a)
{
    return _mm256_maskz_cvtps_ph(0xff, _mm512_cvtpd_ps(a),
                                 _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

LN_INLINE vec lane_load_f16(const element_f16 *p)
{
    return f16_widened_f64(_mm_loadu_si128((const __m128i *)(const void *)p));
}

LN_INLINE vec lane_load_first_f16(const element_f16 *p, size_t n)
{
    return f16_widened_f64(_mm_maskz_loadu_epi16(lane_mask(n), p));
}

LN_INLINE void lane_store_f16(element_f16 *p, vec a)
{
    _mm_storeu_si128((__m128i *)(void *)p, f16_rounded_f64(a));
}

LN_INLINE void lane_store_first_f16(element_f16 *p, vec a, size_t n)
{
    _mm_mask_storeu_epi16(p, lane_mask(n), f16_rounded_f64(a));
}

LN_INLINE vec lane_stored_f16(vec a)
{
    return f16_widened_f64(f16_rounded_f64(a));
}

/* ---- In f32 (lane/lane.h) ---- */

#define LANE_SINGLE

LN_INLINE single single_load_f16(const element_f16 *p)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)p));
}

/* The bits in which ends of intervals differ, rounded. */
typedef __m256i single_ends;

LN_INLINE single_ends single_ends_f16(void)
{
    return _mm256_setzero_si256();
}

LN_INLINE single_ends single_store_f16(element_f16 *p, single low, single high, single_ends so_far)
{
    enum { NEAREST = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC, OR_OF_XOR = 0xf6 };
    __m256i rounded = _mm512_cvtps_ph(high, NEAREST), other = _mm512_cvtps_ph(low, NEAREST);
    _mm256_storeu_si256((__m256i *)(void *)p, rounded);
    return _mm256_ternarylogic_epi32(so_far, rounded, other, OR_OF_XOR);
}

LN_INLINE int single_ends_differ_f16(single_ends ends)
{
    return !_mm256_testz_si256(ends, ends);
}

#endif

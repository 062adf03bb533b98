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

#endif

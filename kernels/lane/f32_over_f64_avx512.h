/* f32 in memory, f64 items, AVX-512. */
#ifndef LN_LANE_F32_OVER_F64_AVX512_H
#define LN_LANE_F32_OVER_F64_AVX512_H

#include "lane/f64_avx512.h"

LN_INLINE vec lane_load_f32(const element_f32 *p)
{
    return _mm512_cvtps_pd(_mm256_loadu_ps(p));
}

LN_INLINE vec lane_load_first_f32(const element_f32 *p, size_t n)
{
    return _mm512_cvtps_pd(_mm256_maskz_loadu_ps(lane_mask(n), p));
}

LN_INLINE void lane_store_f32(element_f32 *p, vec a)
{
    _mm256_storeu_ps(p, _mm512_cvtpd_ps(a));
}

LN_INLINE void lane_store_first_f32(element_f32 *p, vec a, size_t n)
{
    _mm256_mask_storeu_ps(p, lane_mask(n), _mm512_cvtpd_ps(a));
}

LN_INLINE vec lane_stored_f32(vec a)
{
    return _mm512_cvtps_pd(_mm512_cvtpd_ps(a));
}

LN_INLINE void lane_stream_f32(element_f32 *p, vec a)
{
    _mm256_stream_ps(p, _mm512_cvtpd_ps(a));
}

LN_INLINE void lane_fence(void)
{
    _mm_sfence();
}

#endif

/* f32 in memory, f64 items, AVX2. */
#ifndef LN_LANE_F32_OVER_F64_AVX2_H
#define LN_LANE_F32_OVER_F64_AVX2_H

#include "lane/f64_avx2.h"

/* All ones in the first n <= LANES lanes of half a register. */
LN_INLINE __m128i half_mask(size_t n)
{
    static const int32_t ones_then_zeros[2 * LANES] = {-1, -1, -1, -1};
    return _mm_loadu_si128((const __m128i *)(const void *)(ones_then_zeros + LANES - n));
}

LN_INLINE vec lane_load_f32(const element_f32 *p)
{
    return _mm256_cvtps_pd(_mm_loadu_ps(p));
}

LN_INLINE vec lane_load_first_f32(const element_f32 *p, size_t n)
{
    return _mm256_cvtps_pd(_mm_maskload_ps(p, half_mask(n)));
}

LN_INLINE void lane_store_f32(element_f32 *p, vec a)
{
    _mm_storeu_ps(p, _mm256_cvtpd_ps(a));
}

LN_INLINE void lane_store_first_f32(element_f32 *p, vec a, size_t n)
{
    _mm_maskstore_ps(p, half_mask(n), _mm256_cvtpd_ps(a));
}

LN_INLINE vec lane_stored_f32(vec a)
{
    return _mm256_cvtps_pd(_mm256_cvtpd_ps(a));
}

LN_INLINE void lane_stream_f32(element_f32 *p, vec a)
{
    _mm_stream_ps(p, _mm256_cvtpd_ps(a));
}

LN_INLINE void lane_fence(void)
{
    _mm_sfence();
}

#endif

/* f16 storage, AVX-512. The conversions keep subnormals, and NaNs quiet. */
#ifndef LN_LANE_F16_OVER_F32_AVX512_H
#define LN_LANE_F16_OVER_F32_AVX512_H

#include "lane/f32_avx512.h"

LN_INLINE __m256i f16_rounded(vec a)
{
    return _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* Reading takes two operations a register, the second of which shares its ports with permutations:
 * what is read again is better kept as items. */
#define LANE_LOAD_DEAR

LN_INLINE vec lane_load_f16(const element_f16 *p)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)p));
}

LN_INLINE vec lane_load_first_f16(const element_f16 *p, size_t n)
{
    return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(lane_mask(n), p));
}

LN_INLINE void lane_store_f16(element_f16 *p, vec a)
{
    _mm256_storeu_si256((__m256i *)(void *)p, f16_rounded(a));
}

LN_INLINE void lane_store_first_f16(element_f16 *p, vec a, size_t n)
{
    _mm256_mask_storeu_epi16(p, lane_mask(n), f16_rounded(a));
}

LN_INLINE void lane_stream_f16(element_f16 *p, vec a)
{
    _mm256_stream_si256((__m256i *)(void *)p, f16_rounded(a));
}

LN_INLINE vec lane_stored_f16(vec a)
{
    return _mm512_cvtph_ps(f16_rounded(a));
}

#endif

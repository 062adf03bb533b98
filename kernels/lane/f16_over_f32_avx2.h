/* f16 storage, AVX2 with F16C, whose conversions keep subnormals, and NaNs quiet. */
#ifndef LN_LANE_F16_OVER_F32_AVX2_H
#define LN_LANE_F16_OVER_F32_AVX2_H

#include "lane/f32_avx2.h"

LN_INLINE vec f16_widened(__m128i a)
{
    return _mm256_cvtph_ps(a);
}

LN_INLINE __m128i f16_rounded(vec a)
{
    return _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

LN_INLINE vec lane_load_f16(const element_f16 *p)
{
    return f16_widened(halves_load(p));
}

LN_INLINE vec lane_load_first_f16(const element_f16 *p, size_t n)
{
    return f16_widened(halves_load_first(p, n));
}

LN_INLINE void lane_store_f16(element_f16 *p, vec a)
{
    halves_store(p, f16_rounded(a));
}

LN_INLINE void lane_store_first_f16(element_f16 *p, vec a, size_t n)
{
    halves_store_first(p, f16_rounded(a), n);
}

LN_INLINE vec lane_stored_f16(vec a)
{
    return _mm256_cvtph_ps(f16_rounded(a));
}

#endif

/* bf16 storage, AVX512-BF16: its conversion rounds to nearest even and keeps NaNs, but takes
 * subnormals for zeros. Those are rare: a vector that has one is rounded by integers instead. */
#ifndef LN_LANE_BF16_OVER_F32_AVX512BF16_H
#define LN_LANE_BF16_OVER_F32_AVX512BF16_H

#include "lane/bf16_avx512.h"

/* _mm512_fpclass_ps_mask()'s bit for subnormals. */
#define FPCLASS_SUBNORMAL 0x20

LN_INLINE __m256i bf16_converted(vec a)
{
    if (__builtin_expect(_mm512_fpclass_ps_mask(a, FPCLASS_SUBNORMAL) != 0, 0))
        return bf16_narrowed(bf16_rounded(a));
    return (__m256i)_mm512_cvtneps_pbh(a);
}

LN_INLINE void lane_store_bf16(element_bf16 *p, vec a)
{
    _mm256_storeu_si256((__m256i *)(void *)p, bf16_converted(a));
}

LN_INLINE void lane_store_first_bf16(element_bf16 *p, vec a, size_t n)
{
    _mm256_mask_storeu_epi16(p, lane_mask(n), bf16_converted(a));
}

#endif

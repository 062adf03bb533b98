/* bf16 storage, AVX-512, rounded by integers. */
#ifndef LN_LANE_BF16_OVER_F32_AVX512_H
#define LN_LANE_BF16_OVER_F32_AVX512_H

#include "lane/bf16_avx512.h"

LN_INLINE void lane_store_bf16(element_bf16 *p, vec a)
{
    _mm256_storeu_si256((__m256i *)(void *)p, bf16_narrowed(bf16_rounded(a)));
}

LN_INLINE void lane_store_first_bf16(element_bf16 *p, vec a, size_t n)
{
    _mm256_mask_storeu_epi16(p, lane_mask(n), bf16_narrowed(bf16_rounded(a)));
}

#endif

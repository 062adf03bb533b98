/* Rounding to bf16 by integers, in an AVX-512 register. */
#ifndef LN_LANE_BF16_ROUNDED_AVX512_H
#define LN_LANE_BF16_ROUNDED_AVX512_H

#include "lane/bf16.h"
#include <immintrin.h>

/* bf16_of() in every lane, before its shift. A NaN that arithmetic made is quiet: cut off, it stays
 * one. */
LN_INLINE __m512i bf16_rounded(__m512 a)
{
    __m512i bits = _mm512_castps_si512(a);
    __mmask16 odd = _mm512_test_epi32_mask(bits, _mm512_set1_epi32(0x10000));
    __mmask16 number = _mm512_cmp_ps_mask(a, a, _CMP_ORD_Q);
    __m512i half =
        _mm512_mask_blend_epi32(odd, _mm512_set1_epi32(0x7fff), _mm512_set1_epi32(0x8000));
    return _mm512_mask_add_epi32(bits, number, bits, half);
}

#endif

/* bf16 storage, AVX512-BF16: its conversion rounds to nearest even and keeps NaNs, but takes
 * subnormals for zeros. Those are rare: a vector that has one is rounded by integers instead. */
#ifndef LN_LANE_BF16_OVER_F32_AVX512BF16_H
#define LN_LANE_BF16_OVER_F32_AVX512BF16_H

#include "lane/bf16_rounded_avx512.h"
#include "lane/f32_avx512bf16.h"

/* _mm512_fpclass_ps_mask()'s bit for subnormals. */
#define FPCLASS_SUBNORMAL 0x20

LN_INLINE __m512i bf16_upper_halves(__m512i a)
{
    return _mm512_and_si512(a, _mm512_set1_epi32((int)0xffff0000u));
}

LN_INLINE vec bf16_widened(__m512i a)
{
    return (vec){_mm512_castsi512_ps(_mm512_slli_epi32(a, 16)),
                 _mm512_castsi512_ps(bf16_upper_halves(a))};
}

LN_INLINE __m512i bf16_converted(vec a)
{
    __mmask16 even = _mm512_fpclass_ps_mask(a.even, FPCLASS_SUBNORMAL);
    __mmask16 odd = _mm512_fpclass_ps_mask(a.odd, FPCLASS_SUBNORMAL);
    if (__builtin_expect((even | odd) != 0, 0))
        return _mm512_or_si512(_mm512_srli_epi32(bf16_rounded(a.even), 16),
                               bf16_upper_halves(bf16_rounded(a.odd)));
    const __m512i zip = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24,
                                         8, 23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    return _mm512_permutexvar_epi16(zip, (__m512i)_mm512_cvtne2ps_pbh(a.odd, a.even));
}

LN_INLINE __mmask32 bf16_mask(size_t n)
{
    return ((__mmask32)1 << n) - 1;
}

LN_INLINE vec lane_load_bf16(const element_bf16 *p)
{
    return bf16_widened(_mm512_loadu_si512(p));
}

LN_INLINE vec lane_load_first_bf16(const element_bf16 *p, size_t n)
{
    return bf16_widened(_mm512_maskz_loadu_epi16(bf16_mask(n), p));
}

LN_INLINE void lane_store_bf16(element_bf16 *p, vec a)
{
    _mm512_storeu_si512(p, bf16_converted(a));
}

LN_INLINE void lane_store_first_bf16(element_bf16 *p, vec a, size_t n)
{
    _mm512_mask_storeu_epi16(p, bf16_mask(n), bf16_converted(a));
}

LN_INLINE void lane_stream_bf16(element_bf16 *p, vec a)
{
    _mm512_stream_si512((__m512i *)(void *)p, bf16_converted(a));
}

LN_INLINE void lane_fence(void)
{
    _mm_sfence();
}

LN_INLINE vec lane_stored_bf16(vec a)
{
    return (vec){_mm512_castsi512_ps(bf16_upper_halves(bf16_rounded(a.even))),
                 _mm512_castsi512_ps(bf16_upper_halves(bf16_rounded(a.odd)))};
}

#endif

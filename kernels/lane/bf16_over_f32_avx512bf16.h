/* bf16 storage, AVX512-BF16: its conversion rounds to nearest even and keeps NaNs, but takes
 * subnormals for zeros. Zeros are rare: a vector that comes out with one is rounded by integers
 * instead. */
#ifndef LN_LANE_BF16_OVER_F32_AVX512BF16_H
#define LN_LANE_BF16_OVER_F32_AVX512BF16_H

#include "lane/f32_avx512bf16.h"
#include "lane/bf16.h"

LN_INLINE __m512i bf16_upper_halves(__m512i a)
{
    return _mm512_and_si512(a, _mm512_set1_epi32((int)0xffff0000u));
}

LN_INLINE vec bf16_widened(__m512i a)
{
    return (vec){_mm512_castsi512_ps(_mm512_slli_epi32(a, 16)),
                 _mm512_castsi512_ps(bf16_upper_halves(a))};
}

LN_RARE __m512i bf16_converted_exactly(__m512 even, __m512 odd)
{
    return _mm512_or_si512(_mm512_srli_epi32(bf16_rounded(even), 16),
                           bf16_upper_halves(bf16_rounded(odd)));
}

/* What _mm512_cvtne2ps_pbh() gives, even elements below odd ones, as they lie in memory. */
LN_INLINE __m512i bf16_zipped(__m512i halves)
{
    const __m512i zip = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24,
                                         8, 23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    return _mm512_permutexvar_epi16(zip, halves);
}

LN_INLINE __m512i bf16_converted(vec a)
{
    __m512i halves = (__m512i)_mm512_cvtne2ps_pbh(a.odd, a.even);
    __mmask32 zeros = _mm512_testn_epi16_mask(halves, _mm512_set1_epi16(0x7fff));
    if (__builtin_expect(zeros != 0, 0))
        return bf16_converted_exactly(a.even, a.odd);
    return bf16_zipped(halves);
}

LN_INLINE __mmask32 bf16_mask(size_t n)
{
    return ((__mmask32)1 << n) - 1;
}

LN_INLINE vec lane_load_bf16(const element_bf16 *p)
{
    __m512i a = _mm512_loadu_si512(p);
    __asm__("" : "+v"(a)); /* or compilers load it twice */
    return bf16_widened(a);
}

LN_INLINE vec lane_load_first_bf16(const element_bf16 *p, size_t n)
{
    return bf16_widened(_mm512_maskz_loadu_epi16(bf16_mask(n), p));
}

/* A product of two bf16 is exact, and two of them are added to a lane at once. Sums are in one half
 * alone, the even or the odd one: the other stays as it is. */
#define LANE_DOT
LN_INLINE void lane_dot_bf16(const element_bf16 *p, size_t n, int odd, vec *sum, vec *square)
{
    __m512bh x =
        (__m512bh)(n >= LANES ? _mm512_loadu_si512(p) : _mm512_maskz_loadu_epi16(bf16_mask(n), p));
    const __m512bh ones = (__m512bh)_mm512_set1_epi16(0x3f80);
    if (odd) {
        sum->odd = _mm512_dpbf16_ps(sum->odd, x, ones);
        square->odd = _mm512_dpbf16_ps(square->odd, x, x);
    } else {
        sum->even = _mm512_dpbf16_ps(sum->even, x, ones);
        square->even = _mm512_dpbf16_ps(square->even, x, x);
    }
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

/* Of numbers that are not subnormal. */
#define LANE_STORE_REGULAR
LN_INLINE void lane_store_regular_bf16(element_bf16 *p, vec a)
{
    _mm512_storeu_si512(p, bf16_zipped((__m512i)_mm512_cvtne2ps_pbh(a.odd, a.even)));
}

LN_INLINE void lane_stream_regular_bf16(element_bf16 *p, vec a)
{
    _mm512_stream_si512((__m512i *)(void *)p,
                        bf16_zipped((__m512i)_mm512_cvtne2ps_pbh(a.odd, a.even)));
}

/* No lane but those that are 0 is less than `least`. */
LN_INLINE int lane_is_regular(vec a, float least)
{
    const __m512 zero = _mm512_setzero_ps(), bound = _mm512_set1_ps(least);
    __mmask16 even = _mm512_mask_cmp_ps_mask(_mm512_cmp_ps_mask(a.even, zero, _CMP_NEQ_UQ),
                                             _mm512_abs_ps(a.even), bound, _CMP_LT_OQ);
    __mmask16 odd = _mm512_mask_cmp_ps_mask(_mm512_cmp_ps_mask(a.odd, zero, _CMP_NEQ_UQ),
                                            _mm512_abs_ps(a.odd), bound, _CMP_LT_OQ);
    return (even | odd) == 0;
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

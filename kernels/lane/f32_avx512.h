/* f32, AVX-512: sixteen elements. Tails are masked: the lanes left out are neither read nor written
 * and do not fault. */
#ifndef LN_LANE_F32_AVX512_H
#define LN_LANE_F32_AVX512_H

#include "lane/f32.h"
#include <immintrin.h>

typedef __m512 vec;
enum { LANES = 16 };

/* Ones for the first n < LANES lanes. */
LN_INLINE __mmask16 lane_mask(size_t n)
{
    return (__mmask16)((1u << n) - 1u);
}

LN_INLINE vec lane_set(item a)
{
    return _mm512_set1_ps(a);
}

LN_INLINE vec lane_load_f32(const element_f32 *p)
{
    return _mm512_loadu_ps(p);
}

LN_INLINE vec lane_load_first_f32(const element_f32 *p, size_t n)
{
    return _mm512_maskz_loadu_ps(lane_mask(n), p);
}

LN_INLINE void lane_store_f32(element_f32 *p, vec a)
{
    _mm512_storeu_ps(p, a);
}

LN_INLINE void lane_stream_f32(element_f32 *p, vec a)
{
    _mm512_stream_ps(p, a);
}

LN_INLINE void lane_fence(void)
{
    _mm_sfence();
}

LN_INLINE vec lane_stored_f32(vec a)
{
    return a;
}

LN_INLINE void item_store(item *p, vec a)
{
    _mm512_storeu_ps(p, a);
}

LN_INLINE void lane_store_first_f32(element_f32 *p, vec a, size_t n)
{
    _mm512_mask_storeu_ps(p, lane_mask(n), a);
}

LN_INLINE vec lane_first(vec a, size_t n)
{
    return _mm512_maskz_mov_ps(lane_mask(n), a);
}

LN_INLINE vec lane_add(vec a, vec b)
{
    return _mm512_add_ps(a, b);
}

LN_INLINE vec lane_subtract(vec a, vec b)
{
    return _mm512_sub_ps(a, b);
}

LN_INLINE vec lane_multiply(vec a, vec b)
{
    return _mm512_mul_ps(a, b);
}

LN_INLINE vec lane_multiply_add(vec a, vec b, vec c)
{
    return _mm512_fmadd_ps(a, b, c);
}

LN_INLINE vec lane_absolute(vec a)
{
    return _mm512_abs_ps(a);
}

LN_INLINE vec lane_maximum(vec a, vec b)
{
    return _mm512_max_ps(a, b);
}

LN_INLINE item lane_sum(vec a)
{
    __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

/* A quarter of the additions that four times lane_sum takes. */
#define LANE_SUM_ROWS
LN_INLINE void lane_sum_rows(const vec a[4], item sums[4])
{
    __m512 ab = _mm512_add_ps(_mm512_insertf32x8(a[0], _mm512_castps512_ps256(a[1]), 1),
                              _mm512_shuffle_f32x4(a[0], a[1], 0xee));
    __m512 cd = _mm512_add_ps(_mm512_insertf32x8(a[2], _mm512_castps512_ps256(a[3]), 1),
                              _mm512_shuffle_f32x4(a[2], a[3], 0xee));
    __m512 four =
        _mm512_add_ps(_mm512_shuffle_f32x4(ab, cd, 0x88), _mm512_shuffle_f32x4(ab, cd, 0xdd));
    __m512 two = _mm512_add_ps(four, _mm512_permute_ps(four, 0x4e));
    __m512 one = _mm512_add_ps(two, _mm512_permute_ps(two, 0xb1));
    __m512i every_fourth = _mm512_set_epi32(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12, 8, 4, 0);
    _mm_storeu_ps(sums, _mm512_castps512_ps128(_mm512_permutexvar_ps(every_fourth, one)));
}

LN_INLINE void lane_sum_two(vec a, vec b, item sums[2])
{
    __m512 eight = _mm512_add_ps(_mm512_insertf32x8(a, _mm512_castps512_ps256(b), 1),
                                 _mm512_shuffle_f32x4(a, b, 0xee));
    __m512 four = _mm512_add_ps(eight, _mm512_shuffle_f32x4(eight, eight, 0xb1));
    __m512 two = _mm512_add_ps(four, _mm512_permute_ps(four, 0x4e));
    __m512 one = _mm512_add_ps(two, _mm512_permute_ps(two, 0xb1));
    sums[0] = _mm512_cvtss_f32(one);
    sums[1] = _mm_cvtss_f32(_mm512_extractf32x4_ps(one, 2));
}

#endif

/* f32, AVX-512: sixteen elements. Tails are masked: the lanes left out are neither read nor written
 * and do not fault. What is done to one register comes first: lanes of two (f32_avx512bf16.h) take
 * that alone. */
#ifndef LN_LANE_F32_AVX512_H
#define LN_LANE_F32_AVX512_H

#include "lane/lane.h"
#include <immintrin.h>

/* ---- One register: sums over its lanes, and rounding to bf16 ---- */

LN_INLINE float sum_16(__m512 a)
{
    __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

/* Sixteen rows summed up together, each by the tree of sum_16(): four vectors become one, which has
 * four partial sums of each, and four of those become the vector of all sixteen sums. */
LN_INLINE __m512 fold_four_16(__m512 a, __m512 b, __m512 c, __m512 d)
{
    __m512 ab = _mm512_add_ps(_mm512_insertf32x8(a, _mm512_castps512_ps256(b), 1),
                              _mm512_shuffle_f32x4(a, b, 0xee));
    __m512 cd = _mm512_add_ps(_mm512_insertf32x8(c, _mm512_castps512_ps256(d), 1),
                              _mm512_shuffle_f32x4(c, d, 0xee));
    return _mm512_add_ps(_mm512_shuffle_f32x4(ab, cd, 0x88), _mm512_shuffle_f32x4(ab, cd, 0xdd));
}

/* The first has the rows 0 to 3, the next those behind them. */
LN_INLINE __m512 sum_folds_16(__m512 first, __m512 second, __m512 third, __m512 fourth)
{
    __m512d a = _mm512_castps_pd(first), b = _mm512_castps_pd(second);
    __m512d c = _mm512_castps_pd(third), d = _mm512_castps_pd(fourth);
    __m512 ab = _mm512_add_ps(_mm512_castpd_ps(_mm512_unpacklo_pd(a, b)),
                              _mm512_castpd_ps(_mm512_unpackhi_pd(a, b)));
    __m512 cd = _mm512_add_ps(_mm512_castpd_ps(_mm512_unpacklo_pd(c, d)),
                              _mm512_castpd_ps(_mm512_unpackhi_pd(c, d)));
    __m512 sums = _mm512_add_ps(_mm512_shuffle_ps(ab, cd, 0x88), _mm512_shuffle_ps(ab, cd, 0xdd));
    const __m512i order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
    return _mm512_permutexvar_ps(order, sums);
}

/* The sums of the four rows of one fold. */
LN_INLINE void sum_fold_16(__m512 fold, float sums[4])
{
    __m512 two = _mm512_add_ps(fold, _mm512_permute_ps(fold, 0x4e));
    __m512 one = _mm512_add_ps(two, _mm512_permute_ps(two, 0xb1));
    __m512i every_fourth = _mm512_set_epi32(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12, 8, 4, 0);
    _mm_storeu_ps(sums, _mm512_castps512_ps128(_mm512_permutexvar_ps(every_fourth, one)));
}

/* Of f64: i with i + 4, then i + 2, i + 1. */
LN_INLINE double sum_8(__m512d a)
{
    __m256d four = _mm256_add_pd(_mm512_castpd512_pd256(a), _mm512_extractf64x4_pd(a, 1));
    __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

/* Four at once, each by the same tree, but for its last level. */
LN_INLINE __m512d fold_four_8(const __m512d a[4])
{
    __m512d ab = _mm512_add_pd(_mm512_insertf64x4(a[0], _mm512_castpd512_pd256(a[1]), 1),
                               _mm512_shuffle_f64x2(a[0], a[1], 0xee));
    __m512d cd = _mm512_add_pd(_mm512_insertf64x4(a[2], _mm512_castpd512_pd256(a[3]), 1),
                               _mm512_shuffle_f64x2(a[2], a[3], 0xee));
    return _mm512_add_pd(_mm512_shuffle_f64x2(ab, cd, 0x88), _mm512_shuffle_f64x2(ab, cd, 0xdd));
}

LN_INLINE void sum_four_8(const __m512d a[4], double sums[4])
{
    __m512d two = fold_four_8(a);
    __m512d one = _mm512_add_pd(two, _mm512_permute_pd(two, 0x55));
    const __m512i every_second = _mm512_set_epi64(0, 0, 0, 0, 6, 4, 2, 0);
    _mm256_storeu_pd(sums, _mm512_castpd512_pd256(_mm512_permutexvar_pd(every_second, one)));
}

/* Eight sums in double, of a row or of a part of it. */
#define ACC_OCTETS
typedef __m512d octet;

LN_INLINE octet octet_set(double a)
{
    return _mm512_set1_pd(a);
}

LN_INLINE octet octet_add(octet a, octet b)
{
    return _mm512_add_pd(a, b);
}

LN_INLINE double octet_sum(octet a)
{
    return sum_8(a);
}

/* Four at once, each by the same tree. */
LN_INLINE void octet_sum_four(const octet a[4], double sums[4])
{
    sum_four_8(a, sums);
}

LN_INLINE void sum_two_16(__m512 a, __m512 b, float sums[2])
{
    __m512 eight = _mm512_add_ps(_mm512_insertf32x8(a, _mm512_castps512_ps256(b), 1),
                                 _mm512_shuffle_f32x4(a, b, 0xee));
    __m512 four = _mm512_add_ps(eight, _mm512_shuffle_f32x4(eight, eight, 0xb1));
    __m512 two = _mm512_add_ps(four, _mm512_permute_ps(four, 0x4e));
    __m512 one = _mm512_add_ps(two, _mm512_permute_ps(two, 0xb1));
    sums[0] = _mm512_cvtss_f32(one);
    sums[1] = _mm_cvtss_f32(_mm512_extractf32x4_ps(one, 2));
}

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

#if LN_LANES == 16
/* ---- The lanes ---- */

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

LN_INLINE vec item_load(const item *p)
{
    return _mm512_loadu_ps(p);
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

LN_INLINE vec lane_minimum(vec a, vec b)
{
    return _mm512_min_ps(a, b);
}

LN_INLINE item lane_sum(vec a)
{
    return sum_16(a);
}

#define LANE_SUM_SQUARE
LN_INLINE vec lane_fold_four(const vec a[4])
{
    return fold_four_16(a[0], a[1], a[2], a[3]);
}

LN_INLINE vec lane_sum_folds(const vec folds[LANES / 4])
{
    return sum_folds_16(folds[0], folds[1], folds[2], folds[3]);
}

LN_INLINE void lane_sum_fold(vec fold, item sums[4])
{
    sum_fold_16(fold, sums);
}

/* A quarter of the additions that four times lane_sum takes. */
#define LANE_SUM_ROWS
LN_INLINE void lane_sum_rows(const vec a[4], item sums[4])
{
    lane_sum_fold(lane_fold_four(a), sums);
}

LN_INLINE void lane_sum_two(vec a, vec b, item sums[2])
{
    sum_two_16(a, b, sums);
}
#endif

#endif

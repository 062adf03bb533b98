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

/* Eight sums in double, of a row or of a part of it. */
#define ACC_OCTETS
typedef __m512d octet;
#define octet_set _mm512_set1_pd
#define octet_add _mm512_add_pd

/* i with i + 4, then i + 2, i + 1. */
LN_INLINE double octet_sum(octet a)
{
    __m256d four = _mm256_add_pd(_mm512_castpd512_pd256(a), _mm512_extractf64x4_pd(a, 1));
    __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

/* Four at once, each by the same tree, but for its last level. */
LN_INLINE octet octet_fold_four(const octet a[4])
{
    __m512d ab = _mm512_add_pd(_mm512_insertf64x4(a[0], _mm512_castpd512_pd256(a[1]), 1),
                               _mm512_shuffle_f64x2(a[0], a[1], 0xee));
    __m512d cd = _mm512_add_pd(_mm512_insertf64x4(a[2], _mm512_castpd512_pd256(a[3]), 1),
                               _mm512_shuffle_f64x2(a[2], a[3], 0xee));
    return _mm512_add_pd(_mm512_shuffle_f64x2(ab, cd, 0x88), _mm512_shuffle_f64x2(ab, cd, 0xdd));
}

/* Four at once, each by the same tree. */
LN_INLINE void octet_sum_four(const octet a[4], double sums[4])
{
    __m512d two = octet_fold_four(a);
    __m512d one = _mm512_add_pd(two, _mm512_permute_pd(two, 0x55));
    const __m512i every_second = _mm512_set_epi64(0, 0, 0, 0, 6, 4, 2, 0);
    _mm256_storeu_pd(sums, _mm512_castpd512_pd256(_mm512_permutexvar_pd(every_second, one)));
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
LN_X86_LANES(f32, _mm512, ps)

/* Ones for the first n < LANES lanes. */
LN_INLINE __mmask16 lane_mask(size_t n)
{
    return (__mmask16)((1u << n) - 1u);
}

LN_INLINE vec lane_load_first_f32(const element_f32 *p, size_t n)
{
    return _mm512_maskz_loadu_ps(lane_mask(n), p);
}

LN_INLINE void lane_stream_f32(element_f32 *p, vec a)
{
    _mm512_stream_ps(p, a);
}

LN_INLINE vec item_load(const item *p)
{
    return _mm512_loadu_ps(p);
}

LN_INLINE void lane_store_first_f32(element_f32 *p, vec a, size_t n)
{
    _mm512_mask_storeu_ps(p, lane_mask(n), a);
}

LN_INLINE vec lane_first(vec a, size_t n)
{
    return _mm512_maskz_mov_ps(lane_mask(n), a);
}

LN_INLINE vec lane_absolute(vec a)
{
    return _mm512_abs_ps(a);
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

/* A quarter of the additions that four times lane_sum takes. */
#define LANE_SUM_ROWS
LN_INLINE void lane_sum_rows(const vec a[4], item sums[4])
{
    sum_fold_16(lane_fold_four(a), sums);
}

LN_INLINE void lane_sum_two(vec a, vec b, item sums[2])
{
    sum_two_16(a, b, sums);
}

#if SUMS_ARE_LONGER
/* ---- f64 accumulators: a pair of registers holds what one of items does ---- */

typedef struct acc {
    __m512d low; /* the first half of the lanes */
    __m512d high;
} acc;
LN_ARITHMETIC_OF_TWO(acc, acc, low, high)

LN_INLINE acc acc_of(vec a)
{
    return (acc){_mm512_cvtps_pd(_mm512_castps512_ps256(a)),
                 _mm512_cvtps_pd(_mm512_extractf32x8_ps(a, 1))};
}

/* As items, rounded. */
LN_INLINE vec acc_items(acc a)
{
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(a.low)),
                              _mm512_cvtpd_ps(a.high), 1);
}

LN_INLINE acc acc_set(real a)
{
    return (acc){_mm512_set1_pd(a), _mm512_set1_pd(a)};
}

LN_INLINE void acc_store(real *p, acc a)
{
    _mm512_storeu_pd(p, a.low);
    _mm512_storeu_pd(p + LANES / 2, a.high);
}

LN_INLINE acc acc_first(acc a, size_t n)
{
    __mmask16 mask = lane_mask(n);
    return (acc){_mm512_maskz_mov_pd((__mmask8)mask, a.low),
                 _mm512_maskz_mov_pd((__mmask8)(mask >> 8), a.high)};
}

LN_INLINE acc acc_multiply_add(acc a, acc b, acc c)
{
    if (!LN_FMA)
        return acc_add(acc_multiply(a, b), c);
    return (acc){_mm512_fmadd_pd(a.low, b.low, c.low), _mm512_fmadd_pd(a.high, b.high, c.high)};
}

LN_INLINE real acc_sum(acc a)
{
    return octet_sum(_mm512_add_pd(a.low, a.high));
}

/* The lanes i and i + 8 added up, in items. */
LN_INLINE octet octet_of(vec a)
{
    __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
    return _mm512_cvtps_pd(eight);
}

#define ACC_SUM_ROWS
LN_INLINE void acc_sum_rows(const acc a[4], real sums[4])
{
    octet eight[4];
    for (int i = 0; i < 4; i++)
        eight[i] = _mm512_add_pd(a[i].low, a[i].high);
    octet_sum_four(eight, sums);
}

/* Sixteen rows at once, each by the same tree: a row becomes an octet, four of those a fold, which
 * has two partial sums of each, and four folds become all sums. */
#define ACC_SUM_SQUARE
typedef octet acc_fold;
#define acc_fold_four octet_fold_four

LN_INLINE acc_fold acc_fold_one(acc a)
{
    return _mm512_add_pd(a.low, a.high);
}

LN_INLINE octet octet_sum_folds(acc_fold first, acc_fold second)
{
    octet sums =
        _mm512_add_pd(_mm512_unpacklo_pd(first, second), _mm512_unpackhi_pd(first, second));
    return _mm512_permutexvar_pd(_mm512_set_epi64(7, 5, 3, 1, 6, 4, 2, 0), sums);
}

LN_INLINE acc acc_sum_folds(const acc_fold folds[4])
{
    return (acc){octet_sum_folds(folds[0], folds[1]), octet_sum_folds(folds[2], folds[3])};
}

/* From memory at once: a conversion reads half a register of items. */
#define ACC_LOADS
LN_INLINE acc acc_load_f32(const element_f32 *p)
{
    return (acc){_mm512_cvtps_pd(_mm256_loadu_ps(p)), _mm512_cvtps_pd(_mm256_loadu_ps(p + 8))};
}
#endif
#endif

#endif

/* AVX-512: the lanes of f32 and of f64, and 16-bit storage over both. The functions for one register of f32 come
 * first: avx512bf16.h, whose lanes are two registers, uses only these. */
#ifndef LN_LANE_AVX512_H
#define LN_LANE_AVX512_H

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

/* Sums over sixteen rows at once, each by the tree of sum_16(): four vectors become one (a fold) with four partial sums
 * of each, and four folds become the vector of all sixteen sums. */
LN_INLINE __m512 fold_four_16(__m512 a, __m512 b, __m512 c, __m512 d)
{
    __m512 ab = _mm512_add_ps(_mm512_insertf32x8(a, _mm512_castps512_ps256(b), 1),
                              _mm512_shuffle_f32x4(a, b, 0xee));
    __m512 cd = _mm512_add_ps(_mm512_insertf32x8(c, _mm512_castps512_ps256(d), 1),
                              _mm512_shuffle_f32x4(c, d, 0xee));
    return _mm512_add_ps(_mm512_shuffle_f32x4(ab, cd, 0x88), _mm512_shuffle_f32x4(ab, cd, 0xdd));
}

/* Adds the partial sums of four folds. The first fold has the rows 0 to 3, the second the rows 4 to 7, and so on. */
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

/* Computes the sums of the four rows of one fold. */
LN_INLINE void sum_fold_16(__m512 fold, float sums[4])
{
    __m512 two = _mm512_add_ps(fold, _mm512_permute_ps(fold, 0x4e));
    __m512 one = _mm512_add_ps(two, _mm512_permute_ps(two, 0xb1));
    __m512i every_fourth = _mm512_set_epi32(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12, 8, 4, 0);
    _mm_storeu_ps(sums, _mm512_castps512_ps128(_mm512_permutexvar_ps(every_fourth, one)));
}

/* Eight sums in double for a row or a part of it. */
#define ACC_OCTETS
typedef __m512d octet;
#define octet_set _mm512_set1_pd
#define octet_add _mm512_add_pd

/* Adds lane i and i + 4, then i + 2, then i + 1. */
LN_INLINE double octet_sum(octet a)
{
    __m256d four = _mm256_add_pd(_mm512_castpd512_pd256(a), _mm512_extractf64x4_pd(a, 1));
    __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

/* Adds the lanes of four octets, each by the same tree except for its last level. */
LN_INLINE octet octet_fold_four(const octet a[4])
{
    __m512d ab = _mm512_add_pd(_mm512_insertf64x4(a[0], _mm512_castpd512_pd256(a[1]), 1),
                               _mm512_shuffle_f64x2(a[0], a[1], 0xee));
    __m512d cd = _mm512_add_pd(_mm512_insertf64x4(a[2], _mm512_castpd512_pd256(a[3]), 1),
                               _mm512_shuffle_f64x2(a[2], a[3], 0xee));
    return _mm512_add_pd(_mm512_shuffle_f64x2(ab, cd, 0x88), _mm512_shuffle_f64x2(ab, cd, 0xdd));
}

/* Adds the lanes of four octets, each by the same tree. */
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

/* Does bf16_of() in every lane, except its shift. A computed NaN is quiet and stays one when it is truncated. */
LN_INLINE __m512i bf16_rounded(__m512 a)
{
    __m512i bits = _mm512_castps_si512(a);
    __mmask16 odd = _mm512_test_epi32_mask(bits, _mm512_set1_epi32(0x10000));
    __mmask16 number = _mm512_cmp_ps_mask(a, a, _CMP_ORD_Q);
    __m512i half =
        _mm512_mask_blend_epi32(odd, _mm512_set1_epi32(0x7fff), _mm512_set1_epi32(0x8000));
    return _mm512_mask_add_epi32(bits, number, bits, half);
}

#if LN_LANES == 32
/* The lanes are in avx512bf16.h. */
#else
#if ITEMS_ARE_F32
/* f32: sixteen elements. Tails are masked: other lanes are neither read nor written and do not fault. */

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

/* Needs a quarter of the additions of four calls of lane_sum(). */
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
/* ---- f64 accumulators: two registers for one register of items ---- */

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

/* Rounds to items. */
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

/* Adds the lanes i and i + 8 in items. */
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

/* Sums over sixteen rows at once, each by the same tree: a row becomes an octet, four octets become a fold with two
 * partial sums of each, and four folds become all sums. */
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

/* Loads from memory directly: a conversion reads half a register of items. */
#define ACC_LOADS
LN_INLINE acc acc_load_f32(const element_f32 *p)
{
    return (acc){_mm512_cvtps_pd(_mm256_loadu_ps(p)), _mm512_cvtps_pd(_mm256_loadu_ps(p + 8))};
}
#endif

#else
/* f64, AVX-512: eight elements. Tails are masked: other lanes are neither read nor written and do not fault. */

typedef __m512d vec;
enum { LANES = 8 };
LN_X86_LANES(f64, _mm512, pd)

/* Ones for the first n < LANES lanes. */
LN_INLINE __mmask8 lane_mask(size_t n)
{
    return (__mmask8)((1u << n) - 1u);
}

LN_INLINE vec lane_load_first_f64(const element_f64 *p, size_t n)
{
    return _mm512_maskz_loadu_pd(lane_mask(n), p);
}

LN_INLINE void lane_store_first_f64(element_f64 *p, vec a, size_t n)
{
    _mm512_mask_storeu_pd(p, lane_mask(n), a);
}

LN_INLINE vec lane_first(vec a, size_t n)
{
    return _mm512_maskz_mov_pd(lane_mask(n), a);
}

LN_INLINE vec lane_absolute(vec a)
{
    return _mm512_abs_pd(a);
}

LN_INLINE item lane_sum(vec a)
{
    __m256d four = _mm256_add_pd(_mm512_castpd512_pd256(a), _mm512_extractf64x4_pd(a, 1));
    __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

LN_INLINE vec lane_mirrored(vec y, int digits)
{
    const __m512i last = _mm512_set1_epi64((1LL << digits) - 1);
    return _mm512_castsi512_pd(_mm512_xor_si512(_mm512_castpd_si512(y), last));
}

LN_INLINE vec lane_nearer(vec a, vec b)
{
    enum { NEARER_TO_ZERO = 10 };
    return _mm512_range_pd(a, b, NEARER_TO_ZERO);
}

LN_INLINE unsigned lane_below(vec a, vec least)
{
    return (unsigned)_mm512_cmp_pd_mask(a, least, _CMP_NGE_UQ);
}

LN_INLINE unsigned lane_unequal(vec a, vec b)
{
    return (unsigned)(_mm512_cmp_pd_mask(a, b, _CMP_NEQ_UQ) |
                      _mm512_cmp_pd_mask(a, lane_set(0), _CMP_EQ_OQ));
}

/* ---- f32 in memory ---- */

LN_INLINE vec lane_load_f32(const element_f32 *p)
{
    return _mm512_cvtps_pd(_mm256_loadu_ps(p));
}

LN_INLINE vec lane_load_first_f32(const element_f32 *p, size_t n)
{
    return _mm512_cvtps_pd(_mm256_maskz_loadu_ps(lane_mask(n), p));
}

LN_INLINE void lane_store_f32(element_f32 *p, vec a)
{
    _mm256_storeu_ps(p, _mm512_cvtpd_ps(a));
}

LN_INLINE void lane_store_first_f32(element_f32 *p, vec a, size_t n)
{
    _mm256_mask_storeu_ps(p, lane_mask(n), _mm512_cvtpd_ps(a));
}

LN_INLINE vec lane_stored_f32(vec a)
{
    return _mm512_cvtps_pd(_mm512_cvtpd_ps(a));
}

LN_INLINE void lane_stream_f32(element_f32 *p, vec a)
{
    _mm256_stream_ps(p, _mm512_cvtpd_ps(a));
}

/* ---- f32 in addition to items of f64: sixteen elements, for apply/certified.h ---- */

typedef __m512 single;
enum { SINGLE_LANES = 16 };
LN_ARITHMETIC(single, single)

LN_INLINE single single_set(float a)
{
    return _mm512_set1_ps(a);
}

LN_INLINE single single_load_f32(const float *p)
{
    return _mm512_loadu_ps(p);
}

/* Stores eight items, rounded. */
LN_INLINE void single_keep(float *p, vec a)
{
    _mm256_storeu_ps(p, _mm512_cvtpd_ps(a));
}

LN_INLINE single single_multiply_add(single a, single b, single c)
{
    return _mm512_fmadd_ps(a, b, c);
}

LN_INLINE single single_absolute(single a)
{
    return _mm512_abs_ps(a);
}

#endif

/* bf16 and f16 storage, AVX-512. The conversions of f16 keep subnormals and make NaNs quiet. bf16 is rounded
 * with integer operations; over f32 items one permutation of words puts sixteen elements into the upper halves of
 * the lanes, and another extracts them. f64 items are rounded to f32 before they are stored (lane/lane.h). */

#if ITEMS_ARE_F32
typedef __m256i halves;

LN_INLINE halves halves_load(const uint16_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

LN_INLINE halves halves_load_first(const uint16_t *p, size_t n)
{
    return _mm256_maskz_loadu_epi16(lane_mask(n), p);
}

LN_INLINE void halves_store(uint16_t *p, halves a)
{
    _mm256_storeu_si256((__m256i *)(void *)p, a);
}

LN_INLINE void halves_store_first(uint16_t *p, halves a, size_t n)
{
    _mm256_mask_storeu_epi16(p, lane_mask(n), a);
}

/* Word 2 i + 1 of the result is word i of a, its other words are 0. */
LN_INLINE vec bf16_widened(halves a)
{
    const __m512i from = _mm512_set_epi16(15, 0, 14, 0, 13, 0, 12, 0, 11, 0, 10, 0, 9, 0, 8, 0, 7,
                                          0, 6, 0, 5, 0, 4, 0, 3, 0, 2, 0, 1, 0, 0, 0);
    return _mm512_castsi512_ps(
        _mm512_maskz_permutexvar_epi16(0xaaaaaaaau, from, _mm512_castsi256_si512(a)));
}

/* Returns the upper halves of the lanes. */
LN_INLINE halves bf16_narrowed(vec a)
{
    const __m512i from = _mm512_set_epi16(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 31, 29,
                                          27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
    return _mm512_castsi512_si256(_mm512_permutexvar_epi16(from, bf16_rounded(a)));
}

LN_INLINE vec bf16_stored(vec a)
{
    const __m512i upper = _mm512_set1_epi32((int)0xffff0000u);
    return _mm512_castsi512_ps(_mm512_and_si512(bf16_rounded(a), upper));
}

LN_INLINE void lane_stream_bf16(element_bf16 *p, vec a)
{
    _mm256_stream_si256((__m256i *)(void *)p, bf16_narrowed(a));
}

LN_INLINE vec f16_widened(halves a)
{
    return _mm512_cvtph_ps(a);
}

LN_INLINE halves f16_narrowed(vec a)
{
    return _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

LN_INLINE void lane_stream_f16(element_f16 *p, vec a)
{
    _mm256_stream_si256((__m256i *)(void *)p, f16_narrowed(a));
}

#else
typedef __m128i halves;

LN_INLINE halves halves_load(const uint16_t *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

LN_INLINE halves halves_load_first(const uint16_t *p, size_t n)
{
    return _mm_maskz_loadu_epi16(lane_mask(n), p);
}

LN_INLINE void halves_store(uint16_t *p, halves a)
{
    _mm_storeu_si128((__m128i *)(void *)p, a);
}

LN_INLINE void halves_store_first(uint16_t *p, halves a, size_t n)
{
    _mm_mask_storeu_epi16(p, lane_mask(n), a);
}

LN_INLINE vec bf16_widened(halves a)
{
    return _mm512_cvtps_pd(_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(a), 16)));
}

LN_INLINE halves bf16_narrowed(vec a)
{
    __m256i bits = _mm256_castps_si256(_mm512_cvtpd_ps(a));
    __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    bits = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    return _mm256_cvtepi32_epi16(_mm256_srli_epi32(bits, 16));
}

LN_INLINE vec bf16_stored(vec a)
{
    return bf16_widened(bf16_narrowed(a));
}

LN_INLINE vec f16_widened(halves a)
{
    return _mm512_cvtps_pd(_mm256_maskz_cvtph_ps(0xff, a));
}

LN_INLINE halves f16_narrowed(vec a)
{
    return _mm256_maskz_cvtps_ph(0xff, _mm512_cvtpd_ps(a),
                                 _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

#if STORES_SHORT
/* ---- In f32 (lane/lane.h) ---- */

#define LANE_SINGLE

/* Loads words: word i goes to word 2 i + 1 of the result, whose other words are 0. */
LN_INLINE single single_load_bf16(const element_bf16 *p)
{
    const __m512i from = _mm512_set_epi16(15, 0, 14, 0, 13, 0, 12, 0, 11, 0, 10, 0, 9, 0, 8, 0, 7,
                                          0, 6, 0, 5, 0, 4, 0, 3, 0, 2, 0, 1, 0, 0, 0);
    __m512i words = _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)(const void *)p));
    return _mm512_castsi512_ps(_mm512_maskz_permutexvar_epi16(0xaaaaaaaau, from, words));
}

/* The bits in which the rounded ends of intervals differ; only the upper halves of lanes count. */
typedef __m512i bf16_ends;

LN_INLINE bf16_ends single_ends_bf16(void)
{
    return _mm512_setzero_si512();
}

/* Rounds halves away from zero, which is correct because no exact result is at an end of its interval. */
LN_INLINE bf16_ends single_store_bf16(element_bf16 *p, single low, single high, bf16_ends so_far)
{
    const __m512i half = _mm512_set1_epi32(0x8000);
    const __m512i upper = _mm512_set_epi16(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 31, 29,
                                           27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
    enum { OR_OF_XOR = 0xf6 };
    __m512i rounded = _mm512_add_epi32(_mm512_castps_si512(high), half);
    __m512i other = _mm512_add_epi32(_mm512_castps_si512(low), half);
    _mm256_storeu_si256((__m256i *)(void *)p,
                        _mm512_castsi512_si256(_mm512_permutexvar_epi16(upper, rounded)));
    return _mm512_ternarylogic_epi32(so_far, rounded, other, OR_OF_XOR);
}

LN_INLINE int single_ends_differ_bf16(bf16_ends ends)
{
    return _mm512_test_epi32_mask(ends, _mm512_set1_epi32((int)0xffff0000u)) != 0;
}

LN_INLINE single single_load_f16(const element_f16 *p)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)p));
}

/* The bits in which the rounded ends of intervals differ. */
typedef __m256i f16_ends;

LN_INLINE f16_ends single_ends_f16(void)
{
    return _mm256_setzero_si256();
}

LN_INLINE f16_ends single_store_f16(element_f16 *p, single low, single high, f16_ends so_far)
{
    enum { NEAREST = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC, OR_OF_XOR = 0xf6 };
    __m256i rounded = _mm512_cvtps_ph(high, NEAREST), other = _mm512_cvtps_ph(low, NEAREST);
    _mm256_storeu_si256((__m256i *)(void *)p, rounded);
    return _mm256_ternarylogic_epi32(so_far, rounded, other, OR_OF_XOR);
}

LN_INLINE int single_ends_differ_f16(f16_ends ends)
{
    return !_mm256_testz_si256(ends, ends);
}
#endif

#endif

LN_HALVES_WORDS(bf16, bf16_stored(a))
LN_HALVES_WORDS(f16, f16_widened(f16_narrowed(a)))
#endif

#endif

/* f32 on CPUs that have AVX512-BF16, for bf16 storage: thirty-two elements in two registers, one for the elements with
 * even index and one for those with odd index.
 *
 * So two registers of f32 take one load, a shift and an `and`. With sixteen elements at a time each register would take
 * a load and a permutation, and permutations have half as many ports on Zen 5. The lane of an element does not matter,
 * since sums add the two registers first. */
#ifndef LN_LANE_AVX512BF16_H
#define LN_LANE_AVX512BF16_H

#ifndef LN_LANE_FILE
#define LN_LANE_FILE "lane/avx512bf16.h"
#define LN_STORAGE bf16
#define LN_PARAM f32
#define LN_LANES 32
#define LN_UNROLL 2
#define LN_CHUNK 16
#define LN_TILE 64
#endif
#include "lane/avx512.h"

typedef struct vec {
    __m512 even;
    __m512 odd;
} vec;
enum { LANES = 32 };
LN_ARITHMETIC_OF_TWO(lane, vec, even, odd)

LN_INLINE vec lane_set(item a)
{
    return (vec){_mm512_set1_ps(a), _mm512_set1_ps(a)};
}

/* Sorts the elements of a, followed by those of b, into even and odd ones. */
LN_INLINE vec lane_of_halves(__m512 a, __m512 b)
{
    const __m512i even =
        _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i odd = _mm512_or_si512(even, _mm512_set1_epi32(1));
    return (vec){_mm512_permutex2var_ps(a, even, b), _mm512_permutex2var_ps(a, odd, b)};
}

LN_INLINE vec lane_load_f32(const element_f32 *p)
{
    return lane_of_halves(_mm512_loadu_ps(p), _mm512_loadu_ps(p + 16));
}

LN_INLINE vec lane_load_first_f32(const element_f32 *p, size_t n)
{
    uint32_t first = ((uint32_t)1 << n) - 1;
    return lane_of_halves(_mm512_maskz_loadu_ps((__mmask16)first, p),
                          _mm512_maskz_loadu_ps((__mmask16)(first >> 16), p + 16));
}

/* Stores items in the order of lanes. */
LN_INLINE void item_store(item *p, vec a)
{
    _mm512_storeu_ps(p, a.even);
    _mm512_storeu_ps(p + 16, a.odd);
}

LN_INLINE vec lane_first(vec a, size_t n)
{
    __mmask16 even = (__mmask16)((1u << (n + 1) / 2) - 1u), odd = (__mmask16)((1u << n / 2) - 1u);
    return (vec){_mm512_maskz_mov_ps(even, a.even), _mm512_maskz_mov_ps(odd, a.odd)};
}

LN_INLINE vec lane_multiply_add(vec a, vec b, vec c)
{
    return (vec){_mm512_fmadd_ps(a.even, b.even, c.even), _mm512_fmadd_ps(a.odd, b.odd, c.odd)};
}

LN_INLINE vec lane_absolute(vec a)
{
    return (vec){_mm512_abs_ps(a.even), _mm512_abs_ps(a.odd)};
}

LN_INLINE vec lane_maximum(vec a, vec b)
{
    return (vec){_mm512_max_ps(a.even, b.even), _mm512_max_ps(a.odd, b.odd)};
}

LN_INLINE vec lane_minimum(vec a, vec b)
{
    return (vec){_mm512_min_ps(a.even, b.even), _mm512_min_ps(a.odd, b.odd)};
}

LN_INLINE __m512 lane_halves_sum(vec a)
{
    return _mm512_add_ps(a.even, a.odd);
}

LN_INLINE item lane_sum(vec a)
{
    return sum_16(lane_halves_sum(a));
}

/* A fold is only in the first register; lane i of the sums, in the order of item_store(), belongs to row i. */
#define LANE_SUM_SQUARE
LN_INLINE vec lane_fold_four(const vec a[4])
{
    return (vec){fold_four_16(lane_halves_sum(a[0]), lane_halves_sum(a[1]), lane_halves_sum(a[2]),
                              lane_halves_sum(a[3])),
                 _mm512_setzero_ps()};
}

LN_INLINE vec lane_sum_folds(const vec folds[LANES / 4])
{
    return (vec){sum_folds_16(folds[0].even, folds[1].even, folds[2].even, folds[3].even),
                 sum_folds_16(folds[4].even, folds[5].even, folds[6].even, folds[7].even)};
}

#define LANE_SUM_ROWS
LN_INLINE void lane_sum_rows(const vec a[4], item sums[4])
{
    sum_fold_16(lane_fold_four(a).even, sums);
}

LN_INLINE void lane_sum_two(vec a, vec b, item sums[2])
{
    sum_two_16(lane_halves_sum(a), lane_halves_sum(b), sums);
}

/* ---- bf16 storage ----
 *
 * The CPU's conversion rounds to nearest even and keeps NaNs, but converts subnormals to zeros. Zeros are rare: a
 * result with one is rounded with integer operations instead. */

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

/* Puts the result of _mm512_cvtne2ps_pbh(), the even elements followed by the odd ones, into the order of memory. */
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
    __asm__("" : "+v"(a)); /* otherwise compilers load it twice */
    return bf16_widened(a);
}

LN_INLINE vec lane_load_first_bf16(const element_bf16 *p, size_t n)
{
    return bf16_widened(_mm512_maskz_loadu_epi16(bf16_mask(n), p));
}

/* A product of two bf16 is exact, and two of them are added to a lane at once. Only one half of the lanes, even or odd,
 * has the sums. */
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

/* Stores numbers that are not subnormal. */
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

/* Returns whether each lane is 0 or at least `least`. */
LN_INLINE int lane_is_regular(vec a, float least)
{
    const __m512 zero = _mm512_setzero_ps(), bound = _mm512_set1_ps(least);
    __mmask16 even = _mm512_mask_cmp_ps_mask(_mm512_cmp_ps_mask(a.even, zero, _CMP_NEQ_UQ),
                                             _mm512_abs_ps(a.even), bound, _CMP_LT_OQ);
    __mmask16 odd = _mm512_mask_cmp_ps_mask(_mm512_cmp_ps_mask(a.odd, zero, _CMP_NEQ_UQ),
                                            _mm512_abs_ps(a.odd), bound, _CMP_LT_OQ);
    return (even | odd) == 0;
}

LN_INLINE vec lane_stored_bf16(vec a)
{
    return (vec){_mm512_castsi512_ps(bf16_upper_halves(bf16_rounded(a.even))),
                 _mm512_castsi512_ps(bf16_upper_halves(bf16_rounded(a.odd)))};
}

LN_INLINE vec lane_stored_f32(vec a)
{
    return a;
}

LN_INLINE void lane_fence(void)
{
    _mm_sfence();
}

#if SUMS_ARE_LONGER
/* ---- f64 accumulators: four registers for two registers of items ---- */

enum { ACC_PARTS = 4, ACC_PART = 8 };

/* Elements 0 2 ... 14, 16 ... 30, then 1 3 ... 15, 17 ... 31. */
typedef struct acc {
    __m512d part[ACC_PARTS];
} acc;

LN_INLINE acc acc_of(vec a)
{
    return (acc){{_mm512_cvtps_pd(_mm512_castps512_ps256(a.even)),
                  _mm512_cvtps_pd(_mm512_extractf32x8_ps(a.even, 1)),
                  _mm512_cvtps_pd(_mm512_castps512_ps256(a.odd)),
                  _mm512_cvtps_pd(_mm512_extractf32x8_ps(a.odd, 1))}};
}

LN_INLINE __m512 acc_half_items(__m512d low, __m512d high)
{
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(low)), _mm512_cvtpd_ps(high),
                              1);
}

/* Rounds to items. */
LN_INLINE vec acc_items(acc a)
{
    return (vec){acc_half_items(a.part[0], a.part[1]), acc_half_items(a.part[2], a.part[3])};
}

LN_INLINE acc acc_set(real a)
{
    __m512d all = _mm512_set1_pd(a);
    return (acc){{all, all, all, all}};
}

/* Stores accumulators in the order of lanes. */
LN_INLINE void acc_store(real *p, acc a)
{
    LN_UNROLLED
    for (int i = 0; i < ACC_PARTS; i++)
        _mm512_storeu_pd(p + i * ACC_PART, a.part[i]);
}

LN_INLINE acc acc_first(acc a, size_t n)
{
    uint32_t even = ((uint32_t)1 << (n + 1) / 2) - 1, odd = ((uint32_t)1 << n / 2) - 1;
    return (acc){{_mm512_maskz_mov_pd((__mmask8)even, a.part[0]),
                  _mm512_maskz_mov_pd((__mmask8)(even >> ACC_PART), a.part[1]),
                  _mm512_maskz_mov_pd((__mmask8)odd, a.part[2]),
                  _mm512_maskz_mov_pd((__mmask8)(odd >> ACC_PART), a.part[3])}};
}

LN_INLINE acc acc_add(acc a, acc b)
{
    LN_UNROLLED
    for (int i = 0; i < ACC_PARTS; i++)
        a.part[i] = _mm512_add_pd(a.part[i], b.part[i]);
    return a;
}

LN_INLINE acc acc_subtract(acc a, acc b)
{
    LN_UNROLLED
    for (int i = 0; i < ACC_PARTS; i++)
        a.part[i] = _mm512_sub_pd(a.part[i], b.part[i]);
    return a;
}

LN_INLINE acc acc_multiply(acc a, acc b)
{
    LN_UNROLLED
    for (int i = 0; i < ACC_PARTS; i++)
        a.part[i] = _mm512_mul_pd(a.part[i], b.part[i]);
    return a;
}

LN_INLINE acc acc_multiply_add(acc a, acc b, acc c)
{
    if (!LN_FMA)
        return acc_add(acc_multiply(a, b), c);
    LN_UNROLLED
    for (int i = 0; i < ACC_PARTS; i++)
        c.part[i] = _mm512_fmadd_pd(a.part[i], b.part[i], c.part[i]);
    return c;
}

LN_INLINE __m512d acc_eight(acc a)
{
    return _mm512_add_pd(_mm512_add_pd(a.part[0], a.part[1]), _mm512_add_pd(a.part[2], a.part[3]));
}

LN_INLINE real acc_sum(acc a)
{
    return octet_sum(acc_eight(a));
}

/* Adds the lanes i, i + 8, i + 16 and i + 24 in items. */
LN_INLINE octet octet_of(vec a)
{
    __m512 all = lane_halves_sum(a);
    return _mm512_cvtps_pd(
        _mm256_add_ps(_mm512_castps512_ps256(all), _mm512_extractf32x8_ps(all, 1)));
}
#endif

#endif

/* f32 on CPUs that have AVX512-BF16, for bf16 storage: thirty-two elements in two registers, the
 * ones of even number and the ones of odd number.
 *
 * So bf16 is read by one load, a shift and an and for two registers of f32; sixteen at a time take
 * a load and a permutation for each, and permutations have half as many ports on Zen 5. Which lane
 * an element is in matters to no one: sums add the two registers first. */
#ifndef LN_LANE_F32_AVX512BF16_H
#define LN_LANE_F32_AVX512BF16_H

#include "lane/register_avx512.h"

typedef struct vec {
    __m512 even;
    __m512 odd;
} vec;
enum { LANES = 32 };

LN_INLINE vec lane_set(item a)
{
    return (vec){_mm512_set1_ps(a), _mm512_set1_ps(a)};
}

/* The elements of a, then those of b, sorted by even and odd. */
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

/* In the order of lanes. */
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

LN_INLINE vec lane_add(vec a, vec b)
{
    return (vec){_mm512_add_ps(a.even, b.even), _mm512_add_ps(a.odd, b.odd)};
}

LN_INLINE vec lane_subtract(vec a, vec b)
{
    return (vec){_mm512_sub_ps(a.even, b.even), _mm512_sub_ps(a.odd, b.odd)};
}

LN_INLINE vec lane_multiply(vec a, vec b)
{
    return (vec){_mm512_mul_ps(a.even, b.even), _mm512_mul_ps(a.odd, b.odd)};
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

/* A fold is in the first register alone; lane i of the sums, as item_store() has it, is row i. */
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

LN_INLINE void lane_sum_fold(vec fold, item sums[4])
{
    sum_fold_16(fold.even, sums);
}

#define LANE_SUM_ROWS
LN_INLINE void lane_sum_rows(const vec a[4], item sums[4])
{
    lane_sum_fold(lane_fold_four(a), sums);
}

LN_INLINE void lane_sum_two(vec a, vec b, item sums[2])
{
    sum_two_16(lane_halves_sum(a), lane_halves_sum(b), sums);
}

#endif

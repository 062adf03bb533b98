/* f32, AVX-512: sixteen elements. Tails are masked: the lanes left out are neither read nor written
 * and do not fault. */
#ifndef LN_LANE_F32_AVX512_H
#define LN_LANE_F32_AVX512_H

#include "lane/register_avx512.h"

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

/* Keeps a vector that is used twice in a register: compilers else read it again, as an operand from
 * memory of each instruction. */
#define LANE_HELD
LN_INLINE vec lane_held(vec a)
{
    __asm__("" : "+v"(a));
    return a;
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

#define ITEM_ESTIMATE_PARTS 1
LN_INLINE item item_estimate_reciprocal_root(item a)
{
    __m128 one = _mm_set_ss(a);
    return _mm_cvtss_f32(_mm_rsqrt14_ss(one, one));
}

/* Of the numbers that the lanes i and i + 8 of a + b hold, the one nearer to zero, in both. */
LN_INLINE vec lane_nearer(vec a, vec b)
{
    vec both = _mm512_add_ps(a, b);
    return _mm512_range_ps(both, _mm512_shuffle_f32x4(both, both, 0x4e), 6);
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

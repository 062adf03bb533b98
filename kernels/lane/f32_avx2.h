/* f32, AVX2 with FMA: eight elements. Tails go through VMASKMOVPS, which neither reads nor writes
 * (nor faults on) the lanes it leaves out. */
#ifndef LN_LANE_F32_AVX2_H
#define LN_LANE_F32_AVX2_H

#include "lane/lane.h"
#include <immintrin.h>
#include <stdint.h>

typedef __m256 vec;
enum { LANES = 8 };

/* All ones in the first n <= LANES lanes. */
LN_INLINE __m256i lane_mask(size_t n)
{
    static const int32_t ones_then_zeros[2 * LANES] = {-1, -1, -1, -1, -1, -1, -1, -1};
    return _mm256_loadu_si256((const __m256i *)(const void *)(ones_then_zeros + LANES - n));
}

LN_INLINE vec lane_set(item a)
{
    return _mm256_set1_ps(a);
}

LN_INLINE vec lane_load_f32(const element_f32 *p)
{
    return _mm256_loadu_ps(p);
}

LN_INLINE vec lane_load_first_f32(const element_f32 *p, size_t n)
{
    return _mm256_maskload_ps(p, lane_mask(n));
}

LN_INLINE void lane_store_f32(element_f32 *p, vec a)
{
    _mm256_storeu_ps(p, a);
}

LN_INLINE void lane_stream_f32(element_f32 *p, vec a)
{
    _mm256_stream_ps(p, a);
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
    _mm256_storeu_ps(p, a);
}

LN_INLINE void lane_store_first_f32(element_f32 *p, vec a, size_t n)
{
    _mm256_maskstore_ps(p, lane_mask(n), a);
}

LN_INLINE vec lane_first(vec a, size_t n)
{
    return _mm256_and_ps(a, _mm256_castsi256_ps(lane_mask(n)));
}

LN_INLINE vec lane_add(vec a, vec b)
{
    return _mm256_add_ps(a, b);
}

LN_INLINE vec lane_subtract(vec a, vec b)
{
    return _mm256_sub_ps(a, b);
}

LN_INLINE vec lane_multiply(vec a, vec b)
{
    return _mm256_mul_ps(a, b);
}

LN_INLINE vec lane_multiply_add(vec a, vec b, vec c)
{
    return _mm256_fmadd_ps(a, b, c);
}

LN_INLINE vec lane_absolute(vec a)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a);
}

LN_INLINE vec lane_maximum(vec a, vec b)
{
    return _mm256_max_ps(a, b);
}

LN_INLINE vec lane_minimum(vec a, vec b)
{
    return _mm256_min_ps(a, b);
}

/* Of the numbers that the lanes i of a and b hold, the one nearer to zero. */
LN_INLINE vec lane_nearer(vec a, vec b)
{
    return _mm256_blendv_ps(b, a, _mm256_cmp_ps(lane_absolute(a), lane_absolute(b), _CMP_LT_OQ));
}

LN_INLINE item lane_sum(vec a)
{
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

/* A third of the additions that four times lane_sum takes. */
#define LANE_SUM_ROWS
LN_INLINE void lane_sum_rows(const vec a[4], item sums[4])
{
    __m256 ab = _mm256_add_ps(_mm256_permute2f128_ps(a[0], a[1], 0x20),
                              _mm256_permute2f128_ps(a[0], a[1], 0x31));
    __m256 cd = _mm256_add_ps(_mm256_permute2f128_ps(a[2], a[3], 0x20),
                              _mm256_permute2f128_ps(a[2], a[3], 0x31));
    __m256 two = _mm256_add_ps(_mm256_shuffle_ps(ab, cd, 0x44), _mm256_shuffle_ps(ab, cd, 0xee));
    __m256 one = _mm256_add_ps(two, _mm256_permute_ps(two, 0xb1)); /* a a c c, b b d d */
    __m128 ac = _mm256_castps256_ps128(one), bd = _mm256_extractf128_ps(one, 1);
    _mm_storeu_ps(sums, _mm_movelh_ps(_mm_unpacklo_ps(ac, bd), _mm_unpackhi_ps(ac, bd)));
}

LN_INLINE void lane_sum_two(vec a, vec b, item sums[2])
{
    __m256 four =
        _mm256_add_ps(_mm256_permute2f128_ps(a, b, 0x20), _mm256_permute2f128_ps(a, b, 0x31));
    __m256 two = _mm256_add_ps(four, _mm256_permute_ps(four, 0x4e));
    __m256 one = _mm256_add_ps(two, _mm256_permute_ps(two, 0xb1));
    sums[0] = _mm256_cvtss_f32(one);
    sums[1] = _mm_cvtss_f32(_mm256_extractf128_ps(one, 1));
}

#endif

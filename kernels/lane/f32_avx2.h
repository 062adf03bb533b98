/* f32, AVX2 with FMA: eight elements. Tails go through VMASKMOVPS, which neither reads nor writes
 * (nor faults on) the lanes it leaves out. */
#ifndef LN_LANE_F32_AVX2_H
#define LN_LANE_F32_AVX2_H

#include "lane/lane.h"
#include <immintrin.h>
#include <stdint.h>

typedef __m256 vec;
enum { LANES = 8 };
LN_X86_LANES(f32, _mm256, ps)

/* All ones in the first n <= LANES lanes. */
LN_INLINE __m256i lane_mask(size_t n)
{
    static const int32_t ones_then_zeros[2 * LANES] = {-1, -1, -1, -1, -1, -1, -1, -1};
    return _mm256_loadu_si256((const __m256i *)(const void *)(ones_then_zeros + LANES - n));
}

LN_INLINE vec lane_load_first_f32(const element_f32 *p, size_t n)
{
    return _mm256_maskload_ps(p, lane_mask(n));
}

LN_INLINE void lane_stream_f32(element_f32 *p, vec a)
{
    _mm256_stream_ps(p, a);
}

LN_INLINE void lane_store_first_f32(element_f32 *p, vec a, size_t n)
{
    _mm256_maskstore_ps(p, lane_mask(n), a);
}

LN_INLINE vec lane_first(vec a, size_t n)
{
    return _mm256_and_ps(a, _mm256_castsi256_ps(lane_mask(n)));
}

LN_INLINE vec lane_absolute(vec a)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a);
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

#if SUMS_ARE_LONGER
/* ---- f64 accumulators: a pair of registers holds what one of items does ---- */

typedef struct acc {
    __m256d low; /* the first half of the lanes */
    __m256d high;
} acc;
LN_ARITHMETIC_OF_TWO(acc, acc, low, high)

LN_INLINE acc acc_of(vec a)
{
    return (acc){_mm256_cvtps_pd(_mm256_castps256_ps128(a)),
                 _mm256_cvtps_pd(_mm256_extractf128_ps(a, 1))};
}

/* As items, rounded. */
LN_INLINE vec acc_items(acc a)
{
    return _mm256_set_m128(_mm256_cvtpd_ps(a.high), _mm256_cvtpd_ps(a.low));
}

LN_INLINE acc acc_set(real a)
{
    return (acc){_mm256_set1_pd(a), _mm256_set1_pd(a)};
}

LN_INLINE void acc_store(real *p, acc a)
{
    _mm256_storeu_pd(p, a.low);
    _mm256_storeu_pd(p + LANES / 2, a.high);
}

/* All ones in the first n <= LANES / 2 lanes of a register. */
LN_INLINE __m256d acc_mask(size_t n)
{
    static const int64_t ones_then_zeros[LANES] = {-1, -1, -1, -1};
    const int64_t *from = ones_then_zeros + LANES / 2 - n;
    return _mm256_castsi256_pd(_mm256_loadu_si256((const __m256i *)(const void *)from));
}

LN_INLINE acc acc_first(acc a, size_t n)
{
    size_t low = n < LANES / 2 ? n : LANES / 2;
    return (acc){_mm256_and_pd(a.low, acc_mask(low)), _mm256_and_pd(a.high, acc_mask(n - low))};
}

LN_INLINE acc acc_multiply_add(acc a, acc b, acc c)
{
    if (!LN_FMA)
        return acc_add(acc_multiply(a, b), c);
    return (acc){_mm256_fmadd_pd(a.low, b.low, c.low), _mm256_fmadd_pd(a.high, b.high, c.high)};
}

LN_INLINE real acc_sum(acc a)
{
    __m256d four = _mm256_add_pd(a.low, a.high);
    __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

/* Eight sums: here, one for each lane. */
#define ACC_OCTETS
typedef acc octet;
#define octet_of acc_of
#define octet_set acc_set
#define octet_add acc_add
#define octet_sum acc_sum

/* Four at once, each by the same tree. */
LN_INLINE void octet_sum_four(const octet a[4], real sums[4])
{
    __m256d first = _mm256_add_pd(a[0].low, a[0].high);
    __m256d second = _mm256_add_pd(a[1].low, a[1].high);
    __m256d third = _mm256_add_pd(a[2].low, a[2].high);
    __m256d fourth = _mm256_add_pd(a[3].low, a[3].high);
    __m256d odd = _mm256_add_pd(_mm256_permute2f128_pd(first, third, 0x20),
                                _mm256_permute2f128_pd(first, third, 0x31));
    __m256d even = _mm256_add_pd(_mm256_permute2f128_pd(second, fourth, 0x20),
                                 _mm256_permute2f128_pd(second, fourth, 0x31));
    _mm256_storeu_pd(sums,
                     _mm256_add_pd(_mm256_unpacklo_pd(odd, even), _mm256_unpackhi_pd(odd, even)));
}

#define ACC_SUM_ROWS
#define acc_sum_rows octet_sum_four
#endif

#endif

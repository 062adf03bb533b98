/* f64, AVX2 with FMA: four elements. Tails go through VMASKMOVPD, which neither reads nor writes
 * (nor faults on) the lanes it leaves out. */
#ifndef LN_LANE_F64_AVX2_H
#define LN_LANE_F64_AVX2_H

#ifndef LN_ITEM
#define LN_ITEM f64
#endif
#include "lane/lane.h"
#include <immintrin.h>
#include <stdint.h>

typedef __m256d vec;
enum { LANES = 4 };
LN_X86_LANES(f64, _mm256, pd)

/* All ones in the first n <= LANES lanes. */
LN_INLINE __m256i lane_mask(size_t n)
{
    static const int64_t ones_then_zeros[2 * LANES] = {-1, -1, -1, -1};
    return _mm256_loadu_si256((const __m256i *)(const void *)(ones_then_zeros + LANES - n));
}

LN_INLINE vec lane_load_first_f64(const element_f64 *p, size_t n)
{
    return _mm256_maskload_pd(p, lane_mask(n));
}

LN_INLINE void lane_store_first_f64(element_f64 *p, vec a, size_t n)
{
    _mm256_maskstore_pd(p, lane_mask(n), a);
}

LN_INLINE vec lane_first(vec a, size_t n)
{
    return _mm256_and_pd(a, _mm256_castsi256_pd(lane_mask(n)));
}

LN_INLINE vec lane_absolute(vec a)
{
    return _mm256_andnot_pd(_mm256_set1_pd(-0.0), a);
}

LN_INLINE item lane_sum(vec a)
{
    __m128d two = _mm_add_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd(a, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

LN_INLINE vec lane_mirrored(vec y, int digits)
{
    const __m256i last = _mm256_set1_epi64x((1LL << digits) - 1);
    return _mm256_xor_pd(y, _mm256_castsi256_pd(last));
}

LN_INLINE vec lane_nearer(vec a, vec b)
{
    return lane_minimum(a, lane_absolute(b));
}

LN_INLINE unsigned lane_below(vec a, vec least)
{
    return (unsigned)_mm256_movemask_pd(_mm256_cmp_pd(a, least, _CMP_NGE_UQ));
}

LN_INLINE unsigned lane_unequal(vec a, vec b)
{
    vec zero = _mm256_cmp_pd(a, lane_set(0), _CMP_EQ_OQ);
    return (unsigned)_mm256_movemask_pd(_mm256_or_pd(zero, _mm256_cmp_pd(a, b, _CMP_NEQ_UQ)));
}

/* ---- f32 in memory ---- */

/* All ones in the first n <= LANES lanes of half a register. */
LN_INLINE __m128i half_mask(size_t n)
{
    static const int32_t ones_then_zeros[2 * LANES] = {-1, -1, -1, -1};
    return _mm_loadu_si128((const __m128i *)(const void *)(ones_then_zeros + LANES - n));
}

LN_INLINE vec lane_load_f32(const element_f32 *p)
{
    return _mm256_cvtps_pd(_mm_loadu_ps(p));
}

LN_INLINE vec lane_load_first_f32(const element_f32 *p, size_t n)
{
    return _mm256_cvtps_pd(_mm_maskload_ps(p, half_mask(n)));
}

LN_INLINE void lane_store_f32(element_f32 *p, vec a)
{
    _mm_storeu_ps(p, _mm256_cvtpd_ps(a));
}

LN_INLINE void lane_store_first_f32(element_f32 *p, vec a, size_t n)
{
    _mm_maskstore_ps(p, half_mask(n), _mm256_cvtpd_ps(a));
}

LN_INLINE vec lane_stored_f32(vec a)
{
    return _mm256_cvtps_pd(_mm256_cvtpd_ps(a));
}

LN_INLINE void lane_stream_f32(element_f32 *p, vec a)
{
    _mm_stream_ps(p, _mm256_cvtpd_ps(a));
}

#endif

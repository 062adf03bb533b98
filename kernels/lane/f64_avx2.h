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

/* All ones in the first n <= LANES lanes. */
LN_INLINE __m256i lane_mask(size_t n)
{
    static const int64_t ones_then_zeros[2 * LANES] = {-1, -1, -1, -1};
    return _mm256_loadu_si256((const __m256i *)(const void *)(ones_then_zeros + LANES - n));
}

LN_INLINE vec lane_set(item a)
{
    return _mm256_set1_pd(a);
}

LN_INLINE vec lane_load_f64(const element_f64 *p)
{
    return _mm256_loadu_pd(p);
}

LN_INLINE vec lane_load_first_f64(const element_f64 *p, size_t n)
{
    return _mm256_maskload_pd(p, lane_mask(n));
}

LN_INLINE void lane_store_f64(element_f64 *p, vec a)
{
    _mm256_storeu_pd(p, a);
}

LN_INLINE vec lane_stored_f64(vec a)
{
    return a;
}

LN_INLINE void item_store(item *p, vec a)
{
    _mm256_storeu_pd(p, a);
}

LN_INLINE void lane_store_first_f64(element_f64 *p, vec a, size_t n)
{
    _mm256_maskstore_pd(p, lane_mask(n), a);
}

LN_INLINE vec lane_first(vec a, size_t n)
{
    return _mm256_and_pd(a, _mm256_castsi256_pd(lane_mask(n)));
}

LN_INLINE vec lane_add(vec a, vec b)
{
    return _mm256_add_pd(a, b);
}

LN_INLINE vec lane_subtract(vec a, vec b)
{
    return _mm256_sub_pd(a, b);
}

LN_INLINE vec lane_multiply(vec a, vec b)
{
    return _mm256_mul_pd(a, b);
}

LN_INLINE vec lane_multiply_add(vec a, vec b, vec c)
{
    return _mm256_fmadd_pd(a, b, c);
}

LN_INLINE vec lane_absolute(vec a)
{
    return _mm256_andnot_pd(_mm256_set1_pd(-0.0), a);
}

LN_INLINE vec lane_maximum(vec a, vec b)
{
    return _mm256_max_pd(a, b);
}

LN_INLINE vec lane_minimum(vec a, vec b)
{
    return _mm256_min_pd(a, b);
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

#endif

/* f64, AVX-512: eight elements. Tails are masked: the lanes left out are neither read nor written
 * and do not fault. */
#ifndef LN_LANE_F64_AVX512_H
#define LN_LANE_F64_AVX512_H

#include "lane/f64.h"
#include <immintrin.h>

typedef __m512d vec;
enum { LANES = 8 };

/* Ones for the first n < LANES lanes. */
LN_INLINE __mmask8 lane_mask(size_t n)
{
    return (__mmask8)((1u << n) - 1u);
}

LN_INLINE vec lane_set(item a)
{
    return _mm512_set1_pd(a);
}

LN_INLINE vec lane_load_f64(const element_f64 *p)
{
    return _mm512_loadu_pd(p);
}

LN_INLINE vec lane_load_first_f64(const element_f64 *p, size_t n)
{
    return _mm512_maskz_loadu_pd(lane_mask(n), p);
}

LN_INLINE void lane_store_f64(element_f64 *p, vec a)
{
    _mm512_storeu_pd(p, a);
}

LN_INLINE vec lane_stored_f64(vec a)
{
    return a;
}

LN_INLINE void item_store(item *p, vec a)
{
    _mm512_storeu_pd(p, a);
}

LN_INLINE void lane_store_first_f64(element_f64 *p, vec a, size_t n)
{
    _mm512_mask_storeu_pd(p, lane_mask(n), a);
}

LN_INLINE vec lane_first(vec a, size_t n)
{
    return _mm512_maskz_mov_pd(lane_mask(n), a);
}

LN_INLINE vec lane_add(vec a, vec b)
{
    return _mm512_add_pd(a, b);
}

LN_INLINE vec lane_subtract(vec a, vec b)
{
    return _mm512_sub_pd(a, b);
}

LN_INLINE vec lane_multiply(vec a, vec b)
{
    return _mm512_mul_pd(a, b);
}

LN_INLINE vec lane_multiply_add(vec a, vec b, vec c)
{
    return _mm512_fmadd_pd(a, b, c);
}

LN_INLINE vec lane_absolute(vec a)
{
    return _mm512_abs_pd(a);
}

LN_INLINE vec lane_maximum(vec a, vec b)
{
    return _mm512_max_pd(a, b);
}

LN_INLINE vec lane_minimum(vec a, vec b)
{
    return _mm512_min_pd(a, b);
}

LN_INLINE item lane_sum(vec a)
{
    __m256d four = _mm256_add_pd(_mm512_castpd512_pd256(a), _mm512_extractf64x4_pd(a, 1));
    __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

/* The bits that are dropped, put to the top, are a signed number whose size is largest at midpoints.
 */
LN_INLINE __m512i lane_dropped(vec y, int dropped)
{
    return _mm512_abs_epi64(_mm512_slli_epi64(_mm512_castpd_si512(y), (unsigned)(64 - dropped)));
}

LN_INLINE __mmask8 lane_is_doubtful(__m512i dropped_bits, vec size, vec least, int dropped,
                                    int64_t margin)
{
    const uint64_t limit = ((uint64_t)1 << 63) - ((uint64_t)(margin - 1) << (64 - dropped));
    return (__mmask8)(_mm512_cmpge_epu64_mask(dropped_bits, _mm512_set1_epi64((int64_t)limit)) |
                      _mm512_cmp_pd_mask(size, least, _CMP_NGE_UQ));
}

LN_INLINE unsigned lane_doubtful(vec y, vec least, int dropped, int64_t margin)
{
    return lane_is_doubtful(lane_dropped(y, dropped), lane_absolute(y), least, dropped, margin);
}

/* Whether any lane of four vectors is, of numbers or, where least is NaN, of anything. Where no more
 * than half of a lane is dropped, those halves of two vectors are one, and sizes are looked at as
 * f32: rounding takes 2^-24 of them at most, and of `least` as much is added. */
#define LANE_DOUBTFUL_FOUR
LN_INLINE int lane_doubtful_four(const vec y[4], vec least, int dropped, int64_t margin)
{
    enum { NEAREST_TO_ZERO = 10, LOW_HALVES = 0x88 };
    if (dropped > 32) {
        __mmask8 doubts = 0;
        for (int r = 0; r < 4; r++)
            doubts |= (__mmask8)lane_doubtful(y[r], least, dropped, margin);
        return doubts != 0;
    }
    __m512 rest[2];
    for (int r = 0; r < 2; r++)
        rest[r] = _mm512_shuffle_ps(_mm512_castpd_ps(y[2 * r]), _mm512_castpd_ps(y[2 * r + 1]),
                                    LOW_HALVES);
    const __m512i offset = _mm512_set1_epi32((int)(((int64_t)1 << (dropped - 1)) + margin));
    const __m512i mask = _mm512_set1_epi32((int)(((int64_t)1 << dropped) - 2 * margin));
    __mmask16 near =
        _mm512_testn_epi32_mask(_mm512_add_epi32(_mm512_castps_si512(rest[0]), offset), mask) |
        _mm512_testn_epi32_mask(_mm512_add_epi32(_mm512_castps_si512(rest[1]), offset), mask);
    __m256 small = _mm256_range_ps(
        _mm256_range_ps(_mm512_cvtpd_ps(y[0]), _mm512_cvtpd_ps(y[1]), NEAREST_TO_ZERO),
        _mm256_range_ps(_mm512_cvtpd_ps(y[2]), _mm512_cvtpd_ps(y[3]), NEAREST_TO_ZERO),
        NEAREST_TO_ZERO);
    __m256 most = _mm512_cvtpd_ps(_mm512_mul_pd(least, _mm512_set1_pd(1 + 0x1p-22)));
    return (near | _mm256_cmp_ps_mask(small, most, _CMP_NGE_UQ)) != 0;
}

LN_INLINE unsigned lane_unequal(vec a, vec b)
{
    return (unsigned)(_mm512_cmp_pd_mask(a, b, _CMP_NEQ_UQ) |
                      _mm512_cmp_pd_mask(a, lane_set(0), _CMP_EQ_OQ));
}

#endif

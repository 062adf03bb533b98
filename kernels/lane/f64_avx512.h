/* f64, AVX-512: eight elements. Tails are masked: the lanes left out are neither read nor written
 * and do not fault. */
#ifndef LN_LANE_F64_AVX512_H
#define LN_LANE_F64_AVX512_H

#ifndef LN_ITEM
#define LN_ITEM f64
#endif
#include "lane/lane.h"
#include <immintrin.h>

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

/* ---- f32 beside items of f64: sixteen elements of 16-bit storage, for apply/certified.h ---- */

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

/* Eight items, rounded. */
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

#endif

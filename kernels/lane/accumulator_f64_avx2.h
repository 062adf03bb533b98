/* f64 accumulators over f32 items, AVX2: a pair of registers holds what one of items does. */
#ifndef LN_LANE_ACCUMULATOR_H
#define LN_LANE_ACCUMULATOR_H

#ifndef LN_ACCUMULATOR
#define LN_ACCUMULATOR f64
#endif
#include "lane/lane.h"
#include "lane/f32_avx2.h"

typedef struct acc {
    __m256d low; /* the first half of the lanes */
    __m256d high;
} acc;

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

LN_INLINE acc acc_add(acc a, acc b)
{
    return (acc){_mm256_add_pd(a.low, b.low), _mm256_add_pd(a.high, b.high)};
}

LN_INLINE acc acc_subtract(acc a, acc b)
{
    return (acc){_mm256_sub_pd(a.low, b.low), _mm256_sub_pd(a.high, b.high)};
}

LN_INLINE acc acc_multiply(acc a, acc b)
{
    return (acc){_mm256_mul_pd(a.low, b.low), _mm256_mul_pd(a.high, b.high)};
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

LN_INLINE octet octet_of(vec a)
{
    return acc_of(a);
}

LN_INLINE octet octet_set(real a)
{
    return acc_set(a);
}

LN_INLINE octet octet_add(octet a, octet b)
{
    return acc_add(a, b);
}

/* i with i + 4, then i + 2, i + 1. */
LN_INLINE real octet_sum(octet a)
{
    return acc_sum(a);
}

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

/* The tree of acc_sum(). */
#define ACC_SUM_ROWS
LN_INLINE void acc_sum_rows(const acc a[4], real sums[4])
{
    octet_sum_four(a, sums);
}

#endif

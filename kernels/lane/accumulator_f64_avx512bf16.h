/* f64 accumulators over f32 items, AVX512-BF16: four registers hold what two of items do. */
#ifndef LN_LANE_ACCUMULATOR_H
#define LN_LANE_ACCUMULATOR_H

#ifndef LN_ACCUMULATOR
#define LN_ACCUMULATOR f64
#endif
#include "lane/f32_avx512bf16.h"

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

/* As items, rounded. */
LN_INLINE vec acc_items(acc a)
{
    return (vec){acc_half_items(a.part[0], a.part[1]), acc_half_items(a.part[2], a.part[3])};
}

LN_INLINE acc acc_set(real a)
{
    __m512d all = _mm512_set1_pd(a);
    return (acc){{all, all, all, all}};
}

/* In the order of lanes. */
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
    return sum_8(acc_eight(a));
}

/* The lanes i, i + 8, i + 16 and i + 24 added up, in items. */
LN_INLINE octet octet_of(vec a)
{
    __m512 all = lane_halves_sum(a);
    return _mm512_cvtps_pd(
        _mm256_add_ps(_mm512_castps512_ps256(all), _mm512_extractf32x8_ps(all, 1)));
}

#endif

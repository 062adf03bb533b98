/* f64 accumulators over f32 items, AVX-512: a pair of registers holds what one of items does. */
#ifndef LN_LANE_ACCUMULATOR_H
#define LN_LANE_ACCUMULATOR_H

#ifndef LN_ACCUMULATOR
#define LN_ACCUMULATOR f64
#endif
#include "lane/lane.h"
#include "lane/f32_avx512.h"

typedef struct acc {
    __m512d low; /* the first half of the lanes */
    __m512d high;
} acc;

LN_INLINE acc acc_of(vec a)
{
    return (acc){_mm512_cvtps_pd(_mm512_castps512_ps256(a)),
                 _mm512_cvtps_pd(_mm512_extractf32x8_ps(a, 1))};
}

/* As items, rounded. */
LN_INLINE vec acc_items(acc a)
{
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(a.low)),
                              _mm512_cvtpd_ps(a.high), 1);
}

LN_INLINE acc acc_set(real a)
{
    return (acc){_mm512_set1_pd(a), _mm512_set1_pd(a)};
}

LN_INLINE void acc_store(real *p, acc a)
{
    _mm512_storeu_pd(p, a.low);
    _mm512_storeu_pd(p + LANES / 2, a.high);
}

LN_INLINE acc acc_first(acc a, size_t n)
{
    __mmask16 mask = lane_mask(n);
    return (acc){_mm512_maskz_mov_pd((__mmask8)mask, a.low),
                 _mm512_maskz_mov_pd((__mmask8)(mask >> 8), a.high)};
}

LN_INLINE acc acc_add(acc a, acc b)
{
    return (acc){_mm512_add_pd(a.low, b.low), _mm512_add_pd(a.high, b.high)};
}

LN_INLINE acc acc_subtract(acc a, acc b)
{
    return (acc){_mm512_sub_pd(a.low, b.low), _mm512_sub_pd(a.high, b.high)};
}

LN_INLINE acc acc_multiply(acc a, acc b)
{
    return (acc){_mm512_mul_pd(a.low, b.low), _mm512_mul_pd(a.high, b.high)};
}

LN_INLINE acc acc_multiply_add(acc a, acc b, acc c)
{
    if (!LN_FMA)
        return acc_add(acc_multiply(a, b), c);
    return (acc){_mm512_fmadd_pd(a.low, b.low, c.low), _mm512_fmadd_pd(a.high, b.high, c.high)};
}

LN_INLINE real acc_sum(acc a)
{
    return sum_8(_mm512_add_pd(a.low, a.high));
}

/* The lanes i and i + 8 added up, in items. */
LN_INLINE octet octet_of(vec a)
{
    __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
    return _mm512_cvtps_pd(eight);
}

LN_INLINE octet octet_fold_four(const octet a[4])
{
    return fold_four_8(a);
}

#define ACC_SUM_ROWS
LN_INLINE void acc_sum_rows(const acc a[4], real sums[4])
{
    octet eight[4];
    for (int i = 0; i < 4; i++)
        eight[i] = _mm512_add_pd(a[i].low, a[i].high);
    octet_sum_four(eight, sums);
}

/* Sixteen rows at once, each by the same tree: a row becomes an octet, four of those a fold, which
 * has two partial sums of each, and four folds become all sums. */
#define ACC_SUM_SQUARE
typedef octet acc_fold;

LN_INLINE acc_fold acc_fold_one(acc a)
{
    return _mm512_add_pd(a.low, a.high);
}

LN_INLINE acc_fold acc_fold_four(const acc_fold a[4])
{
    return octet_fold_four(a);
}

LN_INLINE octet octet_sum_folds(acc_fold first, acc_fold second)
{
    octet sums =
        _mm512_add_pd(_mm512_unpacklo_pd(first, second), _mm512_unpackhi_pd(first, second));
    return _mm512_permutexvar_pd(_mm512_set_epi64(7, 5, 3, 1, 6, 4, 2, 0), sums);
}

LN_INLINE acc acc_sum_folds(const acc_fold folds[4])
{
    return (acc){octet_sum_folds(folds[0], folds[1]), octet_sum_folds(folds[2], folds[3])};
}

/* From memory at once: a conversion reads half a register of items. */
#define ACC_LOADS
LN_INLINE acc acc_load_f32(const element_f32 *p)
{
    return (acc){_mm512_cvtps_pd(_mm256_loadu_ps(p)), _mm512_cvtps_pd(_mm256_loadu_ps(p + 8))};
}

#endif

/* AVX2 with FMA and F16C: the lanes of f32 and of f64, and 16-bit storage over both. */
#ifndef LN_LANE_AVX2_H
#define LN_LANE_AVX2_H

#include "lane/lane.h"
#include <immintrin.h>
#include <stdint.h>

#if ITEMS_ARE_F32
/* f32, AVX2 with FMA: eight elements. Tails use VMASKMOVPS, which neither reads nor writes
 * (nor faults on) the lanes outside the mask. */

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

/* Returns for each lane the number of a or b that is nearer to zero. */
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

/* Needs a third of the additions of four calls of lane_sum(). */
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
/* ---- f64 accumulators: two registers for one register of items ---- */

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

/* Rounds to items. */
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

/* Eight sums, here one for each lane. */
#define ACC_OCTETS
typedef acc octet;
#define octet_of acc_of
#define octet_set acc_set
#define octet_add acc_add
#define octet_sum acc_sum

/* Adds the lanes of four octets, each by the same tree. */
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

#else
/* f64, AVX2 with FMA: four elements. Tails use VMASKMOVPD, which neither reads nor writes
 * (nor faults on) the lanes outside the mask. */

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

/* bf16 and f16 storage, AVX2 with F16C, whose conversions keep subnormals and make NaNs quiet. There are
 * no masks for 16 bits: the first n of eight elements are read and written as four, two and one; the first n
 * of four, over f64 items, one by one. f64 items are rounded to f32 before they are stored (lane/lane.h). */

typedef __m128i halves;

#if ITEMS_ARE_F32
LN_INLINE halves halves_load(const uint16_t *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

LN_INLINE void halves_store(uint16_t *p, halves a)
{
    _mm_storeu_si128((__m128i *)(void *)p, a);
}

/* n < 8 */
LN_APART halves halves_load_first(const uint16_t *p, size_t n)
{
    uint64_t four = 0, rest = 0;
    uint32_t two;
    const uint16_t *from = p + (n & 4u);
    if (n & 1u)
        rest = from[n & 2u];
    if (n & 2u) {
        memcpy(&two, from, sizeof(two));
        rest = rest << 32 | two;
    }
    if (!(n & 4u))
        return _mm_set_epi64x(0, (int64_t)rest);
    memcpy(&four, p, sizeof(four));
    return _mm_set_epi64x((int64_t)rest, (int64_t)four);
}

/* n < 8 */
LN_APART void halves_store_first(uint16_t *p, halves a, size_t n)
{
    if (n & 4u) {
        _mm_storel_epi64((__m128i *)(void *)p, a);
        a = _mm_unpackhi_epi64(a, a);
        p += 4;
    }
    uint64_t rest = (uint64_t)_mm_cvtsi128_si64(a);
    if (n & 2u) {
        memcpy(p, &rest, sizeof(uint32_t));
        rest >>= 32;
        p += 2;
    }
    if (n & 1u)
        *p = (uint16_t)rest;
}

LN_INLINE vec bf16_widened(halves a)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(a), 16));
}

/* Does bf16_of() in every lane, except its shift. A computed NaN is quiet and stays one when it is truncated. */
LN_INLINE __m256i bf16_rounded(vec a)
{
    __m256i bits = _mm256_castps_si256(a);
    __m256i number = _mm256_castps_si256(_mm256_cmp_ps(a, a, _CMP_ORD_Q));
    __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    __m256i half = _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff));
    return _mm256_add_epi32(bits, _mm256_and_si256(half, number));
}

/* Returns the lanes rounded to bf16. */
LN_INLINE halves bf16_narrowed(vec a)
{
    __m256i low = _mm256_srli_epi32(bf16_rounded(a), 16);
    return _mm_packus_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
}

LN_INLINE vec bf16_stored(vec a)
{
    const __m256i upper = _mm256_set1_epi32((int)0xffff0000u);
    return _mm256_castsi256_ps(_mm256_and_si256(bf16_rounded(a), upper));
}

LN_INLINE vec f16_widened(halves a)
{
    return _mm256_cvtph_ps(a);
}

LN_INLINE halves f16_narrowed(vec a)
{
    return _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

#else
LN_INLINE halves halves_load(const uint16_t *p)
{
    return _mm_loadl_epi64((const __m128i *)(const void *)p);
}

LN_APART halves halves_load_first(const uint16_t *p, size_t n)
{
    uint16_t elements[LANES] = {0};
    for (size_t i = 0; i < n; i++)
        elements[i] = p[i];
    return halves_load(elements);
}

LN_INLINE void halves_store(uint16_t *p, halves a)
{
    _mm_storel_epi64((__m128i *)(void *)p, a);
}

LN_APART void halves_store_first(uint16_t *p, halves a, size_t n)
{
    uint16_t elements[LANES];
    halves_store(elements, a);
    for (size_t i = 0; i < n; i++)
        p[i] = elements[i];
}

LN_INLINE vec bf16_widened(halves a)
{
    return _mm256_cvtps_pd(_mm_castsi128_ps(_mm_slli_epi32(_mm_cvtepu16_epi32(a), 16)));
}

LN_INLINE halves bf16_narrowed(vec a)
{
    __m128i bits = _mm_castps_si128(_mm256_cvtpd_ps(a));
    __m128i odd = _mm_and_si128(_mm_srli_epi32(bits, 16), _mm_set1_epi32(1));
    bits = _mm_add_epi32(bits, _mm_add_epi32(odd, _mm_set1_epi32(0x7fff)));
    return _mm_packus_epi32(_mm_srli_epi32(bits, 16), _mm_setzero_si128());
}

LN_INLINE vec bf16_stored(vec a)
{
    return bf16_widened(bf16_narrowed(a));
}

LN_INLINE vec f16_widened(halves a)
{
    return _mm256_cvtps_pd(_mm_cvtph_ps(a));
}

LN_INLINE halves f16_narrowed(vec a)
{
    return _mm_cvtps_ph(_mm256_cvtpd_ps(a), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

#endif

LN_HALVES_WORDS(bf16, bf16_stored(a))
LN_HALVES_WORDS(f16, f16_widened(f16_narrowed(a)))

#endif

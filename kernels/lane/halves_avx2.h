/* Eight 16-bit elements, AVX2, which has no masks for them: the first n are read and written as
 * four, two and one. */
#ifndef LN_LANE_HALVES_AVX2_H
#define LN_LANE_HALVES_AVX2_H

#include "lane/lane.h"
#include <immintrin.h>
#include <string.h>

LN_INLINE __m128i halves_load(const uint16_t *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

LN_INLINE void halves_store(uint16_t *p, __m128i a)
{
    _mm_storeu_si128((__m128i *)(void *)p, a);
}

/* n < 8 */
LN_APART __m128i halves_load_first(const uint16_t *p, size_t n)
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
LN_APART void halves_store_first(uint16_t *p, __m128i a, size_t n)
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

#endif

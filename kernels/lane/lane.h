/* What every lane file offers: the vector operations of one ISA, over which statistics, apply and schedule
 * are written. A kernel's translation unit includes lane/<isa>.h, which has the lanes of the type that it
 * computes with, items, and reads and writes every type that lies in memory. */
#ifndef LN_LANE_H
#define LN_LANE_H

/* The words:
 *     LANES                        elements of a vec
 *     lane_set(a)                  a in every lane
 *     item_store(p, a)             LANES items, as they are computed with
 *     item_load(p)                 the same, where the ISA is AVX-512
 *     lane_first(a, n)             a with zero in the lanes from n on, n at most LANES
 *     lane_add, lane_subtract, lane_multiply
 *     lane_multiply_add(a, b, c)   a * b + c: one rounding where the ISA's line says fma, else two
 *     lane_absolute, lane_minimum, lane_maximum
 *                                  of a NaN and a number: either
 *     lane_mirrored(y, digits)     where items are f64: y with its last `digits` bits inverted
 *     lane_nearer(a, b)            likewise: the smaller of a and |b|; of a NaN and a number: either
 *     lane_below(a, least)         likewise: a bit for each lane in which a is not at least `least`
 *     lane_unequal(a, b)           likewise: a bit for each lane in which a is 0 or not b
 *     lane_sum(a)                  the sum of the lanes: log2(LANES) levels, lane i with lane
 *                                  i + half at each, the same on every machine
 *     lane_sum_rows(a[4], sums), lane_sum_two(a, b, sums)
 *                                  the same for several vectors together, where LANE_SUM_ROWS is
 *                                  defined; sums of type item
 *
 * and for each type T that this file reads and writes
 *     lane_load_T(p)               LANES elements, as items: exactly
 *     lane_load_first_T(p, n)      the first n < LANES elements, zero in the lanes behind them;
 *                                  touches nothing but those n elements
 *     lane_store_T(p, a), lane_store_first_T(p, a, n)
 *                                  rounded to nearest, ties to even; subnormals are kept, a NaN
 *                                  that arithmetic made stays one, what is too large is infinite
 *     lane_stored_T(a)             a as it would be read after it was stored
 *     item_of_T(element)           one element as an item
 * 16-bit storage over f64 items is rounded to f32 first. That changes nothing where items are sums of
 * two elements (Figueroa, moments.h), or lie further than 2^-24 of themselves from the midpoints of
 * storage numbers (apply/certified.h).
 *     lane_store_regular_T(p, a), lane_stream_regular_T(p, a)  where LANE_STORE_REGULAR is defined:
 *                                  where no number is subnormal, in less time;
 *     lane_is_regular(a, least)    and whether no lane but those that are 0 is less than that
 *     LANE_SINGLE                  is defined where 16-bit storage has, beside items of f64, twice as
 *                                  many lanes of f32: single_add() and the like, single_load_T(p), and
 *     single_store_T(p, low, high, ends)
 *                                  stores `high`, and adds to `ends` (at first single_ends_T()) the bits
 *                                  in which it and `low` are stored differently, halves rounded away
 *                                  from zero or to even: single_ends_differ_T(ends)
 *     lane_dot_T(p, n, odd, &sum, &square)  where LANE_DOT is defined: adds n elements (LANES if n is
 *                                  more) and their squares to the sums, a lane taking any of them,
 *                                  and two of them with two roundings; subnormals count as zeros.
 *                                  Half of the lanes take them, odd says which (0 or 1)
 *     lane_stream_T(p, a)          where the ISA can: lane_store_T() around the caches, p being
 *                                  aligned to LANES elements; lane_fence() makes such stores seen by others
 *
 * moments.h makes of these lane_load() and the like, which speak of storage, the type in memory, and
 * of param, that of gamma and beta: nothing else knows what those are.
 *
 * Statistics are written over acc_*, the same words of the accumulator's type, real: LANES of those
 * in an acc, and
 *     acc_of(vec)                  the same numbers, exactly
 *     acc_fold_one(a), acc_fold_four(folds[4]), acc_sum_folds(folds)
 *                                  where ACC_SUM_SQUARE is defined: the sums over the lanes of
 *                                  LANES rows at once; of a row, of four of those, of LANES / 4
 *                                  of those
 *     acc_items(acc)               the numbers as items, rounded
 *     octet_of(vec)                where ACC_OCTETS is defined: the lanes of a vector, those of more than
 *                                  eight added up in items; octet_add() and the like, octet_sum()
 *     acc_load_T(p)                where ACC_LOADS is defined: acc_of(lane_load_T(p)), faster
 * They are in moments.h where real is item, else behind the lanes (SUMS_ARE_LONGER).
 */

/* What a kernel's source selects (kernel.h), and what stands for it where a header is compiled alone:
 * the lanes of f32 of the ISA that the compiler's flags name. */
#ifndef LN_LANE_FILE
#if defined(__AVX512F__)
#define LN_LANE_FILE "lane/avx512.h"
#define LN_LANES 16
#elif defined(__AVX2__)
#define LN_LANE_FILE "lane/avx2.h"
#define LN_LANES 8
#elif defined(__aarch64__)
#define LN_LANE_FILE "lane/neon.h"
#define LN_LANES 4
#else
#define LN_LANE_FILE "lane/scalar.h"
#define LN_LANES 1
#endif
#define LN_STORAGE f32
#define LN_PARAM f32
#define LN_UNROLL 4
#define LN_CHUNK 16
#define LN_TILE 64
#endif
#ifndef LN_ITEM
#define LN_ITEM f32
#endif
#ifndef LN_ACCUMULATOR
#define LN_ACCUMULATOR LN_ITEM
#endif
#ifndef LN_FMA
#define LN_FMA (LN_LANES > 1)
#endif
#ifndef LN_PIVOT
#define LN_PIVOT 1
#endif
#ifndef LN_NONTEMPORAL
#define LN_NONTEMPORAL 0
#endif
#ifndef LN_STATISTICS_FILE
#define LN_STATISTICS_FILE "statistics/shifted.h"
#endif
#ifndef LN_APPLY_FILE
#define LN_APPLY_FILE "apply/folded.h"
#endif
#ifndef LN_SCHEDULE_FILE
#define LN_SCHEDULE_FILE "schedule/plain.h"
#endif

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Constant arguments of a kernel's body make many copies of it, of which there is one where each
 * access is watched: else a single file takes a compiler three minutes and two gigabytes. */
#if defined(LN_SANITIZED)
#define LN_INLINE static inline __attribute__((unused))
#else
#define LN_INLINE static inline __attribute__((always_inline, unused))
#endif

/* What is done once a row, and would be much code in each of the places that do it. */
#define LN_APART static __attribute__((noinline, unused))

/* What few rows need. */
#define LN_RARE static __attribute__((noinline, cold, unused))

/* Before a loop with a constant trip count over an array of vectors: those must live in registers,
 * so the loop has to vanish. */
#if defined(__clang__)
#define LN_UNROLLED _Pragma("clang loop unroll(full)")
#else
#define LN_UNROLLED _Pragma("GCC unroll 64")
#endif

/* Before a loop over a few rows that compilers are to make vectors of, rather than many copies. */
#if defined(__clang__)
#define LN_VECTORIZED _Pragma("clang loop vectorize(enable)")
#else
#define LN_VECTORIZED _Pragma("GCC unroll 1")
#endif

/* Hides where a pointer comes from: compilers take what follows from it to be known by nobody. */
#define LN_OPAQUE(pointer) __asm__("" : "+r"(pointer))

/* Whether lines that will be wanted long after they are fetched should come to L2 rather than L1. On Zen
 * 4 and Intel a fetch to L1 delays stores around the caches: to L2 is up to 2.5 times as fast on the
 * former. On Zen 5 it costs blocked_nt 15 % (docs/lab/experiments.md, "fetch"). */
LN_INLINE int fetches_to_l2(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_is("intel") ||
           (__builtin_cpu_is("amdfam19h") && __builtin_cpu_supports("avx512f"));
#else
    return 0;
#endif
}

/* Asks memory for the line at an address, which need not exist. */
LN_INLINE void fetch_line(uintptr_t address, int to_l2)
{
    if (to_l2)
        __builtin_prefetch((const void *)address, 0, 2);
    else
        __builtin_prefetch((const void *)address, 0, 3);
}

#define LN_PASTE_(a, b) a##b
#define LN_PASTE(a, b) LN_PASTE_(a, b)

/* ---- The types of numbers ---- */

typedef float element_f32;
typedef double element_f64;
typedef uint16_t element_bf16; /* bfloat16: the upper half of an f32, with 8 significant bits */
typedef uint16_t element_f16;  /* IEEE 754 binary16: 11 significant bits, exponents -14 to 15 */

/* For #if: whether LN_STORAGE is f32, and LN_ITEM, and whether LN_STORAGE has 16 bits. */
#define TYPE_IS_f32 1
#define TYPE_IS_SHORT_bf16 1
#define TYPE_IS_SHORT_f16 1
#define STORES_SHORT LN_PASTE(TYPE_IS_SHORT_, LN_STORAGE)
#define STORES_F32 LN_PASTE(TYPE_IS_, LN_STORAGE)
#define ITEMS_ARE_F32 LN_PASTE(TYPE_IS_, LN_ITEM)
/* Sums of f64 over items of f32. */
#define SUMS_ARE_LONGER (ITEMS_ARE_F32 && !LN_PASTE(TYPE_IS_, LN_ACCUMULATOR))

/* What kernels compute with, and what they add up in. */
typedef LN_PASTE(element_, LN_ITEM) item;
typedef LN_PASTE(element_, LN_ACCUMULATOR) real;

/* The relative error of one operation, or of rounding to the type, at most. */
#define UNIT_f32 0x1p-24
#define UNIT_f64 0x1p-53
#define UNIT_bf16 0x1p-8
#define UNIT_f16 0x1p-11
/* The absolute error where a result is subnormal: half of the smallest number. */
#define TINY_f32 0x1p-150
#define TINY_f64 0x1p-1074 /* half of it is 0 in double, in which bounds are computed */
#define TINY_bf16 0x1p-134
#define TINY_f16 0x1p-25
#define MAX_f32 ((double)FLT_MAX)
#define MAX_f64 DBL_MAX
#define MIN_f32 ((double)FLT_MIN)
#define MIN_f64 DBL_MIN
#define SCALES_f32 126 /* 2^-126 ... 2^126 are normal */
#define SCALES_f64 1022

#define ITEM_UNIT LN_PASTE(UNIT_, LN_ITEM)
#define ITEM_TINY LN_PASTE(TINY_, LN_ITEM)
#define ITEM_MAX LN_PASTE(MAX_, LN_ITEM)
#define ITEM_MIN LN_PASTE(MIN_, LN_ITEM)
#define ITEM_SCALES LN_PASTE(SCALES_, LN_ITEM)
#define REAL_UNIT LN_PASTE(UNIT_, LN_ACCUMULATOR)
#define REAL_TINY LN_PASTE(TINY_, LN_ACCUMULATOR)
#define REAL_MAX LN_PASTE(MAX_, LN_ACCUMULATOR)
#define REAL_MIN LN_PASTE(MIN_, LN_ACCUMULATOR)

/* The one quiet NaN of a type that the library's promises of bits are about. */
#define NAN_f32 __builtin_nanf("")
#define NAN_f64 __builtin_nan("")
#define NAN_bf16 0x7fc0
#define NAN_f16 0x7e00

/* fmin() and fmax() but for NaNs, for which compilers call the C library. */
LN_INLINE double lesser(double a, double b)
{
    return a < b ? a : b;
}

LN_INLINE double greater(double a, double b)
{
    return a > b ? a : b;
}

/* ---- Limits: what rows are tested against, which bounds/ counts on, too ---- */

/* Elements of AVX512-BF16's vectors, whose lanes take two products an instruction (LANE_DOT). */
enum { DOT_LANES = 32 };

/* statistics/shifted.h: a pivot's vectors. Enough that their mean is seldom two standard deviations off. */
#define PIVOT_VECTORS_OF(lanes, unroll) ((lanes) < 8 ? (unroll) : 1)

/* Blocks of 16-bit elements that are added up in items: of statistics/rms.h, and accumulators times blocks of
 * statistics/retry.h. */
enum { RMS_CHAIN = 16, CHAIN_OF_bf16 = 8, CHAIN_OF_f16 = 4 };

/* The mean square that such sums of f32 may have. */
#define CHAINED_MIN 0x1p-90
#define CHAINED_MAX 0x1p120

/* statistics/retry.h: what mean^2 / var may be of sums by chains. At 32 a relative error e of the sums becomes
 * about 100 e of var; at 16 the three roundings of f16 would prove .5113 row ULP. */
#define CHAIN_MOST_bf16 32
#define CHAIN_MOST_f16 12

#define RETRY_VAR_MIN 0x1p-90
#define RETRY_VAR_MAX 0x1p120

/* What mean^2 / var may be of sums of `depth` terms; with chains, of the sweep in f64. Beside long sums, errors of rstd of a 2^-8 of an
 * item's unit are fine (apply/split.h). Sums of items over 16-bit storage are off by as much as they are long:
 * f16 rows of two values came out .534 row ULP off at 12288 with 32, where they have 8. */
LN_INLINE double retry_most(double depth, double storage_unit, double sum_unit)
{
    if (sum_unit == UNIT_f64 && storage_unit >= UNIT_f32)
        return lesser(1024, 0x1p19 / depth);
    if (storage_unit > UNIT_f32)
        return greater(4, lesser(32, 0x3p20 * storage_unit / depth));
    return 4;
}

/* statistics/corrected.h: m2 that does not overflow, and is not so small that squares were lost, but where eps
 * hides that: from a deviation of 2^-40 on. */
#define CORRECTED_HIGHEST(max) ((max)*0x1p-28)

LN_INLINE double corrected_lowest(double floor, double min)
{
    return floor < 0x1p-40 ? min * 0x1p66 : 0;
}

/* The power of two that brings the larger of max|x| and floor into [1/2, 1), as near as a normal
 * number does. */
LN_INLINE double scale_of(double largest, double floor, double max, int scales)
{
    int exponent = 0;
    largest = fmax(largest, floor);
    if (largest > 0 && largest <= max)
        (void)frexp(largest, &exponent);
    exponent = exponent > scales ? scales : exponent;
    exponent = exponent < -scales ? -scales : exponent;
    return ldexp(1, -exponent);
}

/* apply/split.h */
#define SPLIT_MEAN_MOST 0x1p5 /* of mean / sqrt(var) where statistics took no pivot */
#define SPLIT_QUOTIENT_MOST 0x1p-6
#define SPLIT_SQUARES_LEAST 0x1p-60 /* of sum((x - mean)^2) rstd^2 */

/* The bits of an f32. */
LN_INLINE uint32_t bits_of(float a)
{
    uint32_t bits;
    memcpy(&bits, &a, sizeof(bits));
    return bits;
}

LN_INLINE float float_of(uint32_t bits)
{
    float a;
    memcpy(&a, &bits, sizeof(a));
    return a;
}

LN_INLINE float item_of_f32(element_f32 a)
{
    return a;
}

LN_INLINE double item_of_f64(element_f64 a)
{
    return a;
}

LN_INLINE float item_of_bf16(element_bf16 a)
{
    return float_of((uint32_t)a << 16);
}

/* To nearest even: adding just under half of the last place that is kept, or half where that place
 * is odd, carries where it should, into the exponent and to infinity too. */
LN_INLINE element_bf16 bf16_of(float a)
{
    uint32_t bits = bits_of(a), kept = bits >> 16;
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return (element_bf16)(kept | 0x40u); /* a NaN, quiet */
    return (element_bf16)((bits + 0x7fffu + (kept & 1u)) >> 16);
}

/* Exponent and fraction, put where f32 has them, are a number 2^112 too small, subnormals as well:
 * those of f16 lie among those of f32. The product is exact. */
LN_INLINE float item_of_f16(element_f16 a)
{
    uint32_t sign = (a & 0x8000u) << 16;
    float size = float_of((a & 0x7fffu) << 13) * 0x1p112f;
    uint32_t special = size >= 0x1p16f ? 0x7f800000u : 0u; /* infinity or NaN */
    return float_of(bits_of(size) | special | sign);
}

/* To nearest even. Normal numbers as in bf16_of(). A number below 2^-14 is added to 1/2, whose last
 * place is f16's smallest number: that rounds it, and its bits are the sum's last. */
LN_INLINE element_f16 f16_of(float a)
{
    uint32_t bits = bits_of(a), sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
    if (size > 0x7f800000u)
        return (element_f16)(sign | 0x7e00u | (size >> 13 & 0x1ffu)); /* a NaN, quiet */
    if (size < bits_of(0x1p-14f))
        return (element_f16)(sign | (bits_of(float_of(size) + 0.5f) - bits_of(0.5f)));
    uint32_t kept = (size - (112u << 23) + 0xfffu + (size >> 13 & 1u)) >> 13;
    return (element_f16)(sign | (kept < 0x7c00u ? kept : 0x7c00u));
}

/* The words that every type of vectors, and numbers, have as operators. */
#define LN_ARITHMETIC(name, vector)                                                                \
    LN_INLINE vector name##_add(vector a, vector b)                                                \
    {                                                                                              \
        return a + b;                                                                              \
    }                                                                                              \
    LN_INLINE vector name##_subtract(vector a, vector b)                                           \
    {                                                                                              \
        return a - b;                                                                              \
    }                                                                                              \
    LN_INLINE vector name##_multiply(vector a, vector b)                                           \
    {                                                                                              \
        return a * b;                                                                              \
    }

/* The same of a struct of two vectors. */
#define LN_ARITHMETIC_OF_TWO(name, pair, first, second)                                            \
    LN_INLINE pair name##_add(pair a, pair b)                                                      \
    {                                                                                              \
        return (pair){a.first + b.first, a.second + b.second};                                     \
    }                                                                                              \
    LN_INLINE pair name##_subtract(pair a, pair b)                                                 \
    {                                                                                              \
        return (pair){a.first - b.first, a.second - b.second};                                     \
    }                                                                                              \
    LN_INLINE pair name##_multiply(pair a, pair b)                                                 \
    {                                                                                              \
        return (pair){a.first * b.first, a.second * b.second};                                     \
    }

/* The words that are one intrinsic, of a vec that is one register of elements T, as they are computed with. */
#define LN_REGISTER_LANES(T, SET, LOAD, STORE, MULTIPLY_ADD, MAXIMUM, MINIMUM)                     \
    LN_ARITHMETIC(lane, vec)                                                                       \
    LN_INLINE vec lane_set(item a)                                                                 \
    {                                                                                              \
        return SET(a);                                                                             \
    }                                                                                              \
    LN_INLINE vec lane_load_##T(const element_##T *p)                                              \
    {                                                                                              \
        return LOAD(p);                                                                            \
    }                                                                                              \
    LN_INLINE void lane_store_##T(element_##T *p, vec a)                                           \
    {                                                                                              \
        STORE(p, a);                                                                               \
    }                                                                                              \
    LN_INLINE vec lane_stored_##T(vec a)                                                           \
    {                                                                                              \
        return a;                                                                                  \
    }                                                                                              \
    LN_INLINE void item_store(item *p, vec a)                                                      \
    {                                                                                              \
        STORE(p, a);                                                                               \
    }                                                                                              \
    LN_INLINE vec lane_multiply_add(vec a, vec b, vec c)                                           \
    {                                                                                              \
        return MULTIPLY_ADD;                                                                       \
    }                                                                                              \
    LN_INLINE vec lane_maximum(vec a, vec b)                                                       \
    {                                                                                              \
        return MAXIMUM(a, b);                                                                      \
    }                                                                                              \
    LN_INLINE vec lane_minimum(vec a, vec b)                                                       \
    {                                                                                              \
        return MINIMUM(a, b);                                                                      \
    }

/* _mm256 and ps, say; and the fence of stores around the caches. */
#define LN_X86_LANES(T, PREFIX, SUFFIX)                                                            \
    LN_REGISTER_LANES(T, PREFIX##_set1_##SUFFIX, PREFIX##_loadu_##SUFFIX,                          \
                      PREFIX##_storeu_##SUFFIX, PREFIX##_fmadd_##SUFFIX(a, b, c),                  \
                      PREFIX##_max_##SUFFIX, PREFIX##_min_##SUFFIX)                                \
    LN_INLINE void lane_fence(void)                                                                \
    {                                                                                              \
        _mm_sfence();                                                                              \
    }

#define LN_NEON_LANES(T)                                                                           \
    LN_REGISTER_LANES(T, vdupq_n_##T, vld1q_##T, vst1q_##T, vfmaq_##T(c, a, b), vmaxq_##T,         \
                      vminq_##T)                                                                   \
    LN_INLINE vec lane_absolute(vec a)                                                             \
    {                                                                                              \
        return vabsq_##T(a);                                                                       \
    }

/* The words of a 16-bit type T, made of what a file of lanes gives: `halves`, LANES elements of any
 * such type; halves_load(p), halves_load_first(p, n), halves_store(p, a), halves_store_first(p, a, n);
 * T_widened(halves) and T_narrowed(vec). STORED is lane_stored_T(a). */
#define LN_HALVES_WORDS(T, STORED)                                                                 \
    LN_INLINE vec lane_load_##T(const element_##T *p)                                              \
    {                                                                                              \
        return T##_widened(halves_load(p));                                                        \
    }                                                                                              \
    LN_INLINE vec lane_load_first_##T(const element_##T *p, size_t n)                              \
    {                                                                                              \
        return T##_widened(halves_load_first(p, n));                                               \
    }                                                                                              \
    LN_INLINE void lane_store_##T(element_##T *p, vec a)                                           \
    {                                                                                              \
        halves_store(p, T##_narrowed(a));                                                          \
    }                                                                                              \
    LN_INLINE void lane_store_first_##T(element_##T *p, vec a, size_t n)                           \
    {                                                                                              \
        halves_store_first(p, T##_narrowed(a), n);                                                 \
    }                                                                                              \
    LN_INLINE vec lane_stored_##T(vec a)                                                           \
    {                                                                                              \
        return STORED;                                                                             \
    }

#endif

/* The vector operations that every lane file defines for one ISA, and that statistics, apply and schedule use. A
 * kernel's translation unit includes lane/<isa>.h, which has the lanes of the type of the computation (items), and
 * reads and writes every type in memory. */
#ifndef LN_LANE_H
#define LN_LANE_H

/* The operations:
 *     LANES                        elements of a vec
 *     lane_set(a)                  a in every lane
 *     item_store(p, a)             stores LANES items without conversion
 *     item_load(p)                 loads them; only on AVX-512
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
 * and for each type T in memory
 *     lane_load_T(p)               LANES elements, as items: exactly
 *     lane_load_first_T(p, n)      the first n < LANES elements, zero in the other lanes;
 *                                  reads only those n elements
 *     lane_store_T(p, a), lane_store_first_T(p, a, n)
 *                                  rounded to nearest, ties to even; subnormals are kept, a computed
 *                                  NaN stays one, and numbers that are too large become infinite
 *     lane_stored_T(a)             a rounded to T
 *     item_of_T(element)           one element as an item
 * For 16-bit storage over f64 items, numbers are rounded to f32 first. This changes no result if items are sums of two
 * elements (Figueroa, moments.h), or their distance from the midpoints of storage numbers is more than 2^-24 of their
 * size (apply/certified.h).
 *     lane_store_regular_T(p, a), lane_stream_regular_T(p, a)  if LANE_STORE_REGULAR is defined:
 *                                  faster stores for vectors without subnormal numbers;
 *     lane_is_regular(a, least)    whether each lane is 0 or at least `least`
 *     LANE_SINGLE                  is defined if 16-bit storage has, besides items of f64, twice as
 *                                  many lanes of f32: single_add() and the like, single_load_T(p), and
 *     single_store_T(p, low, high, ends)
 *                                  stores `high`, and adds to `ends` (at first single_ends_T()) the bits
 *                                  in which the stored `low` and `high` differ, with halves rounded away
 *                                  from zero or to even: single_ends_differ_T(ends)
 *     lane_dot_T(p, n, odd, &sum, &square)  if LANE_DOT is defined: adds the first n, at most LANES,
 *                                  elements and their squares to the sums, in any order of lanes,
 *                                  two elements with two roundings; subnormals count as zeros.
 *                                  Only the even (odd = 0) or odd (1) half of the lanes changes
 *     lane_stream_T(p, a)          if the ISA has it: lane_store_T() around the caches, p being aligned
 *                                  to LANES elements; lane_fence() makes such stores visible to others
 *
 * moments.h defines lane_load() and the like for the storage type and for the type of gamma and beta, so that no other
 * file depends on these types.
 *
 * Statistics use acc_*, the same operations on vectors of LANES numbers of the accumulator's type (real), and
 *     acc_of(vec)                  the same numbers, exactly
 *     acc_fold_one(a), acc_fold_four(folds[4]), acc_sum_folds(folds)
 *                                  if ACC_SUM_SQUARE is defined: steps of the sums over the lanes of
 *                                  LANES rows at once: for one row, for four rows, and for LANES / 4
 *                                  such fours
 *     acc_items(acc)               the numbers as items, rounded
 *     octet_of(vec)                if ACC_OCTETS is defined: eight sums of the lanes of a vector, added
 *                                  in items; octet_add() and the like, octet_sum()
 *     acc_load_T(p)                if ACC_LOADS is defined: acc_of(lane_load_T(p)), faster
 * They are in moments.h if real is item, else after the lanes (SUMS_ARE_LONGER). */

/* A kernel's source selects the lane file (kernel.h). If a header is compiled by itself, these are the f32 lanes of the
 * ISA of the compiler's flags. */
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

/* Constant arguments make many copies of a kernel's body. With sanitizers there is only one, since otherwise a single
 * file takes three minutes and two gigabytes to compile. */
#if defined(LN_SANITIZED)
#define LN_INLINE static inline __attribute__((unused))
#else
#define LN_INLINE static inline __attribute__((always_inline, unused))
#endif

/* For functions that run once a row and would be much code in each of their callers. */
#define LN_APART static __attribute__((noinline, unused))

/* For functions that few rows need. */
#define LN_RARE static __attribute__((noinline, cold, unused))

/* Precedes a loop with a constant trip count over an array of vectors, which must be unrolled so that the vectors stay
 * in registers. */
#if defined(__clang__)
#define LN_UNROLLED _Pragma("clang loop unroll(full)")
#else
#define LN_UNROLLED _Pragma("GCC unroll 64")
#endif

/* Precedes a loop over a few rows that should be vectorised, not unrolled. */
#if defined(__clang__)
#define LN_VECTORIZED _Pragma("clang loop vectorize(enable)")
#else
#define LN_VECTORIZED _Pragma("GCC unroll 1")
#endif

/* Hides the origin of a pointer from the compiler. */
#define LN_OPAQUE(pointer) __asm__("" : "+r"(pointer))

/* Returns whether lines that are needed long after their fetch should be fetched to L2 instead of L1. On Zen 4 and
 * Intel a fetch to L1 delays stores around the caches, and fetching to L2 is up to 2.5 times as fast on Zen 4. On Zen 5
 * it costs blocked_nt 15 % (docs/lab/experiments.md, "fetch"). */
LN_INLINE int fetches_to_l2(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_is("intel") ||
           (__builtin_cpu_is("amdfam19h") && __builtin_cpu_supports("avx512f"));
#else
    return 0;
#endif
}

/* Fetches the cache line at an address, which need not exist. */
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

/* For #if: whether LN_STORAGE is f32, whether LN_ITEM is f32, and whether LN_STORAGE has 16 bits. */
#define TYPE_IS_f32 1
#define TYPE_IS_SHORT_bf16 1
#define TYPE_IS_SHORT_f16 1
#define STORES_SHORT LN_PASTE(TYPE_IS_SHORT_, LN_STORAGE)
#define STORES_F32 LN_PASTE(TYPE_IS_, LN_STORAGE)
#define ITEMS_ARE_F32 LN_PASTE(TYPE_IS_, LN_ITEM)
/* Sums of f64 over items of f32. */
#define SUMS_ARE_LONGER (ITEMS_ARE_F32 && !LN_PASTE(TYPE_IS_, LN_ACCUMULATOR))

/* The type of the computation, and the type of sums. */
typedef LN_PASTE(element_, LN_ITEM) item;
typedef LN_PASTE(element_, LN_ACCUMULATOR) real;

/* The largest relative error of one operation, or of rounding to the type. */
#define UNIT_f32 0x1p-24
#define UNIT_f64 0x1p-53
#define UNIT_bf16 0x1p-8
#define UNIT_f16 0x1p-11
/* The largest absolute error of a subnormal result: half of the smallest number. */
#define TINY_f32 0x1p-150
#define TINY_f64 0x1p-1074 /* not halved, since bounds are doubles and half of it would be 0 */
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

/* The canonical quiet NaN of a type, which kernels with reproducible bits write. */
#define NAN_f32 __builtin_nanf("")
#define NAN_f64 __builtin_nan("")
#define NAN_bf16 0x7fc0
#define NAN_f16 0x7e00

/* Return the minimum and the maximum of two numbers that are not NaN. Because of NaNs, fmin() and fmax() call the C
 * library. */
LN_INLINE double lesser(double a, double b)
{
    return a < b ? a : b;
}

LN_INLINE double greater(double a, double b)
{
    return a > b ? a : b;
}

/* ---- Limits by which kernels test rows, and which the proofs in bounds/ use ---- */

/* The elements of AVX512-BF16's vectors, whose lanes add two products in one instruction (LANE_DOT). */
enum { DOT_LANES = 32 };

/* statistics/shifted.h: the number of vectors whose mean is the pivot. With these the pivot is seldom two standard
 * deviations from the row's mean. */
#define PIVOT_VECTORS_OF(lanes, unroll) ((lanes) < 8 ? (unroll) : 1)

/* The number of blocks of 16-bit elements that are added in items: RMS_CHAIN in statistics/rms.h, and CHAIN_OF / UNROLL
 * in statistics/retry.h. */
enum { RMS_CHAIN = 16, CHAIN_OF_bf16 = 8, CHAIN_OF_f16 = 4 };

/* The smallest and the largest mean square for which such sums of f32 are used. */
#define CHAINED_MIN 0x1p-90
#define CHAINED_MAX 0x1p120

/* statistics/retry.h: the largest mean^2 / var for which sums by chains are used. At 32 a relative error e of the sums
 * becomes about 100 e of var; at 16 the three roundings of f16 would prove only 0.5113 row ULP. */
#define CHAIN_MOST_bf16 32
#define CHAIN_MOST_f16 12

#define RETRY_VAR_MIN 0x1p-90
#define RETRY_VAR_MAX 0x1p120

/* Returns the largest mean^2 / var for which sums of `depth` terms are used; with chains, for the sweep in f64. With
 * f64 sums over f32, errors of rstd of 2^-8 of an item's unit are acceptable (apply/split.h). The error of sums of
 * items over 16-bit storage grows with their length: with 32 instead of 8, f16 rows of two values had 0.534 row ULP at
 * hidden 12288. */
LN_INLINE double retry_most(double depth, double storage_unit, double sum_unit)
{
    if (sum_unit == UNIT_f64 && storage_unit >= UNIT_f32)
        return lesser(1024, 0x1p19 / depth);
    if (storage_unit > UNIT_f32)
        return greater(4, lesser(32, 0x3p20 * storage_unit / depth));
    return 4;
}

/* statistics/corrected.h: the limits of m2. Above the highest it may overflow; below the lowest squares may have
 * underflowed, which does not matter if eps corresponds to a deviation of at least 2^-40. */
#define CORRECTED_HIGHEST(max) ((max)*0x1p-28)

LN_INLINE double corrected_lowest(double floor, double min)
{
    return floor < 0x1p-40 ? min * 0x1p66 : 0;
}

/* Returns the power of two that brings the larger of max|x| and floor into [1/2, 1), or the nearest normal one. */
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
#define SPLIT_MEAN_MOST 0x1p5 /* for mean / sqrt(var) of statistics without a pivot */
#define SPLIT_QUOTIENT_MOST 0x1p-6
#define SPLIT_SQUARES_LEAST 0x1p-60 /* for sum((x - mean)^2) rstd^2 */

/* Returns the bits of an f32. */
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

/* Rounds to nearest even. Adding just under half a unit of the last kept bit, or half a unit if that bit is odd,
 * carries correctly, also into the exponent and to infinity. */
LN_INLINE element_bf16 bf16_of(float a)
{
    uint32_t bits = bits_of(a), kept = bits >> 16;
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return (element_bf16)(kept | 0x40u); /* a NaN, quiet */
    return (element_bf16)((bits + 0x7fffu + (kept & 1u)) >> 16);
}

/* Exponent and fraction at the positions of f32 are a number that is 2^112 too small, also for subnormals of f16, which
 * become subnormals of f32. The product is exact. */
LN_INLINE float item_of_f16(element_f16 a)
{
    uint32_t sign = (a & 0x8000u) << 16;
    float size = float_of((a & 0x7fffu) << 13) * 0x1p112f;
    uint32_t special = size >= 0x1p16f ? 0x7f800000u : 0u; /* infinity or NaN */
    return float_of(bits_of(size) | special | sign);
}

/* Rounds to nearest even. Normal numbers are rounded as in bf16_of(). A number below 2^-14 is added to 1/2, whose last
 * bit has the value of f16's smallest number: the sum is rounded there, and its last bits are the result. */
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

/* Functions for the operators that every type of vectors and numbers has. */
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

/* The same for a struct of two vectors. */
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

/* The operations that are one intrinsic each, for a vec that is one register of items of type T. */
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

/* PREFIX and SUFFIX are, for example, _mm256 and ps. Also defines the fence of stores around the caches. */
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

/* The operations of a 16-bit type T, made of functions of the lane file: `halves`, LANES elements of any
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

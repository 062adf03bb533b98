/* What every lane file offers: the vector operations of one (type, ISA), over which statistics,
 * apply and schedule are written. A kernel's translation unit includes exactly one lane file.
 *
 *     LANES                        elements of a vec
 *     lane_set(a)                  a in every lane
 *     lane_load(p)                 LANES elements
 *     lane_load_first(p, n)        the first n < LANES elements, zero in the lanes behind them;
 *                                  touches nothing but those n elements
 *     lane_store(p, a), lane_store_first(p, a, n)
 *     item_store(p, a)             LANES items, as they are computed with
 *     lane_first(a, n)             a with zero in the lanes from n on
 *     lane_add, lane_subtract, lane_multiply
 *     lane_multiply_add(a, b, c)   a * b + c: one rounding where the ISA's line says fma, else two
 *     lane_absolute, lane_maximum  of a NaN and a number: either
 *     lane_sum(a)                  the sum of the lanes: log2(LANES) levels, lane i with lane
 *                                  i + half at each, the same on every machine
 *     lane_sum_rows(a[4], sums), lane_sum_two(a, b, sums)
 *                                  the same for several vectors together, where LANE_SUM_ROWS is
 *                                  defined; sums of type item
 *
 * storage is the type in memory, item the one it is computed with, param that of gamma and beta.
 *
 * Statistics are written over acc_*, the same words of the accumulator's type, real: LANES of those
 * in an acc, and
 *     acc_of(vec)                  the same numbers, exactly
 * They are in accumulator_same.h where real is item, else in accumulator_<type>_<isa>.h. */
#ifndef LN_LANE_H
#define LN_LANE_H

#include <stddef.h>

#define LN_INLINE static inline __attribute__((always_inline, unused))

/* Before a loop with a constant trip count over an array of vectors: those must live in registers,
 * so the loop has to vanish. */
#if defined(__clang__)
#define LN_UNROLLED _Pragma("clang loop unroll(full)")
#else
#define LN_UNROLLED _Pragma("GCC unroll 64")
#endif

#endif

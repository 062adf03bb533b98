/* Functions that all parts of a kernel use: a row in memory, its sums, and the result of statistics. */
#ifndef LN_MOMENTS_H
#define LN_MOMENTS_H

#include "layernorm_plugin.h"
#include "lane/lane.h"
#include LN_LANE_FILE

/* ---- Memory ----
 *
 * The lane functions for types in memory: LN_STORAGE is the type of x, residual, y and sum, LN_PARAM that of gamma and
 * beta. */

typedef LN_PASTE(element_, LN_STORAGE) storage;
typedef LN_PASTE(element_, LN_PARAM) param;

#define STORED_AS_COMPUTED (LN_PASTE(UNIT_, LN_STORAGE) == ITEM_UNIT)

/* Accumulators are longer than items. */
#define WIDE (sizeof(real) > sizeof(item))

/* Sums are f64, and all elements are f32 numbers. */
#define SUMS_ARE_LONG (REAL_UNIT == UNIT_f64 && LN_PASTE(UNIT_, LN_STORAGE) >= UNIT_f32)

#define lane_load LN_PASTE(lane_load_, LN_STORAGE)
#define lane_load_first LN_PASTE(lane_load_first_, LN_STORAGE)
#define lane_store LN_PASTE(lane_store_, LN_STORAGE)
#define lane_store_first LN_PASTE(lane_store_first_, LN_STORAGE)
#define lane_stored LN_PASTE(lane_stored_, LN_STORAGE)
#define lane_dot LN_PASTE(lane_dot_, LN_STORAGE)

/* lane_store() and the store around the caches for vectors without subnormal numbers. */
#ifdef LANE_STORE_REGULAR
#define lane_store_regular LN_PASTE(lane_store_regular_, LN_STORAGE)
#define lane_stream_regular LN_PASTE(lane_stream_regular_, LN_STORAGE)
#else
#define lane_store_regular lane_store
#define lane_stream_regular LN_PASTE(lane_stream_, LN_STORAGE)
#endif

/* Loads the first n, at most LANES, parameters, followed by zeros. */
LN_INLINE vec param_load(const param *p, size_t n)
{
    return n >= LANES ? LN_PASTE(lane_load_, LN_PARAM)(p)
                      : LN_PASTE(lane_load_first_, LN_PARAM)(p, n);
}

/* Puts one parameter into every lane. */
LN_INLINE vec param_set(const param *p)
{
    return lane_set(LN_PASTE(item_of_, LN_PARAM)(*p));
}

/* ---- A row ----
 *
 * A row that an algorithm normalises: x, or x + residual rounded to the storage type. If items are longer than the
 * storage type, the sum is rounded to that type at once. Items have more than twice as many digits, so that the sum is
 * as if rounded once (Figueroa, "When is Double Rounding Innocuous?", SIGNUM Newsletter 30, 1995).
 *
 * The first access to an element writes the sum, into y if the caller wants no sum; later accesses read it. An element
 * of x and residual is loaded before the same element of sum or y is stored, and not loaded after, so that sum may be x
 * or residual, and y may be x. Kernels that store y around the caches add again instead of writing to y twice. */

/* A constant in always-inline bodies, so that no loop tests it. */
typedef enum residual_form {
    RESIDUAL_NONE,
    RESIDUAL_ADDED, /* the row knows whether the sum is written */
} residual_form;

typedef struct row {
    const storage *x;
    const storage *residual;
    storage *sum;
    storage *y;
    size_t hidden;
    residual_form form;
} row;

/* In all of these functions n is the number of elements left from i on: they use LANES elements, or n followed by zeros
 * if n is smaller. */
LN_INLINE vec row_load(const storage *p, size_t n)
{
    return n >= LANES ? lane_load(p) : lane_load_first(p, n);
}

LN_INLINE void row_store(storage *p, vec a, size_t n)
{
    if (n >= LANES)
        lane_store(p, a);
    else
        lane_store_first(p, a, n);
}

LN_INLINE vec row_add_up(const row *view, size_t i, size_t n)
{
    vec x = row_load(view->x + i, n);
    return view->form == RESIDUAL_NONE ? x
                                       : lane_stored(lane_add(x, row_load(view->residual + i, n)));
}

LN_INLINE int row_has_sum(const row *view)
{
    return view->form != RESIDUAL_NONE && (!LN_NONTEMPORAL || view->sum);
}

/* Loads elements for the first time and writes their sum. */
LN_INLINE vec row_first(const row *view, size_t i, size_t n)
{
    vec x = row_add_up(view, i, n);
    if (row_has_sum(view))
        row_store(view->sum + i, x, n);
    return x;
}

/* Loads elements again. */
LN_INLINE vec row_again(const row *view, size_t i, size_t n)
{
    return row_has_sum(view) ? row_load(view->sum + i, n) : row_add_up(view, i, n);
}

/* ---- Sums ---- */

/* Returns a * b + c, with one rounding if the kernel's line has LN_FMA, else with two. */
LN_INLINE vec multiply_add(vec a, vec b, vec c)
{
    return LN_FMA ? lane_multiply_add(a, b, c) : lane_add(lane_multiply(a, b), c);
}

#if !SUMS_ARE_LONGER
/* Accumulators have the type of items: the functions of statistics are those of the lanes. */
typedef vec acc;
#define acc_of(a) (a)
#define acc_items(a) (a)
#define acc_set lane_set
#define acc_store item_store
#define acc_first lane_first
#define acc_add lane_add
#define acc_subtract lane_subtract
#define acc_multiply lane_multiply
#define acc_multiply_add multiply_add
#define acc_sum lane_sum
#define acc_sum_rows lane_sum_rows
#define acc_sum_two lane_sum_two

/* The sums over the lanes of four vectors, and of two. Lanes without a faster method sum one vector after the other, by
 * the same tree and hence to the same bits. */
#ifndef LANE_SUM_ROWS
LN_INLINE void lane_sum_rows(const vec a[4], item sums[4])
{
    LN_UNROLLED
    for (int i = 0; i < 4; i++)
        sums[i] = lane_sum(a[i]);
}

LN_INLINE void lane_sum_two(vec a, vec b, item sums[2])
{
    sums[0] = lane_sum(a);
    sums[1] = lane_sum(b);
}
#endif

#ifdef LANE_SUM_SQUARE
#define ACC_SUM_SQUARE
typedef acc acc_fold;
#define acc_fold_one(a) (a)
#define acc_fold_four lane_fold_four
#define acc_sum_folds lane_sum_folds
#endif
#endif

#if SUMS_ARE_LONGER && !defined(ACC_SUM_ROWS)
LN_INLINE void acc_sum_rows(const acc a[4], real sums[4])
{
    LN_UNROLLED
    for (int i = 0; i < 4; i++)
        sums[i] = acc_sum(a[i]);
}
#endif

enum { UNROLL = LN_UNROLL, BLOCK = LN_LANES * LN_UNROLL };
_Static_assert((UNROLL & (UNROLL - 1)) == 0 && UNROLL > 0, "unroll must be a power of two");

/* The result of statistics: mean + rest is the row's mean (rest is 0 if one number is enough), and m2 = scale^2
 * sum (x - mean)^2, where scale is 1 or a power of two that keeps the squares from overflow and underflow. */
typedef struct moments {
    real mean;
    real rest;
    real m2;
    real scale;
} moments;

LN_INLINE void parts_clear(acc parts[UNROLL])
{
    LN_UNROLLED
    for (unsigned u = 0; u < UNROLL; u++)
        parts[u] = acc_set(0);
}

/* parts_sum() and items_sum() add UNROLL vectors of accumulators or of items by a fixed tree. */
#define TREE_SUM(name, vector, add)                                                                \
    LN_INLINE vector name(const vector parts[UNROLL])                                              \
    {                                                                                              \
        vector sums[UNROLL];                                                                       \
        LN_UNROLLED                                                                                \
        for (unsigned u = 0; u < UNROLL; u++)                                                      \
            sums[u] = parts[u];                                                                    \
        LN_UNROLLED                                                                                \
        for (unsigned half = UNROLL / 2; half > 0; half /= 2) {                                    \
            LN_UNROLLED                                                                            \
            for (unsigned u = 0; u < half; u++)                                                    \
                sums[u] = add(sums[u], sums[u + half]);                                            \
        }                                                                                          \
        return sums[0];                                                                            \
    }
TREE_SUM(parts_sum, acc, acc_add)
TREE_SUM(items_sum, vec, lane_add)

/* Computes the sums of x - pivot and of its squares, in accumulators, of a row that has been read before. */
LN_INLINE void row_sums_about(const row *view, real pivot, acc *sum, acc *square)
{
    *sum = *square = acc_set(0);
    for (size_t i = 0; i < view->hidden; i += LANES) {
        size_t n = view->hidden - i;
        acc t = acc_subtract(acc_of(row_again(view, i, n)), acc_set(pivot));
        if (n < LANES)
            t = acc_first(t, n);
        *sum = acc_add(*sum, t);
        *square = acc_multiply_add(t, t, *square);
    }
}

/* Adds the first `count` vectors by a tree. */
LN_INLINE acc parts_sum_first(acc parts[UNROLL], size_t count)
{
    LN_UNROLLED
    for (size_t half = UNROLL / 2; half > 0; half /= 2) {
        LN_UNROLLED
        for (size_t u = 0; u < half; u++)
            if (u + half < count)
                parts[u] = acc_add(parts[u], parts[u + half]);
        count = count < half ? count : half;
    }
    return parts[0];
}

/* Adds all lanes of UNROLL vectors by a tree of log2(BLOCK) levels. */
LN_INLINE real sum_of(const acc parts[UNROLL])
{
    return acc_sum(parts_sum(parts));
}

/* Returns about the smallest deviation that is not negligible compared with eps, for statistics that choose a scale.
 * (The rest of a convention is in convention.h.) */
LN_INLINE real convention_floor(const ln_convention *rules)
{
    return rules->eps_place == LN_EPS_VAR   ? (real)sqrt(rules->eps)
           : rules->eps_place == LN_EPS_STD ? (real)rules->eps
                                            : 0;
}

#endif

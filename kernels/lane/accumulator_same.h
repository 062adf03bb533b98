/* The accumulators have the type of the items: the words of statistics are those of the lanes. */
#ifndef LN_MOMENTS_H
#include "moments.h" /* which includes this */
#endif
#ifndef LN_LANE_ACCUMULATOR_H
#define LN_LANE_ACCUMULATOR_H

typedef item real;
typedef vec acc;

#define REAL_UNIT ITEM_UNIT
#define REAL_TINY ITEM_TINY
#define REAL_MAX ITEM_MAX
#define REAL_MIN ITEM_MIN
#define REAL_EXACT_INTEGERS ITEM_EXACT_INTEGERS

LN_INLINE real real_square_root(real a)
{
    return item_square_root(a);
}

LN_INLINE acc acc_of(vec a)
{
    return a;
}

LN_INLINE acc acc_set(real a)
{
    return lane_set(a);
}

LN_INLINE void acc_store(real *p, acc a)
{
    item_store(p, a);
}

LN_INLINE acc acc_first(acc a, size_t n)
{
    return lane_first(a, n);
}

LN_INLINE acc acc_add(acc a, acc b)
{
    return lane_add(a, b);
}

LN_INLINE acc acc_subtract(acc a, acc b)
{
    return lane_subtract(a, b);
}

LN_INLINE acc acc_multiply(acc a, acc b)
{
    return lane_multiply(a, b);
}

LN_INLINE acc acc_multiply_add(acc a, acc b, acc c)
{
    return multiply_add(a, b, c);
}

LN_INLINE real acc_sum(acc a)
{
    return lane_sum(a);
}

/* Lanes that have no better way sum one by one: the same tree, hence the same bits. */
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

/* The sums of the lanes of four vectors, and of two, each by the tree of acc_sum(). */
LN_INLINE void acc_sum_rows(const acc a[4], real sums[4])
{
    lane_sum_rows(a, sums);
}

LN_INLINE void acc_sum_two(acc a, acc b, real sums[2])
{
    lane_sum_two(a, b, sums);
}

#ifdef LANE_SUM_SQUARE
#define ACC_SUM_SQUARE
typedef acc acc_fold;

LN_INLINE acc_fold acc_fold_one(acc a)
{
    return a;
}

LN_INLINE acc_fold acc_fold_four(const acc_fold a[4])
{
    return lane_fold_four(a);
}

LN_INLINE acc acc_sum_folds(const acc_fold folds[LANES / 4])
{
    return lane_sum_folds(folds);
}
#endif

#endif

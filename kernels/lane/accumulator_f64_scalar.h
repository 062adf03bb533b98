/* f64 accumulators over f32 items, plain C. */
#ifndef LN_LANE_ACCUMULATOR_H
#define LN_LANE_ACCUMULATOR_H

#ifndef LN_ACCUMULATOR
#define LN_ACCUMULATOR f64
#endif
#include "lane/lane.h"
#include "lane/scalar.h"

typedef double acc;

LN_INLINE acc acc_of(vec a)
{
    return a;
}

LN_INLINE vec acc_items(acc a)
{
    return (vec)a;
}

LN_INLINE acc acc_set(real a)
{
    return a;
}

LN_INLINE void acc_store(real *p, acc a)
{
    *p = a;
}

LN_INLINE acc acc_first(acc a, size_t n)
{
    return n ? a : 0.0;
}

LN_INLINE acc acc_add(acc a, acc b)
{
    return a + b;
}

LN_INLINE acc acc_subtract(acc a, acc b)
{
    return a - b;
}

LN_INLINE acc acc_multiply(acc a, acc b)
{
    return a * b;
}

LN_INLINE acc acc_multiply_add(acc a, acc b, acc c)
{
    return a * b + c;
}

LN_INLINE real acc_sum(acc a)
{
    return a;
}

#endif

/* One sweep over x itself: one_sweep.h for statistics that take no pivot. All of a row is one
 * chunk, and the steps that find a pivot find 0. Included where one_sweep.h would be. */
#ifndef LN_UNSHIFTED_H
#define LN_UNSHIFTED_H

#define SWEEP_SHIFTED 0

enum { CHUNK_BLOCKS = 0 };

LN_INLINE acc statistics_pivot_sum(const row *row, int is_long)
{
    (void)row, (void)is_long;
    return acc_set(0);
}

LN_INLINE void statistics_pivot_fetch(const row *row, int is_long)
{
    (void)row, (void)is_long;
}

LN_INLINE real statistics_pivot_of(const statistics *statistics, real sum)
{
    (void)statistics, (void)sum;
    return 0;
}

#include "statistics/one_sweep.h"

#endif

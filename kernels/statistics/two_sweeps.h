/* The steps of the two sweeps, for all two-pass statistics.
 *
 * Bound: bounds/bounds.c. */
#ifndef LN_TWO_SWEEPS_H
#define LN_TWO_SWEEPS_H

#include "moments.h"

#define STATISTICS_UNPIVOTED

typedef struct statistics {
    real count;
} statistics;

LN_INLINE statistics statistics_prepare(const ln_problem *problem)
{
    return (statistics){(real)problem->hidden};
}

LN_INLINE void two_pass_add(acc sums[UNROLL], const row *view, size_t i, size_t left)
{
    LN_UNROLLED
    for (size_t u = 0; u < UNROLL; u++) {
        if (left <= u * LANES)
            continue;
        sums[u] = acc_add(sums[u], acc_of(row_first(view, i + u * LANES, left - u * LANES)));
    }
}

LN_INLINE void two_pass_add_squares(acc sums[UNROLL], const row *view, acc mean, size_t i,
                                    size_t left)
{
    LN_UNROLLED
    for (size_t u = 0; u < UNROLL; u++) {
        if (left <= u * LANES)
            continue;
        size_t n = left - u * LANES;
        acc deviation = acc_subtract(acc_of(row_again(view, i + u * LANES, n)), mean);
        if (n < LANES)
            deviation = acc_first(deviation, n);
        sums[u] = acc_multiply_add(deviation, deviation, sums[u]);
    }
}

#endif

/* Pairwise summation over a row of any length, in one sweep and a fixed order.
 *
 * A chunk of LN_CHUNK blocks is added to UNROLL accumulators, which are summed to one vector; vectors are added in
 * pairs, pairs of pairs and so on, like the carries of a binary counter (Higham, "Accuracy and Stability of Numerical
 * Algorithms", 4.2). At the end the remaining sums are added from the shortest to the longest.
 *
 * Bound: cascade_depth() of bounds/bounds.c. */
#ifndef LN_CASCADE_H
#define LN_CASCADE_H

#include "moments.h"

enum { CHUNK_ELEMENTS = LN_CHUNK * BLOCK, CASCADE_LEVELS = 8 * sizeof(size_t) };

/* level[l] is valid if bit l of chunks is set. */
typedef struct cascade {
    acc level[CASCADE_LEVELS];
    size_t chunks;
} cascade;

/* Adds the sums of the next chunk. */
LN_INLINE void cascade_add(cascade *levels, const acc parts[UNROLL])
{
    acc sum = parts_sum(parts);
    unsigned level = 0;
    for (size_t carry = levels->chunks++; carry & 1; carry >>= 1)
        sum = acc_add(levels->level[level++], sum);
    levels->level[level] = sum;
}

LN_INLINE real cascade_sum(const cascade *levels)
{
    acc sum = acc_set(0);
    unsigned level = 0;
    for (size_t left = levels->chunks; left; left >>= 1, level++)
        if (left & 1)
            sum = acc_add(levels->level[level], sum);
    return acc_sum(sum);
}

#endif

/* What statistics share that add up items in chunks of LN_CHUNK blocks, and the chunks in longer
 * accumulators or by themselves: lanewise and mixed. */
#ifndef LN_ITEM_CHUNKS_H
#define LN_ITEM_CHUNKS_H

#include "moments.h"

#define CHUNK_COLUMNS ((size_t)LN_CHUNK * BLOCK)

/* The sum of UNROLL vectors of items, by the tree of parts_sum(). */
LN_INLINE vec items_sum(const vec parts[UNROLL])
{
    vec sums[UNROLL];
    LN_UNROLLED
    for (unsigned u = 0; u < UNROLL; u++)
        sums[u] = parts[u];
    LN_UNROLLED
    for (unsigned half = UNROLL / 2; half > 0; half /= 2) {
        LN_UNROLLED
        for (unsigned u = 0; u < half; u++)
            sums[u] = lane_add(sums[u], sums[u + half]);
    }
    return sums[0];
}

/* Where the whole blocks of the chunk end that column i is of. */
LN_INLINE size_t sweep_chunk_end(size_t i, size_t hidden)
{
    size_t end = (i / CHUNK_COLUMNS + 1) * CHUNK_COLUMNS, whole = hidden / BLOCK * BLOCK;
    return end < whole ? end : whole;
}

#endif

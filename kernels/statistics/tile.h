/* LN_TILE parallel accumulators, the same number on every ISA, which are added by one tree: sums that have the same
 * bits on every ISA (reproducible.h, rms_tiled.h). */
#ifndef LN_TILE_H
#define LN_TILE_H

#ifndef LN_FMA
#define LN_FMA 0
#endif
#include "moments.h"

/* In plain C the 64 accumulators stay in memory, in loops that the compiler may vectorise. */
#if LN_LANES > 1
#define TILE_UNROLLED LN_UNROLLED
#else
#define TILE_UNROLLED
#endif

enum { TILE = LN_TILE, TILE_PARTS = TILE / LANES };
_Static_assert(LN_FMA == 0 && TILE % LANES == 0, "one rounding an operation, whole tiles");

LN_INLINE void tile_clear(acc parts[TILE_PARTS])
{
    TILE_UNROLLED
    for (size_t p = 0; p < TILE_PARTS; p++)
        parts[p] = acc_set(0);
}

/* Adds accumulators j and j + half until one is left. */
LN_INLINE real tile_sum(acc parts[TILE_PARTS])
{
    TILE_UNROLLED
    for (size_t half = TILE_PARTS / 2; half > 0; half /= 2) {
        TILE_UNROLLED
        for (size_t p = 0; p < half; p++)
            parts[p] = acc_add(parts[p], parts[p + half]);
    }
    return acc_sum(parts[0]);
}

#endif

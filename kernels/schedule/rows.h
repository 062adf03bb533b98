/* What schedules are made of: one row's way from x to y. A schedule that says LN_NONTEMPORAL stores
 * y around the caches (stream.h). */
#ifndef LN_SCHEDULE_ROWS_H
#define LN_SCHEDULE_ROWS_H

/* y of n elements (LANES of them if n is more) from column i on: the last touch of them. */
LN_INLINE vec apply_vector(const row *row, const convention *convention, centre centre, size_t i,
                           size_t n)
{
    return convention_finish(convention, centre_normalise(centre, row_last(row, i, n)), i, n);
}

#ifdef CENTRE_FOLDED
#include "schedule/folded.h"
#endif

/* y of the first min(left, BLOCK) elements from i on. Loads come before stores. */
LN_INLINE void apply_block(const row *row, const convention *convention, centre centre, size_t i,
                           size_t left)
{
    LN_UNROLLED
    for (size_t u = 0; u < UNROLL; u++) {
        if (left <= u * LANES)
            continue;
        size_t at = i + u * LANES, n = left - u * LANES;
        row_store(row->y + at, apply_vector(row, convention, centre, at, n), n);
    }
}

#ifdef LN_NONTEMPORAL
#include "schedule/stream.h"
#else
/* Nothing is fetched ahead from caches. */
LN_INLINE void row_fetch(const row *row)
{
    (void)row;
}

/* What is left behind whole blocks is a loop: unrolled, it would be most of a kernel's code. */
LN_INLINE void apply_row(const row *row, const convention *convention, centre centre)
{
    size_t i = 0;
    for (; row->hidden - i >= BLOCK; i += BLOCK)
        apply_block(row, convention, centre, i, BLOCK);
    for (; row->hidden > i; i += LANES) {
        size_t n = row->hidden - i < LANES ? row->hidden - i : LANES;
        row_store(row->y + i, apply_vector(row, convention, centre, i, n), n);
    }
}
#endif

#ifdef CENTRE_GUARDED
#include "schedule/apart.h"
#endif

#endif

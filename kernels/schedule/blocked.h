/* blocked: rows in groups of four: the statistics of each, then y of all of them side by side, from
 * the last column back to the first.
 *
 * For long rows that stay in a cache: from hidden 4096 on x, y, gamma and beta together overflow L1
 * and what counts is how many lines a vector brings into it. Measured on Zen 5 (48 KiB of L1, 12
 * ways, exact LRU): a line from L2 takes 1.0 cycle where streams are long, so a copy, with one of x
 * and one of y, takes 2.05 a vector. Arithmetic is hidden beneath that: statistics (shifted) are
 * one load, two additions and one fused operation, apply (split) two subtractions, two fused
 * operations and, side by side, 1 + 2 / 4 loads and a store: at two of each a cycle 2 cycles for
 * both.
 *
 *     rows side by side        1          2          4          8
 *     x, for the statistics    1          1          1          1
 *     x again                  0.25       0.5        0.85       0.95  (at hidden 4096)
 *     y                        1          1          1          1
 *     gamma and beta           2          1          0.5        0.25
 *     lines a vector           4.25       3.5        3.35       3.2
 *
 * Backwards, because the last columns are what L1 still holds when the statistics are done. Four,
 * because rows that lie a multiple of 4 KiB apart fall into the same sets of L1: four of x, four of
 * y, gamma and beta fill 10 of 12 ways, while eight rows throw each other out before use (4.8
 * cycles a vector instead of 3.0 for the second half). Of the remainder up to five go together.
 *
 * Blocks of columns instead (512 to 2048 of them, for 16 rows, so that gamma and beta stay in L1)
 * need fewer lines still, 3.1, but come out no better and vary by 20 %: where no stream is longer
 * than 8 KiB a line takes 1.7 to 2 cycles instead of one, whatever is prefetched. Tried at hidden
 * 4096 and 8192, as shares of the copy (this: 0.44 and 0.51; busy machine):
 *     0.45  0.44  blocks of 1024 columns, the next row's first 16 lines of x, of y fetched ahead
 *     0.43  0.43  of both
 *     0.47  0.46  blocks from the last column back, rows down and up in turn
 *     0.41  0.36  one row, backwards by blocks
 * Statistics alone take 0.48 of a copy's time, y alone in such blocks 1.43 (from the last back, in
 * turns): one after the other they cannot come above 0.52. */
#ifndef LN_SCHEDULE_H
#define LN_SCHEDULE_H

#include "schedule/rows.h"

enum { BESIDE = 4, BESIDE_MOST = BESIDE + 1 };

/* y of n elements (LANES of them if n is more) from column i on, of `count` rows. Gamma and beta
 * are loaded once: no store comes between. */
LN_INLINE void apply_beside(const row *rows, const convention *convention, const centre *centres,
                            size_t count, size_t i, size_t n)
{
    vec y[BESIDE_MOST];
    LN_UNROLLED
    for (size_t g = 0; g < count; g++)
        y[g] = apply_vector(&rows[g], convention, centres[g], i, n);
    LN_UNROLLED
    for (size_t g = 0; g < count; g++)
        row_store(rows[g].y + i, y[g], n);
}

/* y of count rows from number `first` on; count, from 1 to BESIDE_MOST, is a constant. */
LN_INLINE void blocked_apply(const ln_problem *problem, const ln_tensors *tensors,
                             const convention *convention, const moments *found, size_t first,
                             size_t count, residual_form form)
{
    row rows[BESIDE_MOST];
    centre centres[BESIDE_MOST];
    LN_UNROLLED
    for (size_t g = 0; g < count; g++) {
        factor rstd = convention_rstd(convention, found[g]);
        keep_moments(tensors, first + g, found[g], rstd);
        centres[g] = centre_of(found[g], rstd, convention->quotient);
        rows[g] = row_at(problem, tensors, first + g, form, 0);
    }
    size_t i = problem->hidden / LANES * LANES;
    if (i < problem->hidden)
        apply_beside(rows, convention, centres, count, i, problem->hidden - i);
    while (i > 0) {
        i -= LANES;
        apply_beside(rows, convention, centres, count, i, LANES);
    }
}

/* How many of the rows that are left go together. */
LN_INLINE size_t blocked_count(size_t left)
{
    if (left <= BESIDE_MOST)
        return left;
    return left == BESIDE + 2 ? BESIDE - 1 : BESIDE;
}

LN_INLINE void schedule_run(const ln_problem *problem, const ln_tensors *tensors, ln_affine affine,
                            residual_form form)
{
    const convention convention = convention_prepare(problem, tensors, affine);
    const statistics statistics = statistics_prepare(problem);
    moments found[BESIDE_MOST];
    for (size_t r = 0, count; r < problem->rows; r += count) {
        count = blocked_count(problem->rows - r);
        for (size_t g = 0; g < count; g++) {
            const row row = row_at(problem, tensors, r + g, form, 0);
            found[g] = statistics_of(&statistics, &row, statistics_pivot(&statistics, &row));
        }
        switch (count) {
        case 1:
            blocked_apply(problem, tensors, &convention, found, r, 1, form);
            break;
        case 2:
            blocked_apply(problem, tensors, &convention, found, r, 2, form);
            break;
        case 3:
            blocked_apply(problem, tensors, &convention, found, r, 3, form);
            break;
        case 4:
            blocked_apply(problem, tensors, &convention, found, r, 4, form);
            break;
        default:
            blocked_apply(problem, tensors, &convention, found, r, 5, form);
            break;
        }
    }
}

#endif

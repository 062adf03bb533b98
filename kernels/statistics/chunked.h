/* chunked: welford on chunks of 32 blocks, whose moments are merged in pairs, pairs of pairs and so
 * on, like the carries of a binary counter.
 *
 * (Welford, 1962; Chan, Golub, LeVeque, "Updating Formulae and a Pairwise Algorithm for Computing
 * Sample Variances", COMPSTAT 1982.) Reads the row once for the statistics. A running mean loses
 * with the number of elements it runs over: here that has an end, and what grows is log N.
 *
 * Bound: welford_lanes.h, with n = min(32, ceil(N / BLOCK)) and, for C chunks, L = log2(BLOCK) + (C
 * > 1: floor(log2(C)) + 1): no element goes through more merges (see cascade.h). Step 4 needs what
 * is merged in to be no larger than what it is merged into: an accumulator, or a chunk that may be
 * the last and shorter, comes to an older sum of as many; the last, of at most one chunk, then
 * comes to ever longer sums, which are longer than all before them together. A group that sits out
 * a level keeps its error. */
#ifndef LN_STATISTICS_H
#define LN_STATISTICS_H

#include "statistics/welford_lanes.h"

enum { WELFORD_STEPS = 32, WELFORD_CHUNK = WELFORD_STEPS * BLOCK };

LN_INLINE moments statistics_of(const statistics *statistics, const row *row, real pivot)
{
    (void)pivot, (void)statistics;
    welford_moments level[CASCADE_LEVELS], found = {0, 0, 0};
    size_t chunks = 0, i = 0;
    for (; row->hidden - i > WELFORD_CHUNK; i += WELFORD_CHUNK) {
        found = welford_range(row, i, i + WELFORD_CHUNK);
        unsigned at = 0;
        for (size_t carry = chunks++; carry & 1; carry >>= 1)
            found = welford_merged(level[at++], found);
        level[at] = found;
    }
    found = welford_range(row, i, row->hidden);
    for (unsigned at = 0; chunks; chunks >>= 1, at++)
        if (chunks & 1)
            found = welford_merged(level[at], found);
    return (moments){found.mean, 0, found.m2, 1};
}

LN_INLINE moments_bound statistics_bound(const ln_problem *problem, const ln_row_facts *facts)
{
    double steps = ceil((double)problem->hidden / BLOCK), chunks = ceil(steps / WELFORD_STEPS);
    double cascade = chunks > 1 ? floor(log2(chunks)) + 1 : 0;
    return welford_bound(problem, facts, fmin(steps, WELFORD_STEPS), bound_levels() + cascade);
}

#endif

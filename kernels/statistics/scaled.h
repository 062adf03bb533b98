/* scaled: corrected two-pass on x * scale, a power of two, so that no square overflows or vanishes.
 *
 *     scale = 2^-e, max(max|x|, floor) in [2^(e-1), 2^e)       then as in residuals.h on x * scale
 *
 * (Blue, "A Portable Fortran Program to Find the Euclidean Norm of a Vector", ACM TOMS 4, 1978,
 * scales for the same reason.) Reads the row three times: for max|x|, and the two sweeps. Rows of
 * 1e30 and of 1e-30 are as accurate as rows of 1. The floor, sqrt(eps) or eps by its place, keeps
 * eps * scale^2 from overflowing: deviations far below it do not matter.
 *
 * Bound: residuals.h, at this scale. Nothing overflows: |x scale| <= 1 (4 at the end of the range),
 * squares of differences are at most 64, N < 2^60 of them. rstd is taken at the scale; convention.h
 * and apply see to it that it, and the differences, are in range. */
#ifndef LN_STATISTICS_H
#define LN_STATISTICS_H

#include "statistics/residuals.h"

typedef struct statistics {
    real count;
    real floor;
} statistics;

LN_INLINE statistics statistics_prepare(const ln_problem *problem)
{
    return (statistics){(real)problem->hidden, convention_floor(&problem->convention)};
}

/* Touches the row for the first time. */
LN_INLINE real statistics_pivot(const statistics *statistics, const row *row)
{
    (void)statistics;
    for (size_t i = 0; i < row->hidden; i += LANES)
        (void)row_first(row, i, row->hidden - i);
    return 0;
}

LN_INLINE moments statistics_of(const statistics *statistics, const row *row, real pivot)
{
    (void)pivot;
    return residual_scaled(*row, statistics->count, statistics->floor);
}

LN_INLINE moments_bound statistics_bound(const ln_problem *problem, const ln_row_facts *facts)
{
    return residual_bound(problem, facts,
                          residual_scale(facts->max_abs, convention_floor(&problem->convention)));
}

#endif

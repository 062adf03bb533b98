/* Statistics of measured times but intervals (bootstrap.h): whether two samples differ, and where a series changes. */
#ifndef LNBENCH_STATISTICS_H
#define LNBENCH_STATISTICS_H

#include "base/die.h"
#include <stddef.h>
#include <stdint.h>

/* Tests whether two samples of any distribution differ in location.
 *
 *     if (mann_whitney(base, 5, new, 5) < 0.01) ...
 *
 * Returns the two-sided p; NaN if a sample is empty. Mann and Whitney, "On a test of whether one of two random variables is stochastically larger than
 * the other", 1947. Exact without ties and up to 40 values in all (their recurrence); else the
 * normal approximation with the variance corrected for ties (Lehmann, "Nonparametrics", 1975,
 * sec. 1.4) and for continuity. The values must not be NaN. */
double mann_whitney(const double *a, size_t a_count, const double *b, size_t b_count);

/* Returns P(U <= u) if both samples have the same continuous distribution. a_count + b_count must be <= 40. */
double mann_whitney_tail(size_t a_count, size_t b_count, size_t u);

/* Finds the places at which a series changes its distribution.
 *
 *     size_t places[CHANGE_MOST_VALUES];
 *     change_settings settings = change_defaults();
 *     size_t found = change_points(values, count, &settings, places);
 *     // values[places[0]] is the first value after the first change
 *
 * E-divisive (Matteson and James, "A Nonparametric Approach for Multiple Change Point Analysis of
 * Multivariate Data", JASA 109, 2014), with the energy distance of exponent 1. It takes the point at
 * which the values before and the values after it, up to some later end, are furthest apart. The point is
 * a change if only a share below the significance of random orders, within the segments found so far, has
 * so large a distance. This is repeated in all segments until there is no further change. It assumes no
 * distribution. The random orders come from a seed, so that a series always gives the same answer.
 */
enum { CHANGE_MOST_VALUES = 1000 }; /* of a series: more would need too much time and memory */

typedef struct change_settings {
    double significance;
    size_t least_segment; /* minimum number of values in a segment, 2 or more */
    unsigned orders;      /* number of random orders in each test */
    uint64_t seed;
} change_settings;

/* Returns the defaults: 5 %, segments of at least 4, 199 orders, seed 1. */
change_settings change_defaults(void);

/* Writes the index of the first value of each segment except the first, in ascending order, to places, which has room
 * for `count`; returns their number. Values must be finite. */
size_t change_points(const double *values, size_t count, const change_settings *settings,
                     size_t *places);

#endif

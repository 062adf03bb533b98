/* Statistics of measured times beyond their intervals (bootstrap.h): whether two samples differ, and where a series
 * changes. */
#ifndef LNBENCH_STATISTICS_H
#define LNBENCH_STATISTICS_H

#include "base/die.h"
#include <stddef.h>
#include <stdint.h>

/* Whether two samples differ in location, whatever their distribution.
 *
 *     rank_test test = mann_whitney(base, 5, new, 5);
 *     if (test.p < 0.01) ...
 */
typedef struct rank_test {
    double u;   /* pairs in which the value of b is the larger one; ties count half */
    double p;   /* two-sided; NaN where a sample is empty */
    bool exact; /* from the distribution itself, not from the normal one */
} rank_test;

/* Mann and Whitney, "On a test of whether one of two random variables is stochastically larger than
 * the other", 1947. Exact without ties and up to 40 values in all (their recurrence); else the
 * normal approximation with the variance corrected for ties (Lehmann, "Nonparametrics", 1975,
 * sec. 1.4) and for continuity. The values must not be NaN. */
rank_test mann_whitney(const double *a, size_t a_count, const double *b, size_t b_count);

/* P(U <= u) where both samples are of one continuous distribution. a_count + b_count <= 40. */
double mann_whitney_tail(size_t a_count, size_t b_count, size_t u);

/* exp of the average of the logarithms; NaN for none, or where a value is not above 0. */
double geometric_mean(const double *values, size_t count);

/* Where a series changes its distribution.
 *
 *     size_t places[CHANGE_MOST_VALUES], found;
 *     change_settings settings = change_defaults();
 *     size_t found = change_points(values, count, &settings, places);
 *     // values[places[0]] is the first value after the first change
 *
 * E-divisive (Matteson and James, "A Nonparametric Approach for Multiple Change Point Analysis of
 * Multivariate Data", JASA 109, 2014), with the energy distance of exponent 1: the point is taken
 * at which what comes before and what comes after, up to some later end, lie furthest apart; it
 * stands if fewer than the significance of random orders of the values within the segments found
 * so far reach as far; then the same in all segments, until none stands. It asks for no
 * distribution, and its random orders come from a seed: the same series gives the same answer.
 */
enum { CHANGE_MOST_VALUES = 1000 };

typedef struct change_settings {
    double significance;
    size_t least_segment; /* values that a segment has at least, 2 or more */
    unsigned orders;      /* drawn for each test */
    uint64_t seed;
} change_settings;

/* 5 %, segments of at least 4, 199 orders, seed 1. */
change_settings change_defaults(void);

/* The first value of each segment but the first, ascending. Finite values; at most
 * CHANGE_MOST_VALUES of them. places has room for `count`; returns how many there are.
 * Too many values end the program (7). */
size_t change_points(const double *values, size_t count, const change_settings *settings,
                     size_t *places);

#endif

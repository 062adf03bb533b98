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
#ifndef LNBENCH_CHANGE_POINTS_H
#define LNBENCH_CHANGE_POINTS_H

#include "base/die.h"
#include <stddef.h>
#include <stdint.h>

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

/* Tests whether errors depend on the position of an element. A kernel with one lane of 16 that is less accurate than
 * the others is wrong in that lane, however small the error is.
 *
 *     position_errors errors = {0};
 *     position_add(&errors, &row, x, y);                    // many rows of random numbers
 *     position_finding found;
 *     if (position_differs(&errors, &found)) ...            // "lane 13 of 16", 3.0 row ULP
 *
 * The groups of positions are the lanes i mod 2, 4, ... 64, each of the last 32 elements, and the eighths of a row.
 * Each group is compared with the rest of its row. Only rows whose elements have the same distribution at every
 * position may be added. position.c explains the test, which gives less than one false alarm in a million. */
#ifndef LNBENCH_POSITION_H
#define LNBENCH_POSITION_H

#include "metrics/metrics.h"

enum {
    POSITION_LANES = 64,
    POSITION_LAST = 32,
    POSITION_EIGHTHS = 8,
    POSITION_LANE_GROUPS = 2 * POSITION_LANES - 2, /* 2 + 4 + ... + 64 */
    POSITION_GROUPS = POSITION_LANE_GROUPS + POSITION_LAST + POSITION_EIGHTHS,
};

/* Sums over rows for one group of positions. */
typedef struct place_sums {
    double rows, sum, squares;
} place_sums;

typedef struct position_errors {
    place_sums signed_sums[POSITION_GROUPS], absolute_sums[POSITION_GROUPS];
    place_sums outward; /* errors away from zero, of 16-bit rows, in ulps of the elements */
} position_errors;

typedef struct position_finding {
    char where[40];    /* "lane 13 of 16", "last element but 2", "eighth 8 of 8" */
    double difference; /* between the mean (signed or absolute) errors, in row ULP */
} position_finding;

/* Adds a row; x: with the residual, as doubles. Ignores rows with fewer than 32 elements or without a finite rstd. */
void position_add(position_errors *errors, const metrics_row *row, const double *x, const void *y);

/* Finds the largest significant difference above 1 row ULP. Returns false if there is none, or for too few rows. */
bool position_differs(const position_errors *errors, position_finding *found);

/* Returns whether 16-bit results are truncated instead of rounded, by the same test; false for other types. *outward:
 * their mean error away from zero, in ulp. */
bool position_truncates(const position_errors *errors, double *outward);

#endif

/* Do errors depend on where an element stands? A kernel whose 13th of 16 lanes is less accurate
 * than the others is wrong in that lane, however small the error.
 *
 *     position_errors errors = {0};
 *     position_add(&errors, &row, x, y);                    // many rows of random numbers
 *     position_finding found;
 *     if (position_differs(&errors, &found)) ...            // "lane 13 of 16", 3.0 row ULP
 *     position_free(&errors);
 *
 * Compared are the lanes i mod 2, 4, ... 64, each of the last 32 elements, and the eighths of a
 * row, each with the rest of its row. Only rows whose elements are alike in distribution at every
 * place may be added. position.c tells how, and how often an honest kernel is alarmed: less than
 * once in a million. */
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

/* Sums over rows of what a place gives. */
typedef struct place_sums {
    double rows, sum, squares;
} place_sums;

typedef struct position_errors {
    place_sums signed_sums[POSITION_GROUPS], absolute_sums[POSITION_GROUPS];
    place_sums outward; /* errors away from zero, of 16-bit rows, in ulps of the elements */
    double *left;       /* of a row: errors without what all elements share */
    size_t room;
} position_errors;

typedef struct position_finding {
    char where[40];    /* "lane 13 of 16", "last element but 2", "eighth 8 of 8" */
    double difference; /* of the mean (signed or absolute) errors, in row ULP */
} position_finding;

void position_free(position_errors *errors);

/* x: the row as doubles, with the residual in it. Rows of fewer than 32 elements, and rows without
 * a finite answer, tell nothing and are left out. */
void position_add(position_errors *errors, const metrics_row *row, const double *x, const void *y);

/* The largest difference that is beyond chance and above 1 row ULP; false: there is none, or there
 * are too few rows to tell. */
bool position_differs(const position_errors *errors, position_finding *found);

/* Whether 16-bit results are cut off and not rounded; *outward: their mean error away from zero, in
 * ulp. By the same test; false for other types. */
bool position_truncates(const position_errors *errors, double *outward);

#endif

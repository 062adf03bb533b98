/* Whether two samples differ in location, whatever their distribution.
 *
 *     rank_test test = mann_whitney(base, 5, new, 5);
 *     if (test.p < 0.01) ...
 */
#ifndef LNBENCH_RANK_TEST_H
#define LNBENCH_RANK_TEST_H

#include <stdbool.h>
#include <stddef.h>

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

#endif

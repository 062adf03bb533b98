/* Facts of one row, from which bounds and condition numbers are computed. */
#ifndef LN_FACTS_H
#define LN_FACTS_H

#include "exact/exact_row.h"
#include "layernorm_plugin.h"
#include "certify/rounding.h"

/* The smallest and the largest element of the row. */
typedef struct row_extremes {
    double low, high;
} row_extremes;

row_extremes extremes_of(size_t hidden, const float *x);
row_extremes extremes_of_f64(size_t hidden, const double *x);

/* Returns the mean, correctly rounded. */
rounded_pair mean_of(const exact_row *row);

/* Returns the mean minus `rounded`, the mean rounded to double, in ulp of that, with an error of 2^-190 of the mean. */
double rest_of_mean(const exact_row *row, double rounded);

/* Computes every fact but rstd, each correctly rounded to double, except that var, max_dev and mean_abs are 0 only
 * if they are exactly 0. */
void facts_take(ln_row_facts *facts, const exact_row *row, row_extremes extremes);

/* Returns sqrt(sum x^2 / (N var)), var biased, within one ulp of double; infinite for var 0. */
double kappa_of(const exact_row *row);

#endif

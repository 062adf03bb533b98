/* Facts of one row: what bounds and condition numbers are made from. */
#ifndef LN_FACTS_H
#define LN_FACTS_H

#include "exact/exact_row.h"
#include "layernorm_plugin.h"
#include "certify/rounding.h"

/* Where the row's extremes stand. */
typedef struct row_extremes {
    double low, high;
} row_extremes;

row_extremes extremes_of(size_t hidden, const float *x);
row_extremes extremes_of_f64(size_t hidden, const double *x);

/* The mean, correctly rounded. */
rounded_pair mean_of(const exact_row *row);

/* The mean less `rounded`, which is the mean rounded to double, in ulp of that: to 2^-190 of the
 * mean. */
double rest_of_mean(const exact_row *row, double rounded);

/* Every fact but rstd, each correctly rounded to double; but var, max_dev and mean_abs are 0 only
 * where they are exactly that. */
void facts_take(ln_row_facts *facts, const exact_row *row, row_extremes extremes);

/* sqrt(sum x^2 / (N var)), var biased, within one ulp of double; infinite for var 0. */
double kappa_of(const exact_row *row);

#endif

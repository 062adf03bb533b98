/* What the judge knows of RMSNorm, between the files of this folder. */
#ifndef LNBENCH_JUDGE_RMSNORM_H
#define LNBENCH_JUDGE_RMSNORM_H

#include "judge/judging.h"
#include "judge/sums.h"

extern const operation_judging rmsnorm_judging;

/* The root of a mean square, before it is rounded; and with what the convention rounds. */
double rmsnorm_root(const ln_convention *convention, double square);
double rmsnorm_rounded_root(const ln_convention *convention, ln_type storage, double square);
/* weight * xhat of an element before its last rounding, given the weight as it is stored. */
double rmsnorm_value(const ln_convention *convention, const metrics_row *row, double xhat,
                     size_t i);
/* Element i of what is normalised: x, or its sum with the residual. */
double rmsnorm_added(const ln_convention *convention, const judge_block *block, size_t i);

/* The largest number that an element's way may come by. */
double rmsnorm_reach(const metrics_row *row, const double *x, size_t column);

/* limits.c: one sum of squares, in any order; and as people write it. */
order_answer rmsnorm_any_order(const order_question *asked, const ln_row_facts *facts);
bool rmsnorm_textbook(textbook *book, const metrics_row *row, const double *x, ln_type accumulator,
                      textbook_errors *worst);

#endif

/* What the judge knows of LayerNorm, between the files of this folder. */
#ifndef LNBENCH_JUDGE_LAYERNORM_H
#define LNBENCH_JUDGE_LAYERNORM_H

#include "judge/judging.h"
#include "judge/sums.h"

extern const operation_judging layernorm_judging;

/* any_order.c. Formulas that are covered: sums of x and x^2, two passes, and running means with merges
 * (Welford; Chan, Golub, LeVeque), in any order and any number of lanes; (x - mean) rstd, x rstd - mean
 * rstd, and both with gamma folded in. */
order_answer layernorm_any_order(const order_question *asked, const ln_row_facts *facts);
/* textbook.c. The sum of squares less the square of the mean, two passes, running means, and one pass
 * about the first element. A statistic counts as 2 ULP of the accumulator off. */
bool layernorm_textbook(textbook *book, const metrics_row *row, const double *x,
                        ln_type accumulator, textbook_errors *worst);

/* Also those that lose more than the others on some rows: sums of sorted values, in one chain, and a pivot
 * far from the mean. */
bool layernorm_poorest(textbook *book, const metrics_row *row, const double *x, ln_type accumulator,
                       textbook_errors *worst);

#endif

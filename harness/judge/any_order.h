/* How far off any order of summation may be: what a kernel without a bound, or an output of which
 * nothing is known, is held to.
 *
 *     order_question asked = {LN_F32, LN_F32, 768, &convention, false, 0};
 *     order_answer most = any_order(&asked, &facts);
 *     if (!ln_bound_holds(&most.bound, &row, y, &worst)) ...   // no order explains it
 *
 * Formulas that are covered: sums of x and x^2, two passes, and running means with merges (Welford;
 * Chan, Golub, LeVeque), in any order and any number of lanes; (x - mean) rstd, x rstd - mean rstd,
 * and both with gamma folded in. The proof stands in any_order.c. */
#ifndef LNBENCH_ANY_ORDER_H
#define LNBENCH_ANY_ORDER_H

#include "layernorm_plugin.h"
#include <stdbool.h>

typedef struct order_question {
    ln_type storage, accumulator;
    size_t hidden;
    const ln_convention *convention;
    bool flushes;  /* subnormals may be taken as zero */
    double chance; /* 0: the bound holds always; else it fails at most so often, where roundings are
                      independent and zero on average (Higham and Mary 2019) */
} order_question;

/* Infinite members: no claim. */
typedef struct order_answer {
    ln_bound bound;
    double mean; /* |mean' - mean| */
    double rstd; /* |rstd' / rstd - 1| */
} order_answer;

order_answer any_order(const order_question *asked, const ln_row_facts *facts);

/* Whether rstd, and the variance that it is the root of, are ordinary numbers where a kernel keeps
 * them: estimates of a root take a subnormal variance for 0, and a kernel with sums in f64 may keep
 * rstd as the rows' f32. */
bool rstd_is_ordinary(ln_type accumulator, ln_type storage, double rstd);

/* The unit roundoff 2^-p of a type. */
double unit_roundoff(ln_type type);

#endif

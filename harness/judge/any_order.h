/* How far off any order of summation may be: what a kernel without a bound, or an output of which
 * nothing is known, is held to. The proof stands beside the formulas that are covered
 * (layernorm/any_order.c). */
#ifndef LNBENCH_ANY_ORDER_H
#define LNBENCH_ANY_ORDER_H

#include "domain/operation.h"
#include "layernorm_plugin.h"

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
    double statistics[ROLES_MOST]; /* by role, in the units of the operation (judging.h) */
} order_answer;

/* The unit roundoff 2^-p of a type. */
double unit_roundoff(ln_type type);

#endif

/* Sums p + q_1 sqrt(r_1) + ... + q_n sqrt(r_n) of rational numbers and roots, rounded once.
 *
 *     root_sum sum;
 *     root_sum_init(&sum, 2)  ...  root_sum_reset(&sum);
 *     root_sum_add(&sum, p, q, r);
 *     rounded_pair rounded = root_sum_round(&sum);
 *     root_sum_clear(&sum);
 */
#ifndef LN_ROOT_SUM_H
#define LN_ROOT_SUM_H

#include "certify/rounding.h"

typedef struct root_sum {
    mpq_t p;
    mpq_t *q, *r;
    bool *done; /* scratch */
    size_t count, capacity;
} root_sum;

/* Makes room for so many roots. Returns false, with nothing to clear, if memory runs out. */
bool root_sum_init(root_sum *sum, size_t capacity);
void root_sum_clear(root_sum *sum);

void root_sum_reset(root_sum *sum); /* 0 */

/* Adds p + q sqrt(r), r >= 0, to the sum, at most `capacity` times. */
void root_sum_add(root_sum *sum, mpq_srcptr p, mpq_srcptr q, mpq_srcptr r);

/* Returns the correctly rounded sum; an exact zero is +0. */
rounded_pair root_sum_round(const root_sum *sum);

/* Returns the exact sign of sum - t; t is finite. */
int root_sum_side(const root_sum *sum, double t);

#endif

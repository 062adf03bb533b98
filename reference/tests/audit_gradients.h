/* The audit of the gradients: every dx, dgamma and dbeta of reference/certify/backward.h on random rows.
 *
 *     gradient_counts counts;
 *     if (!audit_gradients(100000, 1, &counts)) ...   // memory ran out
 *     // counts.wrong is 0
 *
 * It shares nothing with backward.c but the formula of the derivative. For a claimed result m it
 * decides on which side of m, or of the midpoints beside it, the exact value lies: multiplied by
 * the denominator, value - m is P + Q sqrt(v) with rationals, whose sign is that of integers'
 * squares. No root is taken, and no precision chosen, but where dgamma adds the roots of several
 * rows: there integer roots of rising length enclose the sum. */
#ifndef AUDIT_GRADIENTS_H
#define AUDIT_GRADIENTS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct gradient_counts {
    uint64_t dx, dgamma, dbeta; /* claims checked, each as rounded to its type and to double */
    uint64_t undefined;         /* of these: NaN */
    uint64_t untold; /* sums of several roots that lie on a midpoint or nearer than 2^-4096 */
    uint64_t wrong;  /* each is told on standard error */
} gradient_counts;

/* At least this many claims. False where memory runs out. */
bool audit_gradients(uint64_t claims, uint64_t seed, gradient_counts *counts);

#endif

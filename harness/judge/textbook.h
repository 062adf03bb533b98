/* How far off a row comes out in the ways of the textbook: what a kernel without a bound may exceed
 * by a stated factor only.
 *
 * A bound that holds for any order grows with N; what happens grows with its root, if at all. So
 * the row is also computed as people write it (layernorm/textbook.c), with sums in one chain,
 * backwards, in 4, 16 and 64 lanes and pairwise; each in the accumulator's arithmetic. The worst of
 * them is the measure. */
#ifndef LNBENCH_TEXTBOOK_H
#define LNBENCH_TEXTBOOK_H

#include "domain/operation.h"
#include "metrics/metrics.h"

/* Room for a row, kept from one to the next; free() `terms`. */
typedef struct textbook {
    double *terms; /* of a sum */
    size_t room;
} textbook;

/* Infinite where one of the ways overflows or loses a class. */
typedef struct textbook_errors {
    double row_ulp;
    double statistics[ROLES_MOST]; /* as an order_answer's */
    bool undefined;                /* the exact row is 0 / 0, and each way says so */
} textbook_errors;

#endif

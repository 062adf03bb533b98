/* How far off a row comes out in the ways of the textbook: what a kernel without a bound may exceed
 * by a stated factor only.
 *
 *     textbook *book = textbook_create();
 *     textbook_errors worst;
 *     textbook_row(book, &row, x, LN_F32, &worst);       // x: the row as doubles
 *     if (row_ulp > textbook_limits(&worst).row_ulp) ...
 *     textbook_destroy(book);
 *
 * A bound that holds for any order grows with N; what happens grows with its root, if at all. So
 * the row is also computed as people write it: the sum of squares less the square of the mean, two
 * passes, running means, and one pass about the first element; sums in one chain, backwards, in 4, 16 and 64 lanes and pairwise; each
 * in the accumulator's arithmetic. The worst of them is the measure. */
#ifndef LNBENCH_TEXTBOOK_H
#define LNBENCH_TEXTBOOK_H

#include "metrics/metrics.h"

typedef struct textbook textbook;

textbook *textbook_create(void); /* NULL when memory runs out */
void textbook_destroy(textbook *book);

/* Infinite where one of the ways overflows or loses a class. */
typedef struct textbook_errors {
    double row_ulp;
    double mean;    /* |mean' - mean| */
    double rstd;    /* |rstd' / rstd - 1| */
    bool undefined; /* the exact row is 0 / 0, and each way says so */
} textbook_errors;

/* x: hidden elements, with the residual in it. False when memory runs out. */
bool textbook_row(textbook *book, const metrics_row *row, const double *x, ln_type accumulator,
                  textbook_errors *worst);

/* What a kernel of the same types may have: four times the worst way. Four, since the ways are a
 * sample of the orders there are, and a kernel may round xhat, the product and the sum each to the
 * storage type. A way counts as 1 row ULP at least, and as 2 ULP of the accumulator. */
textbook_errors textbook_limits(const textbook_errors *worst);

#endif

/* What people judge LayerNorm by: double precision with var = sum(x^2) / n - mean^2. How wrong that
 * is, against certified answers. */
#ifndef NAIVE_ORACLE_H
#define NAIVE_ORACLE_H

#include "audit_rows.h"
#include "certify/reference.h"

typedef struct naive_errors {
    uint64_t elements;   /* whose right answer is finite */
    uint64_t misrounded; /* would be another number of the type */
    double norm_max; /* max |oracle - exact| / max |exact| of a row; infinite where the oracle is
                      * not finite and the right answer is */
} naive_errors;

/* Adds a row's errors. x is what was normalised; result is right. */
void naive_errors_add(naive_errors *errors, const audit_row *row, const audit_values *x,
                      const ln_reference_result *result);

#endif

/* Gradients that were made elsewhere, against the certified ones (certify/backward.h).
 *
 *     gradient_errors found[GRADIENTS];
 *     const void *given[GRADIENTS] = {dx, dgamma, dbeta};       // NULL: not judged
 *     judge_gradients(&problem, &tensors, dy, given, found);
 *
 * No bound of the sums is known here, so that nothing is called inaccurate: the caller may set a
 * limit. */
#ifndef LNBENCH_GRADIENTS_H
#define LNBENCH_GRADIENTS_H

#include "certify/backward.h"
#include "domain/case.h"

enum { GRADIENT_DX, GRADIENT_DGAMMA, GRADIENT_DBETA, GRADIENTS };

/* NaN where there is nothing to measure. */
typedef struct gradient_errors {
    double ulp_max;     /* |computed - exact| / ulp(exact), over exact values that are not 0 */
    double row_ulp_max; /* |computed - exact| / ulp(largest |exact| of the row) */
    double rel_l2, correctly_rounded;
    uint64_t elements, mismatches; /* mismatches: of another class (NaN, infinite, finite) */
    size_t worst_row, worst_column;
} gradient_errors;

const char *gradient_name(size_t which); /* "dx", "dgamma", "dbeta" */

/* x, dy and dx are dense, of the storage type; the others of the parameter type. */
void judge_gradients(const ln_problem *problem, const ln_tensors *tensors, const void *dy,
                     const void *const given[GRADIENTS], gradient_errors found[GRADIENTS]);

#endif

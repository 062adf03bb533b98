/* eval --dy: gradients that were made elsewhere, against the exact ones. */
#ifndef LNBENCH_EVAL_GRADIENTS_H
#define LNBENCH_EVAL_GRADIENTS_H

#include "base/output.h"
#include "judge/gradients.h"

/* Measures those given (the others are NULL) and prints a table, or JSON. accuracy: an element of
 * another class, or a row_ulp_max above the limit; inconclusive where the limit is infinite. */
exit_code eval_gradients(const ln_problem *problem, const ln_tensors *tensors, const void *dy,
                         const void *const given[GRADIENTS], double max_row_ulp,
                         const output_file *out, error *err);

#endif

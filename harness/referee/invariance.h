/* On what the bits of a row depend besides the row, the parameters and the convention: a kernel runs
 * the same 257 rows in every setting of a matrix, and the outputs' hashes are compared.
 *
 *     invariance_result *found = calloc(count, sizeof *found);
 *     invariance_request request = {.convention = convention, .input = "normal"};
 *     invariance_measure(judge, &request, kernels, found, count, &err);
 *     reproducibility class = reproducibility_of(&found[i]);
 */
#ifndef LNBENCH_INVARIANCE_H
#define LNBENCH_INVARIANCE_H

#include "domain/invariance.h"
#include "judge/judge.h"
#include "base/progress.h"

typedef struct invariance_request {
    ln_convention convention;
    const char *input;      /* a family, or a file; "normal" shows most orders of summation */
    size_t hidden;          /* of the file's rows; 0: those of invariance_hidden[] */
    bool residual;          /* each row with a residual: the family's next rows */
    progress_bar *progress; /* NULL: none is shown */
} invariance_request;

/* Roughly what one kernel takes. */
static const double invariance_seconds = 0.08;

/* Runs every kernel in every setting and compares, the ISAs too: of all kernels that are given
 * together. found[] is all zero before. What a kernel did wrong is in its `verdict`; false is only
 * for what is no kernel's fault. */
bool invariance_measure(row_judge *judge, const invariance_request *request,
                        const kernel_entry *const *kernels, invariance_result *found, size_t count,
                        error *err);
/* The same of own[0..count-1] on normal rows, with their families among all kernels beside them:
 * found[] has one for each of its own. progress: or NULL. */
bool invariance_measure_own(row_judge *judge, const ln_convention *convention,
                            progress_bar *progress, const kernel_list *all,
                            const kernel_entry *const *own, invariance_result *found, size_t count,
                            error *err);

#endif

/* On what the bits of a row depend besides the row, the parameters and the convention: a kernel runs
 * the same 257 rows in several settings (the same call again, other batches, numbers of threads and
 * alignments of the buffers), and the outputs are compared, also with those of the same kernel on
 * other ISAs.
 *
 *     invariance_result *found = calloc(count, sizeof *found);
 *     invariance_measure(judge, &convention, NULL, &all_kernels, kernels, found, count);
 *     reproducibility class = reproducibility_of(&found[i]);
 */
#ifndef LNBENCH_INVARIANCE_H
#define LNBENCH_INVARIANCE_H

#include "domain/reproducible.h"
#include "judge/judge.h"
#include "base/progress.h"

/* Roughly what one kernel takes. */
static const double invariance_seconds = 0.08;

/* Measures own[0..count-1] on normal rows, and beside them the kernels of `all` that are the same but
 * for the ISA. found[] has one for each of its own; that of a kernel that failed is empty. progress: or
 * NULL. False: what is no kernel's fault. */
bool invariance_measure(row_judge *judge, const ln_convention *convention, progress_bar *progress,
                        const kernel_list *all, const kernel_entry *const *own,
                        invariance_result *found, size_t count);

#endif

/* The conformance tests of a kernel: this folder has the judge's runner run the kernel and has the judge look at what
 * comes out.
 *
 *     case_judgement judgement;
 *     if (!judge_kernel(judge, &block, kernel, &judgement, &err)) ...
 */
#ifndef LNBENCH_CONFORMANCE_H
#define LNBENCH_CONFORMANCE_H

#include "judge/judge.h"
#include "worker/protocol.h"

/* Runs the kernel in every placement and judges what came back. What the kernel did wrong is in the
 * judgement; false is only for what is no fault of the kernel (memory, files, an interruption). */
bool judge_kernel(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                  case_judgement *judgement, error *err);

/* What a search asks of one row. */
typedef struct row_score {
    double row_ulp; /* infinite: a class is wrong */
    double bound_row_ulp, kappa;
} row_score;

/* One call as timed, and each row's score. `bounds`: the bound too, else NaN. The verdict is ok, or
 * why the kernel gave nothing. False as above. */
bool judge_score(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                 bool bounds, row_score *scores, case_verdict *verdict, error *err);

#endif

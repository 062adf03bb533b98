/* Judging a kernel on one block: this folder has the judge's runner run it, and has the judge look at what
 * comes out.
 *
 *     case_judgement judgement;
 *     judge_kernel(judge, &block, kernel, &judgement);
 *
 * Where the worker cannot be had at all the program ends. After an interruption (base/interrupt.h) what comes
 * back means nothing. */
#ifndef LNBENCH_CONFORMANCE_H
#define LNBENCH_CONFORMANCE_H

#include "judge/judge.h"
#include "worker/protocol.h"

/* Runs the kernel as it is timed, and once more with all numbers a row, and judges what came back. What the
 * kernel did wrong is in the judgement. */
void judge_kernel(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                  case_judgement *judgement);

/* Makes that of a call of the library inaccurate where it is worse than layernorm.h promises of the input. */
void judge_promise(const judge_block *block, const kernel_entry *call, const char *input,
                   case_judgement *judgement);

/* What a search asks of one row. */
typedef struct row_score {
    double row_ulp; /* infinite: a class is wrong */
    double bound_row_ulp, kappa;
} row_score;

/* One call as timed, and each row's score. `bounds`: the bound too, else NaN. The verdict is ok, or
 * why the kernel gave nothing. */
void judge_score(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                 bool bounds, row_score *scores, case_verdict *verdict);

#endif

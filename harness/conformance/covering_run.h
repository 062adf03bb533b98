/* A kernel on the problems of the covering array: each is one order, judged by the judge that there is.
 *
 *     covering_run covering;
 *     if (!covering_run_begin(&covering, judge, kernel, &convention)) ...      // memory ran out
 *     for (...)
 *         covering_run_ask(&covering, &asked, &block, &judgement, &err);
 *     covering_run_conclude(&covering, &verdict);
 *     covering_run_end(&covering);
 */
#ifndef LNBENCH_COVERING_RUN_H
#define LNBENCH_COVERING_RUN_H

#include "judge/position.h"
#include "conformance/checks.h"

typedef struct covering_run {
    row_judge *judge;
    const kernel_entry *kernel;
    const ln_convention *first; /* of the run */
    unsigned given, left_out;   /* numbers a row, by role: in a call that asked for them */
    position_errors *errors;    /* by position, of all problems */
    bool has_bound;
    size_t judged, declined;
    faults_seen limits; /* and the first of them */
    combination limit_of;
    case_verdict limit;
} covering_run;

/* False: memory. The convention is borrowed. */
bool covering_run_begin(covering_run *of, row_judge *judge, const kernel_entry *kernel,
                        const ln_convention *first);
void covering_run_end(covering_run *of);
/* One problem, or as much of it as the kernel takes: *asked becomes that. Block
 * NULL: on rows of its own. False as judge_kernel(). */
bool covering_run_ask(covering_run *of, combination *asked, const judge_block *block,
                      case_judgement *judgement, error *err);

/* narrow.c. Says in the verdict, which is wrong, what it takes. False: the run ends. */
bool minimize_fault(covering_run *of, const combination *asked, const faults_seen *seen,
                    case_verdict *verdict, error *err);

#endif

/* A kernel on the problems of the covering array: each is one order, and its output is judged.
 *
 *     covering_run run;
 *     covering_run_begin(&run, judge, kernel, &convention);
 *     for (...)
 *         covering_run_ask(&run, &asked, &block, &judgement);
 *     covering_run_conclude(&run, &verdict);
 *     covering_run_end(&run);
 */
#ifndef LNBENCH_COVERING_RUN_H
#define LNBENCH_COVERING_RUN_H

#include "conformance/checks.h"
#include "judge/position.h"

typedef struct covering_run {
    row_judge *judge;
    const kernel_entry *kernel;
    const ln_convention *first; /* of the run */
    unsigned given, left_out;   /* numbers a row, by role: in a call that asked for them */
    position_errors errors;     /* by position, of all problems */
    mistakes_seen mistakes;
    bool has_bound;
    size_t judged, declined;
    faults_seen limits; /* and the first of them */
    combination limit_of;
    case_verdict limit;
} covering_run;

/* The convention is borrowed. */
void covering_run_begin(covering_run *run, row_judge *judge, const kernel_entry *kernel,
                        const ln_convention *first);
void covering_run_end(covering_run *run);
/* One problem, or as much of it as the kernel takes: *asked becomes that. Block NULL: on rows of its own. */
void covering_run_ask(covering_run *run, combination *asked, const judge_block *block,
                      case_judgement *judgement);
/* Of one that is wrong: what explains it; covering_run_ask() does so. And the one mistake that explains all
 * of them, at two hidden sizes or more, in words that follow SAYS_MISTAKE; false: there is none. */
void covering_run_note(covering_run *run, size_t hidden, const case_judgement *judgement);
bool covering_run_mistake(const covering_run *run, const ln_convention *convention,
                          char why[ROW_FAULT_LENGTH]);
/* Into a verdict that is right: what all problems together show, and what else there is to say. */
void covering_run_conclude(const covering_run *run, case_verdict *verdict);

/* minimize.c. Says in the verdict, which is wrong, what it takes. */
void minimize_fault(covering_run *run, const combination *asked, const faults_seen *seen,
                    case_verdict *verdict);

#endif

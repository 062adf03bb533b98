/* A kernel on the problems of the covering array: each is one order, judged by the judge that there is.
 *
 *     hearing hearing;
 *     if (!hearing_begin(&hearing, judge, kernel, &convention)) ...      // memory ran out
 *     for (...)
 *         hearing_ask(&hearing, &asked, &block, &judgement, &err);
 *     hearing_conclude(&hearing, &verdict);
 *     hearing_end(&hearing);
 */
#ifndef LNBENCH_HEARING_H
#define LNBENCH_HEARING_H

#include "judge/position.h"
#include "referee/checks.h"

typedef struct hearing {
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
} hearing;

/* False: memory. The convention is borrowed. */
bool hearing_begin(hearing *of, row_judge *judge, const kernel_entry *kernel,
                   const ln_convention *first);
void hearing_end(hearing *of);
/* One problem, or as much of it as the kernel takes: *asked becomes that. Block
 * NULL: on rows of its own. False as judge_kernel(). */
bool hearing_ask(hearing *of, combination *asked, const judge_block *block,
                 case_judgement *judgement, error *err);

/* narrow.c. Says in the verdict, which is wrong, what it takes. False: the run ends. */
bool narrow_fault(hearing *of, const combination *asked, const faults_seen *seen,
                  case_verdict *verdict, error *err);

#endif

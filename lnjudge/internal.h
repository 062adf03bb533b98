/* What the files of liblnjudge share. */
#ifndef LNJUDGE_INTERNAL_H
#define LNJUDGE_INTERNAL_H

#include "base/die.h"
#include "judge/judge.h"
#include "lnjudge.h"
#include "worker/protocol.h"

/* The harness's errors as the library's; returns the status. */
lnjudge_status report_error(const error *err, lnjudge_error *given);

/* Where die() is called after it, also since memory ran out, the function that it stands in returns that error;
 * it ends with `return report_error(&caught.error, told)` in any case. */
#define CATCH(told)                                                                                \
    die_catcher caught = {0};                                                                      \
    die_caught_by = &caught;                                                                       \
    if (setjmp(caught.place) != 0)                                                                 \
    return report_error(&caught.error, told)

/* Die of arguments that are NULL, of what is no limit, and of a problem that cannot be. */
void check_place(const void *place, const char *what);
void check_limit(double max_row_ulp);
/* The problem that was given, with strides that are not 0. */
ln_problem check_problem(const ln_problem *given, const ln_tensors *tensors);

/* Fills a case but for check, input and worst. */
void fill_case(const judge_block *block, const case_verdict *verdict, const ln_metrics *metrics,
               lnjudge_case *made);
/* Row `row` of a block, and of `computed`, into a case that has none. */
void keep_row(const judge_block *block, size_t row, const void *computed, lnjudge_row *kept);
void free_row(lnjudge_row *row);
void choose_worst(lnjudge_report *report);

/* Calls a function of this process where lnbench has a worker (in_process.c). The question is
 * borrowed. */
typedef struct in_process in_process;
in_process *in_process_start(const lnjudge_question *question);
void in_process_stop(in_process *worker);
kernel_runner *in_process_runner(in_process *worker);
/* The function has asked to be called no more. */
bool in_process_stopped(const in_process *worker);

#endif

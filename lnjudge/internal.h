/* What the files of liblnjudge share. */
#ifndef LNJUDGE_INTERNAL_H
#define LNJUDGE_INTERNAL_H

#include "judge/judge.h"
#include "lnjudge.h"
#include "worker/protocol.h"
#include <setjmp.h>

/* The harness's errors as the library's; returns the status. */
lnjudge_status report_error(const error *err, lnjudge_error *given);

/* Arguments that were NULL, or no limit: false and an error. */
bool check_place(const void *place, const char *what, error *err);
bool check_limit(double max_row_ulp, error *err);
/* A problem whose strides are not 0; false and an error for one that cannot be. `wanted` tells
 * which tensors must be there. */
bool check_problem(const ln_problem *given, const ln_tensors *tensors, ln_problem *problem,
                   error *err);

/* Where memory runs out after it, the function that it stands in returns LNJUDGE_ERROR_MEMORY. What was
 * allocated until then may stay so. */
#define CATCH_MEMORY(told)                                                                         \
    do {                                                                                           \
        if (setjmp(memory_catcher) != 0)                                                           \
            return report_no_memory(told);                                                         \
    } while (0)
extern _Thread_local jmp_buf memory_catcher;
lnjudge_status report_no_memory(lnjudge_error *given);

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

/* What the files of liblnjudge share. */
#ifndef LNJUDGE_INTERNAL_H
#define LNJUDGE_INTERNAL_H

#include "base/die.h"
#include "judge/judge.h"
#include "lnjudge.h"
#include "worker/protocol.h"

/* Translates an error of the harness into one of the library; returns the status. */
lnjudge_status report_error(const error *err, lnjudge_error *given);

/* If die() is called after it, also because memory ran out, the function that it stands in returns that error.
 * The function ends with `return report_error(&caught.error, failure)` in any case. */
#define CATCH(failure)                                                                             \
    die_catcher caught = {0};                                                                      \
    die_caught_by = &caught;                                                                       \
    if (setjmp(caught.place) != 0)                                                                 \
    return report_error(&caught.error, failure)

/* They die of arguments that are NULL, of a number that is no limit, and of a problem that cannot be. */
void check_place(const void *place, const char *what);
void check_limit(double max_row_ulp);
/* The problem that was given, with strides that are not 0. */
ln_problem check_problem(const ln_problem *given);

/* Fills all members of a case except check, input and worst. */
void fill_case(const judge_block *block, const case_verdict *verdict, const ln_metrics *metrics,
               lnjudge_case *made);
/* Copies row `row` of a block and of `computed` into an empty *kept. */
void keep_row(const judge_block *block, size_t row, const void *computed, lnjudge_row *kept);
void free_row(lnjudge_row *row);
void choose_worst(lnjudge_report *report);

#endif

/* What the judge asks of an operation: a row of functions, from files of the operation's own.
 *
 *     const operation_judging *judging = judgings[block->operation];
 *     judging->any_order(&asked, &facts);
 *
 * A new operation is a file that defines NAME_judging, and its line in domain/operations.def. */
#ifndef LNBENCH_JUDGING_H
#define LNBENCH_JUDGING_H

#include "judge/rows.h"

/* An output of one number a row, as a kernel gave it. */
typedef struct judged_statistic {
    double exact;
    double off;    /* |given - exact|, or relative: |given / exact - 1| */
    double size;   /* of exact in the unit of `off`: |exact|, or 1 */
    double weight; /* the largest |xhat| changes by this for each unit of `off` */
    double error;  /* signed, as a judged_row has it */
    bool relative;
} judged_statistic;

/* A row whose y is wrong. */
typedef struct explained_row {
    const metrics_row *row;
    const double *x; /* with the residual in it */
    const void *y;
    double limit;             /* row ULP that rounding may take */
    const judge_block *block; /* NULL, or where the row is among others... */
    size_t number;            /* ...the so-manieth... */
    const void *rows;         /* ...of this output; NULL: not known */
} explained_row;

/* fingerprint/mistakes.c: mistakes of the operation, of divisor, eps, parameters, loop tails, the residual, and
 * rows; what .explain is of LayerNorm and of RMSNorm. */
bool norm_explain(const explained_row *asked, char why[ROW_FAULT_LENGTH], bool *sure);

struct operation_judging {
    /* The exact answer of a row, into block->results. False: memory. */
    bool (*answer)(ln_reference *reference, const judge_block *block, size_t row);
    /* How far off any order of summation may be, and the ways of the textbook are (x: hidden elements,
     * with the residual in it; false: memory). */
    order_answer (*any_order)(const order_question *asked, const ln_row_facts *facts);
    bool (*textbook)(textbook *book, const metrics_row *row, const double *x, ln_type accumulator,
                     textbook_errors *worst);
    /* Likewise with the ways that are correct and lose more on some rows, where a kernel is at a limit; NULL:
     * there are none. */
    bool (*poorest)(textbook *book, const metrics_row *row, const double *x, ln_type accumulator,
                    textbook_errors *worst);
    /* What a kernel does that gives this y: words that follow SAYS_MISTAKE. False: nothing known explains
     * it to within the limit, or two things do. *sure: nor does an error of another kind look so. */
    bool (*explain)(const explained_row *asked, char why[ROW_FAULT_LENGTH], bool *sure);
    /* The largest number that an element's way may come by. */
    double (*reach)(const metrics_row *row, const double *x, size_t column);
    judged_statistic (*statistic)(const ln_reference_result *answer, size_t role, double given);
    /* Of x + residual, element i: what is normalised, and what is written out; NULL: it adds none. */
    double (*added)(const judge_block *block, size_t i);
    double (*sum)(const judge_block *block, size_t i);
    /* What a kernel does that rounds elsewhere than it is asked to (tolerance.h), in words that follow
     * SAYS_MISTAKE; NULL: nothing tells. */
    const char *(*rounded_otherwise)(const judge_block *block, const void *y);
};

/* By ln_operation. */
extern const operation_judging *const judgings[];

#endif

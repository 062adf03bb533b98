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
    double limit; /* row ULP that rounding may take */
    const judge_block *block;
    size_t number; /* the row's, in the block */
} explained_row;

/* fingerprint/mistakes.c: what .mistakes and .say_mistake are of LayerNorm and of RMSNorm; of
 * divisor, eps, parameters, the residual, and rows. */
mistake_set norm_mistakes(const explained_row *asked);
bool norm_say_mistake(const ln_convention *own, uint64_t bits, char why[ROW_FAULT_LENGTH]);
/* Bits of what .rounded_otherwise finds. */
enum { MISTAKE_CAST = 32, MISTAKE_ROOT, MISTAKE_SUM, MISTAKE_OFFSET };

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
    /* What kernels do that gives this y, to within the limit; and one of them in words that follow
     * SAYS_MISTAKE. False: these are several. NULL: nothing is known. */
    mistake_set (*mistakes)(const explained_row *asked);
    bool (*say_mistake)(const ln_convention *own, uint64_t bits, char why[ROW_FAULT_LENGTH]);
    /* The largest number that an element's way may come by. */
    double (*reach)(const metrics_row *row, const double *x, size_t column);
    judged_statistic (*statistic)(const ln_reference_result *answer, size_t role, double given);
    /* Of x + residual, element i: what is normalised, and what is written out; NULL: it adds none. */
    double (*added)(const judge_block *block, size_t i);
    double (*sum)(const judge_block *block, size_t i);
    /* The bit of what a kernel does that rounds elsewhere than it is asked to (tolerance.h); 0: nothing tells. */
    uint64_t (*rounded_otherwise)(const judge_block *block, const void *y);
};

/* By ln_operation. */
extern const operation_judging *const judgings[];

#endif

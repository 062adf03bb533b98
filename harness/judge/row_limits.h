/* What a row may be off where no bound is claimed.
 *
 *     textbook book = {0};
 *     row_limits limits;
 *     limits_of_row(judging, &book, &asked, &row, x, &limits);   // x: the row as doubles
 *     if (!limits_hold(&limits, &row, y)) ...
 *     free(book.terms);
 *
 * A row must stay within what any order of summation can give, a bound that grows with N; and since what
 * happens grows with its root, if at all, within four times the worst of the ways that people write, each
 * in the accumulator's arithmetic. `judging`: the operation's (judging.h). */
#ifndef LNBENCH_ROW_LIMITS_H
#define LNBENCH_ROW_LIMITS_H

#include "domain/operation.h"
#include "layernorm_plugin.h"
#include "metrics/metrics.h"

enum { ROW_FAULT_LENGTH = 192 };

typedef struct order_question {
    ln_type storage, accumulator;
    size_t hidden;
    const ln_convention *convention;
    bool flushes;  /* subnormals may be taken as zero */
    double chance; /* 0: the bound holds always; else it fails at most so often, where roundings are
                      independent and zero on average (Higham and Mary 2019) */
} order_question;

/* Infinite members: no claim. */
typedef struct order_answer {
    ln_bound bound;
    double statistics[ROLES_MOST]; /* by role, in the units of the operation (judging.h) */
} order_answer;

/* Room for the terms of a sum, kept from row to row. */
typedef struct textbook {
    double *terms;
    size_t room;
} textbook;

/* Infinite where one of the ways overflows or loses a class. */
typedef struct textbook_errors {
    double row_ulp;
    double statistics[ROLES_MOST]; /* as an order_answer's */
    bool undefined;                /* the exact row is 0 / 0, and each way says so */
} textbook_errors;

typedef struct row_limits {
    order_answer order;            /* of any order of summation */
    double order_ulp;              /* the same in row ULP; infinite: no claim */
    double likely_ulp;             /* likewise, with a chance of 1e-9 to be exceeded */
    textbook_errors textbook;      /* the worst textbook way */
    double row_ulp;                /* what the row may be off; infinite: nothing is known */
    double statistics[ROLES_MOST]; /* likewise */
} row_limits;

typedef struct operation_judging operation_judging;

/* asked: of the kernel; its chance is not looked at. */
void limits_of_row(const operation_judging *judging, textbook *book, const order_question *asked,
                   const metrics_row *row, const double *x, row_limits *limits);

/* Whether anything is known of the row: else no error of it is a fault. */
bool limits_tell(const row_limits *limits);

/* The largest error, in row ULP, over elements that are finite and whose answer is. */
double limits_error(const metrics_row *row, const void *y);

/* What it may be off, as limits, where the poorest of the correct ways are the measure: errors above
 * `limits` and within these are a limit of the types. */
row_limits limits_poorest(const operation_judging *judging, textbook *book, ln_type accumulator,
                          const metrics_row *row, const double *x, const row_limits *limits);

/* Whether y stays within the limits. Classes are the caller's business: an element whose exact or
 * computed value is not finite is left out. */
bool limits_hold(const row_limits *limits, const metrics_row *row, const void *y);

#endif

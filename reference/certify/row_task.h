/* A row on its way through the reference: what its operations share. */
#ifndef LN_ROW_TASK_H
#define LN_ROW_TASK_H

#include "certify/certify.h"

/* Memory that grows as it is needed. */
typedef struct row_room {
    void *data;
    size_t capacity; /* bytes */
} row_room;

struct ln_reference {
    row_certifier certifier;
    row_room row; /* what is normalised, where that is not x itself: floats, or doubles for f64 */
    row_room second; /* RMSNorm: what its root is of, or 1 + weight rounded */
};

/* x is what is normalised, double for f64 and float for every other type; beta is NULL where there is
 * none. */
typedef struct row_task {
    ln_affine affine;
    ln_type storage, param;
    size_t hidden;
    const void *x, *gamma, *beta;
} row_task;

/* False when memory runs out. */
bool row_reserve(row_room *room, size_t bytes);

/* Sets task->x: to x itself where nothing is to be done, else to a copy, x + residual rounded to the
 * storage type where there is a residual. False: memory. */
bool row_take_x(ln_reference *reference, row_task *task, const void *x, const void *residual);

/* What is stated of the row taken into certifier->row but what needs xhat; and the rest, NaN where
 * xhat is not defined. */
void row_fill_facts(row_certifier *certifier, const row_task *task, ln_reference_result *result);
void row_fill(row_certifier *certifier, const row_task *task, ln_reference_result *result);
/* Of a row with an element that is not finite. */
void row_fill_nan(row_certifier *certifier, const row_task *task, ln_reference_result *result);

#endif

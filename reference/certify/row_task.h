/* The functions for a row that both operations of the reference use. */
#ifndef LN_ROW_TASK_H
#define LN_ROW_TASK_H

#include "certify/certify.h"

/* Memory that grows as needed. */
typedef struct row_room {
    void *data;
    size_t capacity; /* bytes */
} row_room;

struct ln_reference {
    row_certifier certifier;
    row_room row; /* the normalised values if they are not x itself: floats, or doubles for f64 */
    row_room second; /* RMSNorm: the values of the root, or 1 + weight rounded */
};

/* x: the normalised values, double for f64 and float for every other type; beta: NULL if there is none. */
typedef struct row_task {
    ln_affine affine;
    ln_type storage, param;
    size_t hidden;
    const void *x, *gamma, *beta;
} row_task;

/* Makes room for so many bytes. Returns false if memory runs out. */
bool row_reserve(row_room *room, size_t bytes);

/* Sets task->x to x itself if it has the right type and there is no residual, else to a copy of x, or of x + residual
 * rounded to the storage type. Returns false if memory runs out. */
bool row_take_x(ln_reference *reference, row_task *task, const void *x, const void *residual);

/* Set the results of certifier->row that do not depend on xhat, and the others, which are NaN if
 * xhat is not defined. */
void row_fill_facts(row_certifier *certifier, const row_task *task, ln_reference_result *result);
void row_fill(row_certifier *certifier, const row_task *task, ln_reference_result *result);
/* Sets the results of a row with an element that is not finite. */
void row_fill_nan(row_certifier *certifier, const row_task *task, ln_reference_result *result);

#endif

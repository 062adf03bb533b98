/* y = x gamma: an operation of a test, whose row and functions are one file (toy_operation.c). */
#ifndef LNBENCH_TOY_OPERATION_H
#define LNBENCH_TOY_OPERATION_H

#include "domain/operation.h"

extern const operation toy_operation;

/* A kernel; `tensors` are the operation's own. */
void toy_run(const ln_problem *problem, const void *tensors);
/* The exact answer to a row, rounded once. */
void toy_answer(size_t hidden, const float *x, const float *gamma, float *y);

#endif

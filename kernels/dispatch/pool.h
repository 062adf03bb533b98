/* The library's own threads: a fork-join pool, created when it is first needed, and the parts that they get.
 *
 *     static void work(void *context, unsigned part) { ... }
 *     ln_pool_run(8, work, &context);   // work(&context, 0) ... work(&context, 7), each once
 *
 * The caller is one of the threads. Between jobs the others spin for some microseconds, then sleep.
 * lnbench's workers are built with this file too, so that kernels of plugins are timed over the
 * same pool.
 */
#ifndef LN_POOL_H
#define LN_POOL_H

#include "layernorm.h"

typedef void ln_pool_task(void *context, unsigned part);

/* How many threads a job gets, the caller's among them: what was set, else the CPUs that this
 * process may run on. */
unsigned ln_pool_threads(void);

/* 1 to LN_THREADS_MAX; 0: as many as the process has CPUs. Waits for the job that runs. Threads too
 * many end, those that lack are created: LN_ERROR_THREADS where the system refuses (the pool then
 * is as it was), LN_ERROR_ARGUMENT beyond LN_THREADS_MAX. Not to be called from within a task. */
ln_status ln_pool_resize(unsigned threads);

/* Runs every part once and returns when the last is done. With T threads part p runs on thread p
 * mod T, thread 0 being the caller, in the caller's floating-point environment. Where the pool is
 * at work for somebody else, or threads can't be had, the caller does more of it alone: it never
 * fails. */
void ln_pool_run(unsigned parts, ln_pool_task *task, void *context);

/* ---- A call cut into parts by rows ----
 *
 * Every kernel computes a row as if it were alone, so that cutting changes no bit. */

typedef struct ln_part {
    ln_problem problem;
    ln_tensors tensors;
} ln_part;

static inline size_t ln_type_size(ln_type type)
{
    return type == LN_F64 ? 8 : type == LN_F32 ? 4 : 2;
}

static inline void *ln_rows_from(const void *tensor, size_t elements, size_t size)
{
    return tensor ? (char *)(uintptr_t)tensor + elements * size : NULL;
}

/* The first row of a part; of the part behind the last: rows. */
static inline size_t ln_part_begin(size_t rows, unsigned parts, unsigned part)
{
    size_t longer = rows % parts;
    return rows / parts * part + (part < longer ? part : longer);
}

/* Part number `part` of `parts`, all of the same number of rows or of one more; mean and rstd are
 * of the accumulator's type. */
static inline ln_part ln_part_of(const ln_problem *problem, const ln_tensors *tensors,
                                 ln_type accumulator, unsigned parts, unsigned part)
{
    size_t first = ln_part_begin(problem->rows, parts, part), hidden = problem->hidden;
    size_t size = ln_type_size(problem->storage), kept = ln_type_size(accumulator);
    ln_part cut = {*problem, *tensors};
    cut.problem.rows = ln_part_begin(problem->rows, parts, part + 1) - first;
    size_t x_stride = problem->x_stride ? problem->x_stride : hidden;
    size_t y_stride = problem->y_stride ? problem->y_stride : hidden;
    size_t residual_stride = problem->residual_stride ? problem->residual_stride : hidden;
    size_t sum_stride = problem->sum_stride ? problem->sum_stride : hidden;
    cut.tensors.x = ln_rows_from(tensors->x, first * x_stride, size);
    cut.tensors.y = ln_rows_from(tensors->y, first * y_stride, size);
    cut.tensors.residual = ln_rows_from(tensors->residual, first * residual_stride, size);
    cut.tensors.sum = ln_rows_from(tensors->sum, first * sum_stride, size);
    cut.tensors.mean = ln_rows_from(tensors->mean, first, kept);
    cut.tensors.rstd = ln_rows_from(tensors->rstd, first, kept);
    return cut;
}

#endif

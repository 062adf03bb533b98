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

/* Returns how many threads a job uses, including the caller's: the number that was set, or else the number of CPUs on
 * which this process may run. */
unsigned ln_pool_threads(void);

/* Sets the number of threads: 1 to LN_THREADS_MAX; 0: the number of CPUs. Waits for a running job, then ends or creates
 * threads. Returns LN_ERROR_THREADS if the system refuses (the pool is then unchanged), or LN_ERROR_ARGUMENT above
 * LN_THREADS_MAX. Must not be called from a task. */
ln_status ln_pool_resize(unsigned threads);

/* Runs every part once and returns when the last is done. With T threads part p runs on thread p mod T, where thread 0
 * is the caller, in the caller's floating-point environment. If the pool is busy with another job, or the system
 * refuses threads, the caller runs the parts itself: it never fails. */
void ln_pool_run(unsigned parts, ln_pool_task *task, void *context);

/* ---- A call cut into parts by rows ----
 *
 * Every kernel computes each row independently of the others, so that the parts change no bit. */

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

/* Returns the first row of a part; `rows` for part == parts. */
static inline size_t ln_part_begin(size_t rows, unsigned parts, unsigned part)
{
    size_t longer = rows % parts;
    return rows / parts * part + (part < longer ? part : longer);
}

/* Returns part number `part` of `parts`, whose numbers of rows differ by at most one. accumulator: the type of mean and
 * rstd. */
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

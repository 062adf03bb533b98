/* The library's own threads: a fork-join pool, created when it is first needed.
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

#endif

/* A worker and a judge of its kernels, which all tests of a file share. */
#ifndef LNBENCH_TESTS_JUDGING_H
#define LNBENCH_TESTS_JUDGING_H

#include "conformance/conformance.h"
#include "test.h"
#include "worker/worker.h"
#include <math.h>
#include <stdlib.h>

static worker_process *the_worker;
static kernel_list kernels;
static row_judge *the_judge;

static inline int judging_start_with(const char *worker, const char *const *plugins, size_t count,
                                     double deadline_seconds)
{
    const judge_settings settings = {
        .seed = 1, .max_row_ulp = INFINITY, .deadline_seconds = deadline_seconds};
    setenv("LNBENCH_WORKER", worker, 1);
    setenv("LNBENCH_LIBRARY", LNBENCH_LIBRARY_PATH, 1);
    the_worker = worker_start(plugins, count, &kernels);
    the_judge = judge_create(worker_runner(the_worker), &settings);
    return the_judge ? 0 : -1;
}

/* plugin: NULL for none. */
static inline int judging_start(const char *worker, const char *plugin, double deadline_seconds)
{
    return judging_start_with(worker, &plugin, plugin != NULL, deadline_seconds);
}

static inline int judging_stop(void **state)
{
    (void)state;
    judge_destroy(the_judge);
    worker_stop(the_worker);
    kernel_list_free(&kernels);
    return 0;
}

static inline const kernel_entry *kernel_named(const char *name)
{
    const kernel_entry *kernel = kernel_find(&kernels, name);
    if (!kernel)
        fail_msg("no kernel %s", name);
    return kernel;
}

#endif

/* Shared by the tests of the store: opens a database, begins a run, and makes a case and its figures. */
#ifndef LNBENCH_STORE_SAMPLE_H
#define LNBENCH_STORE_SAMPLE_H

#include "store/internal.h"
#include "judged.h"
#include "scratch.h"
#include <math.h>

static inline case_key sample_key(void)
{
    return (case_key){.kernel = "two_pass_f32_avx2",
                      .convention = "torch",
                      .input = "normal",
                      .rows = 512,
                      .hidden = 768,
                      .dtype = LN_F32,
                      .cache = CACHE_COLD,
                      .threads = 1};
}

static inline int64_t begun(result_store *store)
{
    machine_fact facts[] = {{"l2_bytes", "1048576"}, {"cpu_model", "x"}, {"cores", "3"}};
    machine_facts machine = {.facts = facts, .count = 3};
    run_info info = {.command_line = "lnbench run",
                     .plan = "quick",
                     .plan_hash = "abc",
                     .seed = UINT64_MAX - 1,
                     .machine = &machine,
                     .command = "run",
                     .request_hash = "0123456789abcdef",
                     .triples = 1000,
                     .triples_covered = 972};
    int64_t run = store_begin_run(store, &info);
    return run;
}

/* Returns metrics whose fields all differ, so that mixed-up columns are detected. */
static inline ln_metrics distinct_metrics(void)
{
    ln_metrics metrics = numbered_metrics(0x1.921fb54442d18p1, 1000);
    for (size_t i = 0; i < ULP_BINS - 3; i++)
        metrics.ulp_histogram[i] = 7 * i * i;
    return metrics;
}

#endif

/* Judgements for tests of the store. */
#ifndef LNBENCH_JUDGED_H
#define LNBENCH_JUDGED_H

#include "domain/case.h"
#include "store/store.h"
#include <string.h>

/* Returns metrics whose reals and counts all differ, without a histogram. */
static inline ln_metrics numbered_metrics(double step, uint64_t first)
{
    ln_metrics metrics = {0};
    for (size_t i = 0; i < metric_count_all; i++) {
        const double real = step * (double)(i + 1);
        const uint64_t count = first + i;
        memcpy((char *)&metrics + metric_list[i].offset,
               metric_list[i].kind == METRIC_REAL ? (const void *)&real : &count, sizeof count);
    }
    return metrics;
}

/* Stores the judgement of a case. metrics: NULL if it has none. */
static inline void put_accuracy(result_store *store, int64_t run, const case_key *key,
                                const case_verdict *verdict, const ln_metrics *metrics,
                                double bound_row_ulp)
{
    stored_case stored = {.key = *key,
                          .judged = verdict->kind != VERDICT_PENDING,
                          .verdict = *verdict,
                          .bound_row_ulp = bound_row_ulp};
    if (metrics)
        stored.metrics = *metrics;
    store_put_judged(store, run, &stored);
}

#endif

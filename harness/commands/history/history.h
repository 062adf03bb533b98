/* A measure over the stored runs, by machine and case, with the points at which it changed. */
#ifndef LNBENCH_HISTORY_H
#define LNBENCH_HISTORY_H

#include "cli/options.h"
#include "base/output.h"
#include "store/store.h"
#include <stdio.h>

enum { HISTORY_LEAST_RUNS = 8 }; /* two segments of four */

typedef struct history_point {
    int64_t run;
    char started[32], commit[41];
    double value, lo, hi;     /* no interval: NaN */
    size_t segment;           /* counts the changes before it */
    const char *reproducible; /* the kernel's class in this run, as domain/reproducible.h has it */
} history_point;

typedef struct history_series {
    size_t machine; /* into history.machines: runs of different machines are never pooled */
    case_key key;
    char statistics[32], isa[16]; /* of the kernel, as its latest run tells; "": it does not */
    history_point *points;        /* by the time that their run began */
    size_t count;
    size_t *changes; /* the first point of each new segment */
    size_t change_count;
    double *medians; /* of the segments, change_count + 1 */
} history_series;

typedef struct measure_history {
    const char *measure;
    char (*machines)[512];
    size_t machine_count;
    history_series *series;
    size_t count;
} measure_history;

/* What is wanted; empty lists narrow nothing. */
typedef struct history_request {
    const char *measure; /* time_ns, gbps, copy_ratio, or a metric's name */
    word_list kernels, conventions, shapes, inputs, caches;
    uint64_t seed;
} history_request;

/* Errors: an unknown measure (2), no run (7), no case that has it (7). */
bool history_load(result_store *store, const history_request *request, measure_history *history,
                  error *err);
void history_free(measure_history *history);

#endif

/* What the files of the export share. */
#ifndef LNBENCH_EXPORT_INTERNAL_H
#define LNBENCH_EXPORT_INTERNAL_H

#include "export.h"
#include <math.h>

/* Sets a value, which is taken over whatever becomes of it; NULL is memory that ran out. */
static inline bool put(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) == 0;
}

/* The same for a figure, which is left out where it is undefined. */
static inline bool put_defined(json_t *object, const char *key, double value)
{
    return !isfinite(value) || put(object, key, json_real(value));
}

/* "kernel/convention/input/rowsxhidden/dtype/cache/threads:1" */
json_t *case_name_json(const case_key *key, const char *suffix);

/* The run in Google Benchmark's schema; NULL when memory runs out. */
json_t *benchmark_json(const view *view);

#endif

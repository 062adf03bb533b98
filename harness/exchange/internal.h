/* What the files of the export share. */
#ifndef LNBENCH_EXPORT_INTERNAL_H
#define LNBENCH_EXPORT_INTERNAL_H

#include "store/records.h"
#include "exchange/export.h"
#include "base/text.h"
#include <math.h>

/* Sets a figure, which is left out where it is undefined. */
static inline void put_defined(json_t *object, const char *key, double value)
{
    if (isfinite(value))
        json_object_set_new(object, key, json_real(value));
}

/* Of timed_repetition, in Google Benchmark's entries. */
enum { ENTRY_ITERATIONS = 3, ENTRY_FIELDS };
extern const record_field entry_fields[ENTRY_FIELDS];
/* "kernel/convention/input/rowsxhidden/dtype/cache/threads:1" */
json_t *case_name_json(const case_key *key, const char *suffix);

/* The run in Google Benchmark's schema. */
json_t *benchmark_json(const run_view *view);

#endif

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

/* The types of records behind the run's own, in its order of their numbers. */
typedef enum record_type {
    RECORD_KERNEL,
    RECORD_CASE,
    RECORD_ROW,
    RECORD_TENSOR,
    RECORD_WORST,
    RECORD_LOST,
    RECORD_TYPES
} record_type;
/* Of a uint64_t for each type: how many the file has. */
extern const record_field promised_fields[RECORD_TYPES];
/* Of run_view. */
extern const record_field unfinished_field;
/* Of stored_case. */
extern const record_field bound_field;
/* Of timed_repetition, in Google Benchmark's entries. */
enum { ENTRY_ITERATIONS = 3, ENTRY_FIELDS };
extern const record_field entry_fields[ENTRY_FIELDS];
/* Of stored_worst. */
extern const record_field hash_field;

/* The last record: a hash of all before it. */
void export_end(uint64_t hash, text_buffer *out);

/* The tensors of a view's worst rows, each once, numbered from 0. */
typedef struct tensor_set {
    const stored_tensor **tensors; /* the view's */
    size_t count;
    hash_index numbers; /* by what they are in the store */
} tensor_set;

/* "kernel/convention/input/rowsxhidden/dtype/cache/threads:1" */
json_t *case_name_json(const case_key *key, const char *suffix);

/* The run in Google Benchmark's schema. */
json_t *benchmark_json(const run_view *view);

#endif

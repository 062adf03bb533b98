/* What the files of the export share. */
#ifndef LNBENCH_EXPORT_INTERNAL_H
#define LNBENCH_EXPORT_INTERNAL_H

#include "exchange/export.h"
#include "base/text.h"
#include <math.h>

/* Sets a figure, which is left out where it is undefined. */
static inline void put_defined(json_t *object, const char *key, double value)
{
    if (isfinite(value))
        json_object_set_new(object, key, json_real(value));
}

/* A record of the JSON Lines form; takes `record` over. */
void export_record(text_buffer *out, const char *type, json_t *record);

/* The bits of a view's worst rows and their parameters, each once, numbered from 0. */
typedef struct tensor_set {
    const void **bits; /* the view's */
    size_t *bytes, count;
    uint64_t *hashes;
    size_t *slots, room; /* of a hash table: a number and 1, or 0 */
} tensor_set;

void tensor_set_fill(tensor_set *set, const run_view *view);
void tensor_set_free(tensor_set *set);
size_t export_worst_count(const run_view *view);
void export_tensors(const tensor_set *set, text_buffer *out);
void export_worst_rows(const tensor_set *set, const run_view *view, text_buffer *out);

/* "kernel/convention/input/rowsxhidden/dtype/cache/threads:1" */
json_t *case_name_json(const case_key *key, const char *suffix);

/* The run in Google Benchmark's schema. */
json_t *benchmark_json(const run_view *view);

#endif

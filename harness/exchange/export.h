/* A stored run in the formats that other programs read.
 *
 *     const export_format *format = export_format_named("json", &err);
 *     if (!format || !export_save(store, 3, format, "run.json", &err)) ...
 *
 * json     strict JSON in Google Benchmark's schema, with the run's cases besides
 * tsv      the tidy table of cases; csv: the same with commas
 * smaller  github-action-benchmark's customSmallerIsBetter: times and errors
 */
#ifndef LNBENCH_EXPORT_H
#define LNBENCH_EXPORT_H

#include "answer/run_view.h"
#include "base/text.h"
#include <stdio.h>

/* A format more is a name here, and its function in export.c. */
#define EXPORT_FORMATS(one)                                                                        \
    one(json, add_benchmark_json) one(tsv, add_tsv) one(csv, add_csv) one(smaller, add_smaller_json)

/* "|json|tsv": all of them, behind "db". */
#define EXPORT_NAME(name, ...) "|" #name
#define EXPORT_NAMES EXPORT_FORMATS(EXPORT_NAME)

typedef struct export_format {
    const char *name;
    bool (*add)(result_store *store, int64_t run, text_buffer *out, error *err);
} export_format;

/* The run in Google Benchmark's schema. */
json_t *benchmark_json(const run_view *view);

/* NULL: none has this name, which is a usage error that lists the formats. */
const export_format *export_format_named(const char *name, error *err);

/* Writes to an open file; `name` is what errors call it. */
bool export_write(result_store *store, int64_t run, const export_format *format, FILE *file,
                  const char *name, error *err);
/* Writes a file whole, or leaves what was there. */
bool export_save(result_store *store, int64_t run, const export_format *format, const char *path,
                 error *err);

#endif

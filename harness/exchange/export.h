/* A stored run in the formats that other programs read.
 *
 *     export_format format;
 *     if (!export_format_from_name("json", &format, &err) ||
 *         !export_save(&view, format, "run.json", &err)) ...
 *
 * json     strict JSON in Google Benchmark's schema, with the run's cases besides
 * jsonl    JSON Lines: the whole run, one record a line, so that nothing is lost
 * tsv      the tidy table of cases; csv: the same with commas
 * smaller  github-action-benchmark's customSmallerIsBetter: times and errors
 */
#ifndef LNBENCH_EXPORT_H
#define LNBENCH_EXPORT_H

#include "answer/run_view.h"
#include "base/text.h"
#include <stdio.h>

typedef enum export_format {
    EXPORT_JSON,
    EXPORT_JSONL,
    EXPORT_TSV,
    EXPORT_CSV,
    EXPORT_SMALLER,
    EXPORT_FORMAT_COUNT,
} export_format;

/* Errors are usage errors that list the formats. */
bool export_format_from_name(const char *name, export_format *format, error *err);

/* Writes to an open file; `name` is what errors call it. */
bool export_write(const run_view *view, export_format format, FILE *file, const char *name,
                  error *err);
/* The JSON Lines alone. */
void export_lines(const run_view *view, text_buffer *out);
/* Writes a file whole, or leaves what was there. */
bool export_save(const run_view *view, export_format format, const char *path, error *err);

#endif

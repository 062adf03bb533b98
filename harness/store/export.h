/* Exports a stored run in formats of other programs; each is a query.
 *
 *     const export_format *format = export_format_named("json");
 *     text_buffer out = {0};
 *     format->add(store, 3, &out);
 *
 * json     Google Benchmark's schema (benchmark.sql)
 * tsv      the table of cases (cases.sql); csv: the same with commas
 * smaller  github-action-benchmark's customSmallerIsBetter: times and errors
 *
 * If the store cannot be read, the program ends (base/die.h). */
#ifndef LNBENCH_EXPORT_H
#define LNBENCH_EXPORT_H

#include "base/output.h"
#include "base/text.h"
#include "store/store.h"

/* To add a format, add its name here and its function in export.c. */
#define EXPORT_FORMATS(one)                                                                        \
    one(json, add_benchmark) one(tsv, add_tsv) one(csv, add_csv) one(smaller, add_smaller)

/* "|json|tsv": all names, as text after "db". */
#define EXPORT_NAME(name, ...) "|" #name
#define EXPORT_NAMES EXPORT_FORMATS(EXPORT_NAME)

typedef struct export_format {
    const char *name;
    void (*add)(result_store *store, int64_t run, text_buffer *out);
} export_format;

/* Returns the format of this name. An unknown name ends the program with code 2 and a line that lists the formats. */
const export_format *export_format_named(const char *name);

/* Adds the table of cases as OUTPUT_TSV or OUTPUT_CSV: a row for each case with its key, figures and speed. */
void export_cases(result_store *store, int64_t run, output_format form, text_buffer *out);

#endif

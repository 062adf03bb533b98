/* --format text|markdown|tsv|csv|json, the same for every command that prints a table.
 *
 *     output_file out = {.file = stdout};            // as the option parser fills it in
 *     if (!output_choose(&out, "tsv", err)) ...
 *     output_heading(&out, "%zu x %zu", rows, hidden);
 *     fine = output_table(&out, table, err);
 */
#ifndef LNBENCH_OUTPUT_H
#define LNBENCH_OUTPUT_H

#include "base/error.h"
#include "base/table.h"
#include <jansson.h>

typedef enum output_format {
    OUTPUT_TEXT,
    OUTPUT_MARKDOWN,
    OUTPUT_TSV,
    OUTPUT_CSV,
    OUTPUT_JSON
} output_format;

typedef struct output_file {
    output_format format;
    FILE *file;  /* standard output */
    bool colour; /* text on a terminal that shows it */
    bool chosen; /* by an option */
} output_file;

/* What --format says; NULL: what --json says. Errors: a format that is none of the five, --json
 * together with another one. */
bool output_choose(output_file *output, const char *given, error *err);
/* TSV or CSV: a table for programs, and nothing besides. */
bool output_is_data(const output_file *output);

/* A heading and a line of prose: nothing in TSV, which is a table and no more. */
void output_heading(const output_file *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void output_line(const output_file *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The table as text, Markdown or TSV; then it is destroyed. False (7): the file has an error. Not
 * for JSON. */
bool output_table(const output_file *output, text_table *table, error *err);
/* Takes the JSON over. NULL: memory ran out. */
bool output_json(const output_file *output, json_t *json, error *err);

#endif

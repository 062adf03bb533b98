/* --format text|markdown|tsv|json, the same for every command that prints a table.
 *
 *     output_request request = {0};
 *     const option options[] = { ..., OUTPUT_OPTIONS(request) };
 *     output out;
 *     if (!output_choose(&request, &out, error)) ...
 *     output_heading(&out, "%zu x %zu", rows, hidden);
 *     fine = output_table(&out, table);
 */
#ifndef LNBENCH_OUTPUT_H
#define LNBENCH_OUTPUT_H

#include "options.h"
#include "table.h"
#include <jansson.h>

typedef enum output_format { OUTPUT_TEXT, OUTPUT_MARKDOWN, OUTPUT_TSV, OUTPUT_JSON } output_format;

typedef struct output_request {
    const char *format; /* as given; NULL: text */
    bool json;
} output_request;

#define OUTPUT_OPTIONS(request)                                                                    \
    {"format", "text|markdown|tsv|json", "how to print it (default: text)", OPTION_TEXT,           \
     &(request).format},                                                                           \
    {                                                                                              \
        "json", NULL, "the same as --format json", OPTION_FLAG, &(request).json                    \
    }

typedef struct output {
    output_format format;
    FILE *file;  /* standard output */
    bool colour; /* text on a terminal that shows it */
} output;

/* Errors: a format that is none of the four, --json together with another one. */
bool output_choose(const output_request *request, output *output, error *error);

/* A heading and a line of prose: nothing in TSV, which is a table and no more. */
void output_heading(const output *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void output_line(const output *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The table as text, Markdown or TSV; then it is destroyed. False (7): the file has an error or
 * memory ran out, which includes a table that is NULL. Not for JSON. */
bool output_table(const output *output, table *table, error *error);
/* Takes the JSON over. NULL: memory ran out. */
bool output_json(const output *output, json_t *json, error *error);

#endif

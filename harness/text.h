/* A growing string, the one number formatter and the one table printer.
 *
 *     text out = {0};
 *     text_format(&out, "%s\t", name);
 *     text_number(&out, 1.5);
 *     if (out.failed) ...               // memory ran out somewhere above
 *     text_free(&out);
 */
#ifndef LNBENCH_TEXT_H
#define LNBENCH_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct text {
    char *bytes; /* always terminated once anything was added; NULL before */
    size_t length, capacity;
    bool failed; /* memory ran out: contents are incomplete */
} text;

void text_add(text *out, const char *string);
void text_add_bytes(text *out, const char *bytes, size_t length);
void text_format(text *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Shortest decimal that reads back as the same double; "nan", "inf", "-inf" for what is not finite.
 */
void text_number(text *out, double value);
void text_free(text *out);

/* Three significant digits for people: "0.812", "12.3", "4.7e+04"; "-" for NaN. Writes at most 16
 * bytes. */
const char *number_short(double value, char buffer[16]);

/* The word nearest to `given` (Damerau-Levenshtein distance), for
 * "unknown kernel 'twopass': did you mean 'two_pass_f32'?". NULL when none is near. */
const char *nearest_word(const char *given, const char *const *words, size_t count);

/* A table for a terminal: cells are copied; columns whose cells are all numbers align right. */
typedef struct table table;
table *table_create(const char *const *headings, size_t columns); /* NULL: memory */
void table_cell(table *table, const char *value);                 /* fills rows left to right */
void table_format(table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool table_print(const table *table,
                 FILE *file); /* false: memory ran out, or the file has an error */
/* The same for other readers: a Markdown table, and tab-separated values with the headings first.
 * What would end a cell or mean something else there is escaped. */
bool table_print_markdown(const table *table, FILE *file);
bool table_print_tsv(const table *table, FILE *file);
size_t table_width(const table *table); /* columns that table_print takes on a terminal */
void table_destroy(table *table);

#endif

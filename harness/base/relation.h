/* The result of a command as a table: columns, declared once, and rows. One printer writes every format of it.
 *
 *     static const relation_column columns[] = {
 *         COLUMN("kernel", "kernel"),                      // heading, key in JSON
 *         FOR_PEOPLE("fastest"),                           // not in JSON
 *         FOR_PROGRAMS("seed"),                            // only in JSON
 *         {"GB/s", "gbps", .priority = 2},                 // left out on a narrow terminal
 *         {"noise", "floor", .format = "%.2g", .unit = "%"},
 *     };
 *     relation *answer = relation_create(COLUMNS(columns));
 *     relation_row(answer, as_text(name), as_flag(first), as_count(seed), as_figure(gbps),
 *                  as_figure(noise));
 *     relation_print(answer, out);
 */
#ifndef LNBENCH_RELATION_H
#define LNBENCH_RELATION_H

#include "base/output.h"
#include "base/text.h"

typedef struct relation_column {
    const char *heading; /* in text, Markdown, TSV and CSV; NULL: these leave the column out */
    const char *key;     /* in JSON; NULL: JSON leaves the column out; EACH_MEMBER: see below */
    const char *format;  /* of a figure, "%.6g"; NULL: three significant digits */
    const char *unit;    /* after a figure; "%": the figure is multiplied by 100 */
    int priority;        /* on a narrow terminal the largest is left out first; 0: never left out */
    bool is_code;        /* names and commands: code in HTML and Markdown */
} relation_column;

/* The meaning of a cell or sentence to the reader; a class in HTML. */
typedef enum text_tone { TONE_NONE, TONE_GOOD, TONE_FAULT, TONE_LIMIT, TONE_SOFT } text_tone;
extern const char *const text_tone_names[];

#define COLUMN(heading_, key_)                                                                     \
    {                                                                                              \
        .heading = (heading_), .key = (key_)                                                       \
    }
#define FOR_PEOPLE(heading_)                                                                       \
    {                                                                                              \
        .heading = (heading_)                                                                      \
    }
#define FOR_PROGRAMS(key_)                                                                         \
    {                                                                                              \
        .key = (key_)                                                                              \
    }

/* The key of a column whose value is an object: its members become members of the row. */
#define EACH_MEMBER "*"

/* A value as text and as JSON; the relation to which it is added frees it. */
typedef struct relation_value {
    json_t *json;
    char *text;    /* NULL: a figure, which is written in the format of its column */
    double figure; /* NaN: none */
    text_tone tone;
} relation_value;

relation_value as_text(const char *text); /* a copy; NULL: missing, "-" and null */
relation_value as_word(const char *text); /* the same, but "" is missing too */
relation_value as_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
relation_value as_count(unsigned long long count);
relation_value as_flag(bool flag);       /* "yes", "no" */
relation_value as_figure(double figure); /* NaN: "-"; values that are not finite are null in JSON */
relation_value as_digits(double figure); /* with all digits, regardless of the column's format */
/* A figure in words; HTML sorts it by the figure. */
relation_value as_figure_words(double figure, text_tone tone, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A text with its own JSON value, which the relation frees. */
relation_value as_json(json_t *json, const char *text);

typedef struct relation relation;
#define COLUMNS(array) (array), sizeof(array) / sizeof *(array)
/* Makes a relation. Copies the columns and their headings, made printable; does not copy other strings. */
relation *relation_create(const relation_column *columns, size_t count);
void relation_add(relation *rows, relation_value value); /* fills rows left to right */
#define relation_row(rows, ...)                                                                    \
    relation_add_values((rows), COLUMNS(((const relation_value[]){__VA_ARGS__})))
void relation_add_values(relation *rows, const relation_value *values, size_t count);
void relation_destroy(relation *rows);

/* Omits the headings in TSV and CSV, since the rows continue a table. */
void relation_go_on(relation *rows);
/* Omit a column from all formats but JSON; the second function only if all rows have the same value. */
void relation_hide(relation *rows, size_t column);
void relation_hide_alike(relation *rows, size_t column);
/* Omits columns by their priority until the rest fits; at least two remain. */
void relation_fit(relation *rows, size_t room);
bool relation_shows(const relation *rows, size_t column);

/* Returns the array of rows, and frees the relation. */
json_t *relation_json(relation *rows);
/* Adds the table in a format other than JSON. Text is `room` columns wide (0: no limit). */
void relation_add_form(const relation *rows, output_format format, size_t room, text_buffer *out);
/* Prints the table in the format that the user chose, and frees it. Ends the program (7) if it cannot be written. */
void relation_print(relation *rows, const output_file *output);
/* Does the same, but JSON prints `whole` with the array as its member `key`, and frees both. */
void relation_print_in(relation *rows, json_t *whole, const char *key, const output_file *output);

/* Returns a string as JSON, cleaned as FORM_LINE if it is not UTF-8, and a number as JSON, null if it is not finite. */
json_t *json_text(const char *string);
json_t *json_figure(double value);

#endif

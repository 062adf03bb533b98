/* What a command answers: columns that are declared once, and rows. One printer makes every form of it.
 *
 *     static const relation_column columns[] = {
 *         COLUMN("kernel", "kernel"),                      // heading, key in JSON
 *         FOR_PEOPLE("fastest"),                           // not in JSON
 *         FOR_PROGRAMS("seed"),                            // in JSON alone
 *         {"GB/s", "gbps", .priority = 2},                 // left out where a terminal is narrow
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
    const char *heading; /* of text, Markdown, TSV and CSV; NULL: none of these has the column */
    const char *key;     /* in JSON; NULL: JSON has no such member; EACH_MEMBER: below */
    const char *format;  /* of a figure, "%.6g"; NULL: three significant digits */
    const char *unit;    /* behind a figure; "%": a hundred times the figure */
    int priority;        /* the largest is left out first on a narrow terminal; 0: never */
    bool is_code;        /* names and commands, in HTML; in Markdown between backticks */
} relation_column;

/* What a cell or a sentence means to its reader, as a class of HTML. */
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

/* The key of an object whose members become members of the row. */
#define EACH_MEMBER "*"

/* A value in both forms; the relation that it is added to takes it over. */
typedef struct relation_value {
    json_t *json;
    char *text;    /* NULL: a figure, which is written as its column says */
    double figure; /* NaN: none */
    text_tone tone;
} relation_value;

relation_value as_text(const char *text); /* a copy; NULL: missing, "-" and null */
relation_value as_word(const char *text); /* the same; "": missing too */
relation_value as_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
relation_value as_count(unsigned long long count);
relation_value as_flag(bool flag);       /* "yes", "no" */
relation_value as_figure(double figure); /* NaN: "-"; what is not finite: null */
relation_value as_digits(double figure); /* every digit, whatever its column says */
/* The words of a figure, by which HTML sorts. */
relation_value as_figure_words(double figure, text_tone tone, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A value that has a form of its own in JSON; takes the JSON over. */
relation_value as_json(json_t *json, const char *text);

typedef struct relation relation;
#define COLUMNS(array) (array), sizeof(array) / sizeof *(array)
/* The columns are copied, their strings are not. */
relation *relation_create(const relation_column *columns, size_t count);
void relation_add(relation *rows, relation_value value); /* fills rows left to right */
#define relation_row(rows, ...)                                                                    \
    relation_add_values((rows), COLUMNS(((const relation_value[]){__VA_ARGS__})))
void relation_add_values(relation *rows, const relation_value *values, size_t count);
void relation_destroy(relation *rows);

/* Leaves the headings out of TSV and CSV: these are further rows of a table that was begun. */
void relation_go_on(relation *rows);
/* Leaves a column out of all forms but JSON; the same where all rows say the same in it. */
void relation_hide(relation *rows, size_t column);
void relation_hide_alike(relation *rows, size_t column);
/* Leaves out columns by their priority until the rest fits; two stay. */
void relation_fit(relation *rows, size_t room);
bool relation_shows(const relation *rows, size_t column);

/* The array of rows. These take the relation over. */
json_t *relation_json(relation *rows);
/* Adds a form other than JSON; text: `room` columns wide, 0: as many as it takes. */
void relation_add_form(const relation *rows, output_format format, size_t room, text_buffer *out);
/* Prints the form that the user chose, or dies (7) where it cannot be written. */
void relation_print(relation *rows, const output_file *output);
/* The same; JSON is `whole`, which is taken over, with the array as its member `key`. */
void relation_print_in(relation *rows, json_t *whole, const char *key, const output_file *output);

/* A string as JSON whatever its bytes are: one that is not UTF-8 is cleaned as FORM_LINE. A number as JSON; null where it is
 * not finite. */
json_t *json_text(const char *string);
json_t *json_figure(double value);

#endif

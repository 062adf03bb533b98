/* A growing string and the one number formatter.
 *
 *     text_buffer out = {0};
 *     text_format(&out, "%s\t", name);
 *     text_number(&out, 1.5);
 *     text_free(&out);
 *
 * Numbers are read and written in the same way under every locale, since a host of the library may call setlocale(). */
#ifndef LNBENCH_TEXT_H
#define LNBENCH_TEXT_H

#include "base/die.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct text_buffer {
    char *bytes; /* always terminated once anything was added; NULL before */
    size_t length, capacity;
} text_buffer;

void text_add(text_buffer *out, const char *string);
void text_add_bytes(text_buffer *out, const char *bytes, size_t length);
void text_format(text_buffer *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_format_list(text_buffer *out, const char *format, va_list arguments);
/* Appends a word of a command, between quotes if a shell would read it in another way. */
void text_add_shell(text_buffer *out, const char *word);
/* Appends the shortest decimal that reads back as the same double, or "nan", "inf", "-inf". */
void text_number(text_buffer *out, double value);
void text_free(text_buffer *out);

/* Returns the length of a string without an incomplete last character; and copies into `size` bytes without cutting a
 * character. */
size_t text_whole(const char *string);
void text_copy(char *to, size_t size, const char *from);
/* Cleans text from outside in place: bytes that are not UTF-8 become '?', control characters that are not in `kept`
 * become spaces, and a character that is cut off at the end is removed. */
void text_make_printable(char *line, const char *kept);

/* Reads all of text[0..length): digits with an optional sign, point and exponent, such as "1e-5", ".5" or
 * "-3.25E+2". Stores the nearest double; tiny numbers become subnormal or 0. False, with nothing stored, for
 * any other text: empty or longer than 63 bytes, hexadecimal, "nan", "inf", with blanks, with a comma
 * for the point, or beyond the range of double. */
bool number_parse(const char *text, size_t length, double *value);

/* Writes the shortest decimal that number_parse() reads back as the same double, or "nan", "inf", "-inf". Returns
 * buffer. */
const char *number_format(double value, char buffer[32]);

/* strtod(), strtold() and snprintf() in the "C" locale. */
double number_read(const char *text, char **end);
long double number_read_long(const char *text, char **end);
int number_print(char *to, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int number_print_list(char *to, size_t size, const char *format, va_list arguments);

/* Formats three significant digits for people: "0.812", "12.3", "4.7e+04"; "-" for NaN. Writes at most 16 bytes. */
const char *number_short(double value, char buffer[16]);

/* Returns the "s" of "3 cases", or "" for 1. */
static inline const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

/* Return whether a word is in a list, and its index, which is `count` if it is not there. */
#define WORDS(array) (array), sizeof(array) / sizeof *(array)
bool word_is_in(const char *word, const char *const *words, size_t count);
size_t word_find(const char *word, const char *const *words, size_t count);
/* Returns the index of an option's word among its choices; another word ends the program (2) with a list of them. */
size_t word_chosen(const char *option, const char *given, const char *const *words, size_t count);

/* Returns the word nearest to `given` (Damerau-Levenshtein distance), or NULL if none is near. */
const char *nearest_word(const char *given, const char *const *words, size_t count);
/* Writes " (did you mean 'WORD'?)" with the nearest word, or "" if none is near. */
enum { MEANT_LENGTH = 128 };
const char *did_you_mean(const char *given, const char *const *words, size_t count,
                         char buffer[MEANT_LENGTH]);

/* Lists of words, as in options, and shapes. */

typedef struct word_list {
    const char **words; /* the strings belong to the list or to argv */
    size_t count;
} word_list;

void word_list_add(word_list *list, const char *word);   /* copies */
void word_list_split(word_list *list, const char *text); /* at commas; empty parts are errors */
void word_list_free(word_list *list);

/* Reads "512x768": rows and hidden, both at least 1, whose product fits into memory. */
void shape_parse(const char *text, size_t *rows, size_t *hidden);

/* Escapes text from outside (a file, a plugin, the environment) for the form in which it is written. Only this code
 * knows which characters each form interprets.
 *
 *     text_buffer out = {0};
 *     clean_format(&out, FORM_MARKDOWN, "## %s, %.1f GB/s\n", kernel, gbps); // each %s is cleaned
 *
 * In every form, bytes that are not UTF-8 become '?', and control characters (C0, C1, and marks that change the
 * direction of text) become blanks. An incomplete last character is removed. */

typedef enum text_form {
    FORM_LINE,            /* a line of a terminal */
    FORM_MARKDOWN,        /* text within a line; no link, image, mention, formula or HTML */
    FORM_MARKDOWN_CODE,   /* text between backticks in a cell of a table */
    FORM_PAGE,            /* a text of the page (show/report.c) */
    FORM_MARKUP,          /* text or an attribute of HTML and XML */
    FORM_TSV,             /* a cell, with \t, \n, \r and \\ escaped */
    FORM_CSV,             /* a cell as in RFC 4180 */
    FORM_GNUPLOT,         /* a cell of a table that gnuplot reads; "-" for none */
    FORM_GITHUB,          /* the message of a workflow command */
    FORM_GITHUB_PROPERTY, /* title= of one */
} text_form;

void clean_add(text_buffer *out, text_form form, const char *foreign);

/* Formats like text_format(), with each %s escaped for the form. The format itself is not escaped, nor is "%-s", which
 * is for text that is already in the form. */
void clean_format(text_buffer *out, text_form form, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void clean_format_list(text_buffer *out, text_form form, const char *format, va_list arguments);

#endif

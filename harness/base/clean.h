/* Escapes text that comes from outside (a file, a plugin, the environment) for the form in which it is
 * written. This is the one place that knows which characters each form interprets.
 *
 *     text_buffer out = {0};
 *     clean_format(&out, FORM_MARKDOWN, "## %s, %.1f GB/s\n", kernel, gbps); // each %s is cleaned
 *
 * In every form, bytes that are no UTF-8 become '?', and control characters (C0, C1, and marks that
 * change the direction of writing) become blanks. A character whose end was cut off is left out. */
#ifndef LNBENCH_CLEAN_H
#define LNBENCH_CLEAN_H

#include "base/text.h"

typedef enum text_form {
    FORM_LINE,            /* a line of a terminal */
    FORM_MARKDOWN,        /* text within a line; no link, image, mention, formula or HTML */
    FORM_MARKDOWN_CODE,   /* text between backticks in a cell of a table */
    FORM_PAGE,            /* a text of show/document.h */
    FORM_MARKUP,          /* text or an attribute of HTML and XML */
    FORM_TSV,             /* a cell: \t, \n, \r and \\ for what would end it; no formula */
    FORM_CSV,             /* a cell as in RFC 4180; no formula */
    FORM_GNUPLOT,         /* a cell of a table that gnuplot reads; "-" for none */
    FORM_GITHUB,          /* the message of a workflow command */
    FORM_GITHUB_PROPERTY, /* title= of one */
} text_form;

void clean_add(text_buffer *out, text_form form, const char *foreign);

/* As text_format(), with each %s escaped for the form. The format itself is not, and nor is "%-s": a
 * text that is in the form already. */
void clean_format(text_buffer *out, text_form form, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void clean_format_list(text_buffer *out, text_form form, const char *format, va_list arguments);

/* A stream that passes what is written to it on to another. Control characters other than line feed
 * and tab become blanks, bytes that are no UTF-8 '?'. NULL: memory ran out. */
FILE *clean_stream(FILE *to);

/* Writes each control character of strict JSON, where it can only stand in a string, as \u0080 and
 * the like. Bytes that are no UTF-8 were replaced before: views.h, json_text(). */
void clean_add_json(text_buffer *out, const char *json);

#endif

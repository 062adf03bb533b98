/* Text that is not ours (of a file, a plugin, the environment), made fit for the form in which it is
 * written: the one place that knows what each form takes for an order.
 *
 *     text_buffer out = {0};
 *     clean_format(&out, FORM_MARKDOWN, "## %s, %.1f GB/s\n", kernel, gbps); // each %s is cleaned
 *
 * In every form bytes that are no UTF-8 become '?', a letter that was cut off at the end goes, and
 * what a terminal obeys (control characters, C1 too, and marks that turn the direction of writing)
 * becomes a blank. */
#ifndef LNBENCH_CLEAN_H
#define LNBENCH_CLEAN_H

#include "base/text.h"

typedef enum text_form {
    FORM_LINE,            /* a line of a terminal */
    FORM_MARKDOWN,        /* text within a line; no link, image, mention, formula or HTML */
    FORM_PAGE,            /* a text of report/page/document.h */
    FORM_MARKUP,          /* text or an attribute of HTML and XML */
    FORM_TSV,             /* a cell: \t, \n, \r and \\ for what would end it; no formula */
    FORM_CSV,             /* a cell as in RFC 4180; no formula */
    FORM_GNUPLOT,         /* a cell of a table that gnuplot reads; "-" for none */
    FORM_GITHUB,          /* the message of a workflow command */
    FORM_GITHUB_PROPERTY, /* title= of one */
} text_form;

void clean_add(text_buffer *out, text_form form, const char *foreign);

/* As text_format(), with each %s cleaned for the form; the format itself is ours and stays. "%-s" is
 * ours too: a text that is in the form already. */
void clean_format(text_buffer *out, text_form form, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void clean_format_list(text_buffer *out, text_form form, const char *format, va_list arguments);

/* A stream that passes on to another what is written to it, in any form, but nothing that a terminal
 * obeys: lines and tabs go through, and letters. NULL: memory ran out. */
FILE *clean_stream(FILE *to);

/* In strict JSON, where they may stand only in strings: \u0080 and the like for what a terminal
 * obeys, so that nothing is lost. Text that is no UTF-8 stays out of JSON: views.h, json_text(). */
void clean_add_json(text_buffer *out, const char *json);

#endif

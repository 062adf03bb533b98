/* SPDX-License-Identifier: Apache-2.0 */
/* The report formats that are written in C, and their tools. */
#ifndef HAYAI_FORMATS_H
#define HAYAI_FORMATS_H

#include "hayai.h"
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The C interface of fail() in internal.hpp. */
hayai_status hayai_fail_format(hayai_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Makes the reporter of a format that writes to path, or to standard output if path is NULL. Opens
 * the file, so that an unwritable one is reported before anything is measured. reporter->user must
 * be closed by hayai_format_close(). */
hayai_status hayai_format_open(const char *format, const char *path, hayai_reporter *reporter);
void hayai_format_close(void *user);

/* ---- Numbers ---------------------------------------------------------------------------------- */

/* Between these two calls the calling thread reads and writes numbers in the "C" locale, regardless
 * of the host's setlocale(). The caller's functions are never called in between. */
locale_t hayai_numbers_begin(void);
void hayai_numbers_end(locale_t before);

/* strtod() and vsnprintf() in the "C" locale. */
double hayai_number_read(const char *text, char **end);
int hayai_number_print(char *to, size_t size, const char *format, va_list arguments);

/* ---- Text ------------------------------------------------------------------------------------- */

/* A growing text; when memory runs out, it sets `failed` and keeps its content. */
typedef struct hayai_text {
    char *data;
    size_t length, capacity;
    bool failed;
} hayai_text;

void hayai_text_add(hayai_text *text, const char *string);
void hayai_text_add_bytes(hayai_text *text, const char *bytes, size_t count);
void hayai_text_format(hayai_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void hayai_text_clear(hayai_text *text);
void hayai_text_release(hayai_text *text);

/* Adds a finite number so that it reads back as the same number, any other one as `otherwise`. */
void hayai_text_number(hayai_text *text, double value, const char *otherwise);

/* Does the same, with NaN, Infinity and -Infinity for people and for XML. */
void hayai_text_any_number(hayai_text *text, double value);

/* Returns the next code point of a string that need not be valid UTF-8: invalid bytes become
 * U+FFFD. Advances *string; returns 0 at its end. */
uint32_t hayai_text_code_point(const char **string);
void hayai_text_add_code_point(hayai_text *text, uint32_t code_point);

/* ---- Outputs ---------------------------------------------------------------------------------- */

/* A stream only grows: each commit writes what was added to the body. A document is always
 * complete: each commit replaces the file by head, body and tail in one step (a new file that takes
 * the old one's name), so that a run that is killed leaves a valid document of its results so far.
 * If replacing is not possible (standard output, a pipe), the document is written when it is
 * closed. */
typedef enum hayai_output_kind { HAYAI_STREAM, HAYAI_DOCUMENT } hayai_output_kind;

typedef struct hayai_output {
    hayai_output_kind kind;
    char *path;  /* NULL: standard output */
    char *part;  /* name of the new file; NULL: not replaceable */
    FILE *file;  /* for an output that is not replaceable */
    double next; /* the time in seconds of the next commit */
    hayai_text head, body, tail;
} hayai_output;

hayai_status hayai_output_open(hayai_output *output, hayai_output_kind kind, const char *path);

/* Writes what was added so far. A large document is not rewritten each time: replacing takes at
 * most a twentieth of the time between. `last`: writes in any case. */
hayai_status hayai_output_commit(hayai_output *output, bool last);
void hayai_output_close(hayai_output *output);

/* ---- The formats ----------------------------------------------------------------------------- */

typedef struct hayai_format {
    const char *name;
    hayai_output_kind kind;
    void (*context)(hayai_output *output, const hayai_context *machine, void *memory);
    void (*run)(hayai_output *output, const hayai_run *run, void *memory);
    void (*list)(hayai_output *output, const char *const *names, size_t count); /* or NULL: lines */
    size_t memory;                 /* bytes that the format keeps, zeroed first */
    void (*release)(void *memory); /* what they own; or NULL */
} hayai_format;

extern const hayai_format hayai_format_json;
extern const hayai_format hayai_format_jsonl;
extern const hayai_format hayai_format_tsv;
extern const hayai_format hayai_format_junit;
extern const hayai_format hayai_format_markdown;

#ifdef __cplusplus
}
#endif

#endif

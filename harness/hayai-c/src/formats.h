/* SPDX-License-Identifier: Apache-2.0 */
/* The report formats that are written in C, and what they are written with. */
#ifndef HAYAI_FORMATS_H
#define HAYAI_FORMATS_H

#include "hayai.h"
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* fail() of internal.hpp, for C. */
hayai_status hayai_fail_format(hayai_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Makes the reporter of a format that writes to path, or to standard output where that is NULL. The
 * file is opened, so that what can't be written is known before anything is measured.
 * reporter->user is to be closed with hayai_format_close(). */
hayai_status hayai_format_open(const char *format, const char *path, hayai_reporter *reporter);
void hayai_format_close(void *user);

/* ---- Numbers ---------------------------------------------------------------------------------- */

/* Between these two the calling thread reads and writes numbers in the "C" locale, whatever the
 * host's setlocale() said. The caller's functions are never called in between. */
locale_t hayai_numbers_begin(void);
void hayai_numbers_end(locale_t before);

/* strtod() and vsnprintf() in the "C" locale. */
double hayai_number_read(const char *text, char **end);
int hayai_number_print(char *to, size_t size, const char *format, va_list arguments);

/* ---- Text ------------------------------------------------------------------------------------- */

/* Grows as it is added to; once memory runs out it stays `failed` and keeps what it had. */
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

/* A finite number so that it reads back as the same number, anything else as `otherwise`. */
void hayai_text_number(hayai_text *text, double value, const char *otherwise);

/* The same, with NaN, Infinity and -Infinity for people and for XML. */
void hayai_text_any_number(hayai_text *text, double value);

/* Code points of a string that need not be valid UTF-8: what is not comes as U+FFFD. Moves *string
 * on; 0 at its end. */
uint32_t hayai_text_code_point(const char **string);
void hayai_text_add_code_point(hayai_text *text, uint32_t code_point);

/* ---- Outputs ---------------------------------------------------------------------------------- */

/* A stream only grows: each commit writes what was added to the body. A document is always whole:
 * each commit replaces the file by head, body and tail in one step (a new file that takes the old
 * one's name), so that a run that is killed at any moment leaves a valid document of what it had.
 * Where replacing is not possible (standard output, a pipe) the document is written when it is
 * closed. */
typedef enum hayai_output_kind { HAYAI_STREAM, HAYAI_DOCUMENT } hayai_output_kind;

typedef struct hayai_output {
    hayai_output_kind kind;
    char *path;  /* NULL: standard output */
    char *part;  /* the new file's name; NULL: not replaceable */
    FILE *file;  /* of what is not replaceable */
    double next; /* seconds on the clock before which no commit is due */
    hayai_text head, body, tail;
} hayai_output;

hayai_status hayai_output_open(hayai_output *output, hayai_output_kind kind, const char *path);

/* Makes what was added so far safe. A large document is not rewritten each time: replacing takes at
 * most a twentieth of the time between. `last`: in any case. */
hayai_status hayai_output_commit(hayai_output *output, bool last);
void hayai_output_close(hayai_output *output);

/* ---- The formats ----------------------------------------------------------------------------- */

typedef struct hayai_format {
    const char *name;
    hayai_output_kind kind;
    void (*context)(hayai_output *output, const hayai_context *machine, void *memory);
    void (*run)(hayai_output *output, const hayai_run *run, void *memory);
    void (*list)(hayai_output *output, const char *const *names, size_t count); /* or NULL: lines */
    size_t memory;                 /* zeroed bytes that the format keeps between its calls */
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

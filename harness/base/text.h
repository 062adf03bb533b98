/* A growing string and the one number formatter.
 *
 *     text_buffer out = {0};
 *     text_format(&out, "%s\t", name);
 *     text_number(&out, 1.5);
 *     if (out.failed) ...               // memory ran out somewhere above
 *     text_free(&out);
 */
#ifndef LNBENCH_TEXT_H
#define LNBENCH_TEXT_H

#include "base/table.h"
#include <stdarg.h>

typedef struct text_buffer {
    char *bytes; /* always terminated once anything was added; NULL before */
    size_t length, capacity;
    bool failed; /* memory ran out: contents are incomplete */
} text_buffer;

void text_add(text_buffer *out, const char *string);
void text_add_bytes(text_buffer *out, const char *bytes, size_t length);
void text_format(text_buffer *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_format_list(text_buffer *out, const char *format, va_list arguments);
/* Shortest decimal that reads back as the same double; "nan", "inf", "-inf" for what is not finite.
 */
void text_number(text_buffer *out, double value);
void text_free(text_buffer *out);

/* How many bytes the UTF-8 character here has, 0 where there is none (RFC 3629, section 4). */
size_t text_utf8_length(const char *string);
/* In place, of text that came from outside: what is no UTF-8 becomes '?', a control character that
 * is not among `kept` a space, so that nothing reaches a terminal which it would obey. */
void text_make_printable(char *line, const char *kept);

/* Three significant digits for people: "0.812", "12.3", "4.7e+04"; "-" for NaN. Writes at most 16
 * bytes. */
const char *number_short(double value, char buffer[16]);

/* The word nearest to `given` (Damerau-Levenshtein distance), for
 * "unknown kernel 'twopass': did you mean 'two_pass_f32'?". NULL when none is near. */
const char *nearest_word(const char *given, const char *const *words, size_t count);

#endif

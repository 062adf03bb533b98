/* What Google Benchmark writes and JSON does not know: counters that are no numbers (NaN, -inf,
 * 1e999), bytes of names that are no UTF-8, and counters with the names of its own fields. */
#include "base/text.h"
#include "exchange/run_read_internal.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRY_DEPTH = 3 }; /* {"benchmarks": [{ */

/* The fields of an entry that are read: the first of a name is Google Benchmark's own. */
static const char *const fields[] = {"name",           "run_name",     "run_type", "skipped",
                                     "time_unit",      "real_time",    "cpu_time", "skip_message",
                                     "error_occurred", "error_message"};

/* A number that none is becomes an empty string, of the same length with blanks. */
static void relax_word(char *word, size_t length)
{
    char *end;
    errno = 0;
    double value = strtod(word, &end);
    bool whole = end == word + length, fits = isfinite(value);
    if (whole && fits && strcspn(word, ".eE") >= length) {
        errno = 0;
        strtoll(word, NULL, 10);
        fits = errno == 0;
    }
    if (length < 2 || (whole ? fits : !memchr(word, '#', length)))
        return;
    memset(word, ' ', length);
    word[0] = word[1] = '"';
}

/* Behind the string. */
static char *relax_string(char *string, const char *end)
{
    char *at = string + 1;
    while (at < end && *at != '"') {
        text_letter letter = text_letter_at(at);
        bool escapes = *at == '\\' && at + 1 < end;
        bool bad = letter.kind == LETTER_BAD || letter.kind == LETTER_CUT;
        if (bad || (unsigned char)*at < 0x20)
            *at = '?';
        at += escapes ? 2 : bad ? 1 : letter.length;
    }
    return at < end ? at + 1 : at;
}

/* A key that the entry has already is another counter's. */
static void relax_key(char *string, const char *behind, unsigned *seen)
{
    size_t length = (size_t)(behind - string) - 2;
    if (behind[strspn(behind, " \t\r\n")] != ':')
        return;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (strlen(fields[i]) != length || memcmp(string + 1, fields[i], length) != 0)
            continue;
        string[1] = *seen & 1u << i ? '!' : string[1];
        *seen |= 1u << i;
    }
}

void relax_benchmark(char *bytes, size_t size)
{
    const char *end = bytes + size;
    size_t depth = 0;
    unsigned seen = 0;
    for (char *at = bytes; at < end;) {
        size_t word = 0;
        while (at + word < end &&
               (isalnum((unsigned char)at[word]) || strchr("+-.#()", at[word])) && at[word])
            word++;
        if (word > 0) {
            relax_word(at, word);
            at += word;
        } else if (*at == '"') {
            char *string = at;
            at = relax_string(at, end);
            if (depth == ENTRY_DEPTH)
                relax_key(string, at, &seen);
        } else {
            depth += *at == '{' || *at == '[';
            depth -= depth > 0 && (*at == '}' || *at == ']');
            seen = *at == '{' ? 0 : seen;
            at++;
        }
    }
}

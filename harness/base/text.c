/* Growing strings, numbers in the "C" locale, words and lists of words, and the escaping of text from outside for each
 * format. */
#include "base/text.h"
#include "base/arena.h"
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers ---- */

/* Returns the "C" locale, because a host may have called setlocale(). glibc has it ready, so that this cannot fail. */
static locale_t plain_locale(void)
{
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

double number_read(const char *text, char **end)
{
    return strtod_l(text, end, plain_locale());
}

long double number_read_long(const char *text, char **end)
{
    return strtold_l(text, end, plain_locale());
}

int number_print_list(char *to, size_t size, const char *format, va_list arguments)
{
    locale_t before = uselocale(plain_locale());
    int length = vsnprintf(to, size, format, arguments);
    uselocale(before);
    return length;
}

int number_print(char *to, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = number_print_list(to, size, format, arguments);
    va_end(arguments);
    return length;
}

bool number_parse(const char *text, size_t length, double *value)
{
    char copy[64], *end;
    if (length == 0 || length >= sizeof copy)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    /* strtod() also reads blanks, "nan" and "0x1p3" */
    if (strspn(copy, "0123456789+-.eE") != length)
        return false;
    double read = number_read(copy, &end);
    if (*end || isinf(read))
        return false;
    *value = read;
    return true;
}

/* Returns the precision at which to start the search for the fewest digits that read back as the value. A number of at
 * most 15 digits is what "%.14e" prints for the nearest double, except zeros at the end; subnormals have fewer
 * digits. */
static int least_precision(double value)
{
    char digits[32];
    if (fabs(value) < DBL_MIN)
        return 1;
    number_print(digits, sizeof digits, "%.14e", fabs(value));
    if (number_read(digits, NULL) != fabs(value))
        return 16;
    int last = 15; /* index of the last digit of "d.dddddddddddddd" that is not zero */
    while (last > 1 && digits[last] == '0')
        last--;
    return last > 1 ? last : 1;
}

const char *number_format(double value, char buffer[32])
{
    if (!isfinite(value))
        return strcpy(buffer, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
    for (int precision = least_precision(value); precision <= 17; precision++) {
        number_print(buffer, 32, "%.*g", precision, value);
        if (number_read(buffer, NULL) == value)
            break;
    }
    return buffer;
}

/* ---- growing strings ---- */

/* Makes room for `more` bytes and a terminating 0. */
static void reserve(text_buffer *out, size_t more)
{
    if (more > SIZE_MAX / 2 - out->length - 1)
        memory_is_out(more);
    size_t needed = out->length + more + 1;
    if (needed > out->capacity) {
        out->bytes = reallocate(out->bytes, 2 * needed);
        out->capacity = 2 * needed;
    }
}

void text_add_bytes(text_buffer *out, const char *bytes, size_t length)
{
    reserve(out, length);
    memcpy(out->bytes + out->length, bytes, length);
    out->length += length;
    out->bytes[out->length] = '\0';
}

void text_add(text_buffer *out, const char *string)
{
    text_add_bytes(out, string, strlen(string));
}

void text_format_list(text_buffer *out, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = number_print_list(NULL, 0, format, arguments);
    if (length >= 0) {
        reserve(out, (size_t)length);
        number_print_list(out->bytes + out->length, (size_t)length + 1, format, again);
        out->length += (size_t)length;
    }
    va_end(again);
}

void text_format(text_buffer *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_format_list(out, format, arguments);
    va_end(arguments);
}

void text_add_shell(text_buffer *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "/._-+=,:@%";
    const char *mark = *word && !word[strspn(word, plain)] ? "" : "'";
    text_add(out, mark);
    for (; *word; word++)
        text_format(out, *word == '\'' ? "'\\%c'" : "%c", *word);
    text_add(out, mark);
}

void text_number(text_buffer *out, double value)
{
    char digits[32];
    text_add(out, number_format(value, digits));
}

void text_free(text_buffer *out)
{
    free(out->bytes);
    *out = (text_buffer){0};
}

const char *number_short(double value, char buffer[16])
{
    static const struct {
        double least;
        const char *format;
    } forms[] = {{99950, "%.1e"},  {99.95, "%.0f"},   {9.995, "%.1f"},
                 {0.9995, "%.2f"}, {0.00995, "%.3f"}, {0, "%.1e"}};
    size_t form = 0;
    if (isnan(value))
        return strcpy(buffer, "-");
    if (isinf(value))
        return strcpy(buffer, value > 0 ? "inf" : "-inf");
    if (fpclassify(value) == FP_ZERO)
        return strcpy(buffer, "0");
    while (fabs(value) < forms[form].least)
        form++;
    number_print(buffer, 16, forms[form].format, value);
    return buffer;
}

/* Returns the Damerau-Levenshtein distance (optimal string alignment) of words up to 63 bytes. */
static size_t word_distance(const char *a, const char *b)
{
    enum { LIMIT = 64 };
    size_t d[LIMIT][LIMIT], n = strlen(a), m = strlen(b);
    if (n >= LIMIT || m >= LIMIT)
        return LIMIT;
    for (size_t i = 0; i <= n; i++)
        for (size_t j = 0; j <= m; j++) {
            size_t best = i + j;
            if (i > 0 && j > 0 && d[i - 1][j - 1] + (a[i - 1] != b[j - 1]) < best)
                best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (i > 0 && d[i - 1][j] + 1 < best)
                best = d[i - 1][j] + 1;
            if (j > 0 && d[i][j - 1] + 1 < best)
                best = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    return d[n][m];
}

const char *nearest_word(const char *given, const char *const *words, size_t count)
{
    const char *nearest = NULL;
    size_t least = strlen(given) / 2 + 1;
    for (size_t i = 0; i < count; i++) {
        size_t distance = word_distance(given, words[i]);
        /* A prefix counts as near, however short it is. */
        if (given[0] && strncmp(words[i], given, strlen(given)) == 0)
            distance = distance ? 1 : 0;
        if (distance < least) {
            least = distance;
            nearest = words[i];
        }
    }
    return nearest;
}

size_t word_find(const char *word, const char *const *words, size_t count)
{
    size_t i = 0;
    while (i < count && strcmp(word, words[i]) != 0)
        i++;
    return i;
}

size_t word_chosen(const char *option, const char *given, const char *const *words, size_t count)
{
    const size_t found = word_find(given, words, count);
    text_buffer all = {0};
    char meant[MEANT_LENGTH];
    for (size_t i = 0; found == count && i < count; i++)
        text_format(&all, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " or ", words[i]);
    if (found == count)
        die(EXIT_CODE_USAGE, "invalid --%s '%.60s'%s: choose %s", option, given,
            did_you_mean(given, words, count, meant), all.bytes);
    return found;
}

bool word_is_in(const char *word, const char *const *words, size_t count)
{
    return word_find(word, words, count) < count;
}

const char *did_you_mean(const char *given, const char *const *words, size_t count,
                         char buffer[MEANT_LENGTH])
{
    const char *nearest = nearest_word(given, words, count);
    *buffer = '\0';
    if (nearest)
        snprintf(buffer, MEANT_LENGTH, " (did you mean '%.100s'?)", nearest);
    return buffer;
}

/* Returns whether a character controls a terminal or the layout: C0, C1 (which a terminal may take for ESC [), and
 * those that end a line or change the direction of text. */
static bool is_control(uint32_t code)
{
    static const uint32_t ranges[][2] = {{0, 0x1f},        {0x7f, 0x9f},     {0x61c, 0x61c},
                                         {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (code >= ranges[i][0] && code <= ranges[i][1])
            return true;
    return false;
}

typedef enum letter_kind { LETTER_PLAIN, LETTER_CONTROL, LETTER_BAD, LETTER_CUT } letter_kind;

typedef struct text_letter {
    letter_kind kind; /* cut: incomplete at the end of the string */
    size_t length;    /* bytes */
} text_letter;

/* Checks RFC 3629: the shortest form only, up to U+10FFFF, and no surrogates. */
static bool is_letter(uint32_t code, size_t length)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    return code >= least[length - 1] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
}

/* Returns the character at the beginning of a string, which need not be valid UTF-8. */
static text_letter text_letter_at(const char *string)
{
    const unsigned char *at = (const unsigned char *)string;
    const size_t length = at[0] < 0xc0 ? 1 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    uint32_t code = length == 1 ? at[0] : at[0] & (0x7fu >> length), last;
    size_t there = 1;
    for (; there < length && (at[there] & 0xc0) == 0x80; there++)
        code = code << 6 | (at[there] & 0x3fu);
    /* The completions of an incomplete character are between the code and `last`. */
    code <<= 6 * (length - there);
    last = code | ((1u << 6 * (length - there)) - 1);
    if ((length == 1 && code >= 0x80) || at[0] >= 0xf8 || (there < length && at[there]) ||
        (!is_letter(code, length) && !is_letter(last, length)))
        return (text_letter){.kind = LETTER_BAD, .length = 1};
    if (there < length)
        return (text_letter){.kind = LETTER_CUT, .length = there};
    return (text_letter){is_control(code) ? LETTER_CONTROL : LETTER_PLAIN, length};
}

size_t text_whole(const char *string)
{
    size_t length = strlen(string), back = 1;
    while (back < 4 && back < length && ((unsigned char)string[length - back] & 0xc0) == 0x80)
        back++;
    bool cut = length > 0 && text_letter_at(string + length - back).kind == LETTER_CUT;
    return cut ? length - back : length;
}

void text_copy(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from);
    to[text_whole(to)] = '\0';
}

void text_make_printable(char *line, const char *kept)
{
    char *to = line;
    for (const char *at = line; *at;) {
        text_letter letter = text_letter_at(at);
        size_t length = letter.length;
        if (letter.kind == LETTER_CUT)
            break;
        if (letter.kind == LETTER_PLAIN || (length == 1 && *at > 0 && strchr(kept, *at)))
            memmove(to, at, length);
        else
            *to = letter.kind == LETTER_BAD ? '?' : ' ';
        to += letter.kind == LETTER_PLAIN ? length : 1;
        at += length;
    }
    *to = '\0';
}

static void add_part(word_list *list, const char *word, size_t length)
{
    list->words = allocate_room(list->words, list->count, sizeof *list->words);
    char *copy = allocate_zeroed(length + 1, 1);
    list->words[list->count++] = memcpy(copy, word, length);
}

void word_list_add(word_list *list, const char *word)
{
    add_part(list, word, strlen(word));
}

void word_list_split(word_list *list, const char *text)
{
    for (const char *part = text;; part++) {
        size_t length = strcspn(part, ",");
        if (length == 0)
            die(EXIT_CODE_USAGE, "'%.200s': an empty part between commas", text);
        add_part(list, part, length);
        part += length;
        if (*part == '\0')
            return;
    }
}

void word_list_free(word_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free((char *)list->words[i]);
    free(list->words);
    *list = (word_list){0};
}

/* Reads digits. A number too large for size_t becomes SIZE_MAX, which every caller refuses. */
static bool parse_size(const char *text, size_t length, size_t *size)
{
    *size = strtoull(text, NULL, 10);
    return length > 0 && strspn(text, "0123456789") >= length;
}

void shape_parse(const char *text, size_t *rows, size_t *hidden)
{
    const char *times = strchr(text, 'x');
    size_t elements;
    if (!times || !parse_size(text, (size_t)(times - text), rows) ||
        !parse_size(times + 1, strlen(times + 1), hidden))
        die(EXIT_CODE_USAGE, "invalid shape '%.60s': write ROWSxHIDDEN, as in 512x768", text);
    if (*rows == 0 || *hidden == 0)
        die(EXIT_CODE_USAGE, "shape '%.60s': rows and hidden must be at least 1", text);
    if (__builtin_mul_overflow(*rows, *hidden, &elements) || elements > (SIZE_MAX >> 24))
        die(EXIT_CODE_USAGE, "shape '%.60s': rows times hidden is too large", text);
}

/* ---- cells ---- */

/* Returns the replacement of a byte in a format, or NULL if it needs none. */
static const char *escape_of(text_form form, const char *at)
{
    static const char *const entities[] = {"&&amp;", "<&lt;", ">&gt;", "\"&quot;", "'&#39;"};
    static _Thread_local char escaped[4] = "\\?";
    switch (form) {
    case FORM_MARKDOWN:
    case FORM_PAGE:
        escaped[1] = *at;
        if (strchr(form == FORM_PAGE ? "\\`*[]" : "\\`*_{}[]<>#|&@~$", *at) ||
            (form == FORM_MARKDOWN && strncmp(at, "://", 3) == 0)) /* the beginning of a link */
            return escaped;
        return NULL;
    case FORM_MARKDOWN_CODE:
        return *at == '`' ? "'" : *at == '|' ? "/" : NULL;
    case FORM_MARKUP:
        for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
            if (entities[i][0] == *at)
                return entities[i] + 1;
        return NULL;
    case FORM_TSV:
        return *at == '\t'   ? "\\t"
               : *at == '\n' ? "\\n"
               : *at == '\r' ? "\\r"
               : *at == '\\' ? "\\\\"
                             : NULL;
    case FORM_CSV:
        return *at == '"' ? "\"\"" : *at == '\n' ? "\n" : *at == '\t' ? "\t" : NULL;
    case FORM_GNUPLOT:
        return strchr("\"'\\`", *at) ? "?" : strncmp(at, "]]>", 3) == 0 ? "] " : NULL; /* for SVG */
    case FORM_GITHUB:
    case FORM_GITHUB_PROPERTY:
        if (*at == ':' || *at == ',')
            return form == FORM_GITHUB ? NULL : *at == ':' ? "%3A" : "%2C";
        return *at == '%' ? "%25" : *at == '\n' ? "%0A" : *at == '\r' ? "%0D" : NULL;
    case FORM_LINE:
        break;
    }
    return NULL;
}

void clean_add(text_buffer *out, text_form form, const char *foreign)
{
    bool quoted = form == FORM_CSV && strpbrk(foreign, ",\"\n");
    text_add(out, quoted ? "\"" : form == FORM_GNUPLOT && !*foreign ? "-" : "");
    for (const char *at = foreign; *at;) {
        text_letter letter = text_letter_at(at);
        const char *escape = letter.length == 1 ? escape_of(form, at) : NULL;
        if (letter.kind == LETTER_CUT)
            break;
        if (escape)
            text_add(out, escape);
        else if (letter.kind == LETTER_PLAIN)
            text_add_bytes(out, at, letter.length);
        else
            text_add(out, letter.kind == LETTER_CONTROL ? " " : "?");
        at += letter.length;
    }
    text_add(out, quoted ? "\"" : "");
}

/* ---- formats ---- */

/* Adds the next value as the conversion at `format` requires, and returns the conversion's end. Replaces its stars by
 * numbers; "%-s" is our own text. */
static const char *add_value(text_buffer *out, text_form form, const char *format, va_list *values)
{
    char words[40], kind;
    size_t length = 0;
    do {
        if (*format == '*')
            length += (size_t)snprintf(words + length, 12, "%d", va_arg(*values, int));
        else
            words[length++] = *format;
        kind = *format++;
    } while (length < 28 && (length == 1 || !strchr("diouxXcseEfFgGaA%", kind)));
    words[length] = '\0';
    if (kind == '%') {
        text_add(out, "%");
    } else if (strchr("eEfFgGaA", kind)) {
        text_format(out, words, va_arg(*values, double));
    } else if (kind != 's' && strpbrk(words, "lzjt")) {
        text_format(out, words, va_arg(*values, long long));
    } else if (kind != 's') {
        text_format(out, words, va_arg(*values, int));
    } else if (strcmp(words, "%-s") == 0) {
        text_add(out, va_arg(*values, const char *));
    } else {
        text_buffer shown = {0};
        text_format(&shown, words, va_arg(*values, const char *));
        clean_add(out, form, shown.bytes);
        text_free(&shown);
    }
    return format;
}

void clean_format_list(text_buffer *out, text_form form, const char *format, va_list list)
{
    va_list values;
    va_copy(values, list);
    text_add(out, "");
    while (*format) {
        size_t plain = strcspn(format, "%");
        text_add_bytes(out, format, plain);
        format += plain;
        if (*format)
            format = add_value(out, form, format, &values);
    }
    va_end(values);
}

void clean_format(text_buffer *out, text_form form, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    clean_format_list(out, form, format, arguments);
    va_end(arguments);
}

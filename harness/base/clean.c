#include "base/clean.h"
#include "base/allocate.h"
#include "base/text.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- cells ---- */

/* A spreadsheet takes text that begins so for a formula (OWASP, "CSV Injection"); a quote makes it
 * text. A number stays one. */
static bool is_formula(const char *cell)
{
    char *end;
    if (!*cell || !strchr("=+-@\t\r", *cell) || strcmp(cell, "-") == 0)
        return false;
    number_read(cell, &end);
    return *end != '\0' || end == cell;
}

/* What stands for a byte in a form, NULL where it stands for itself. */
static const char *escape_of(text_form form, const char *at)
{
    static const char *const entities[] = {"&&amp;", "<&lt;", ">&gt;", "\"&quot;", "'&#39;"};
    static _Thread_local char escaped[4] = "\\?";
    switch (form) {
    case FORM_MARKDOWN:
    case FORM_PAGE:
        escaped[1] = *at;
        if (strchr(form == FORM_PAGE ? "\\`*[]" : "\\`*_{}[]<>#|&@~$", *at) ||
            (form == FORM_MARKDOWN && strncmp(at, "://", 3) == 0)) /* an address is a link */
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
        return strchr("\"'\\`", *at) ? "?" : strncmp(at, "]]>", 3) == 0 ? "] " : NULL; /* SVG */
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
    bool cell = form == FORM_TSV || form == FORM_CSV;
    bool quoted = form == FORM_CSV && strpbrk(foreign, ",\"\n");
    text_add(out, quoted ? "\"" : form == FORM_GNUPLOT && !*foreign ? "-" : "");
    text_add(out, cell && is_formula(foreign) ? "'" : "");
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

void clean_add_json(text_buffer *out, const char *json)
{
    for (const char *at = json; *at;) {
        size_t plain = 0; /* letters of ASCII, as nearly all of a run are, are added at once */
        while (at[plain] >= ' ' && at[plain] < 0x7f)
            plain++;
        text_add_bytes(out, at, plain);
        at += plain;
        if (!*at)
            break;
        text_letter letter = text_letter_at(at);
        if (letter.kind == LETTER_CONTROL && *at != '\n' && *at != '\t')
            text_format(out, "\\u%04x", (unsigned)letter.code);
        else
            text_add_bytes(out, at, letter.length);
        at += letter.length;
    }
}

/* ---- formats ---- */

typedef struct format_arguments {
    va_list list;
} format_arguments;

/* One conversion, with the numbers that its stars stood for. */
typedef struct conversion {
    char words[40];
    size_t length;
    bool left, ours;      /* ours: "%-s" */
    int width, precision; /* -1: none */
    char size, kind;      /* 'l', 'L' for ll, 'z', 'j', 't'; 0: none */
} conversion;

static void take_byte(conversion *own, char byte)
{
    if (own->length + 1 < sizeof own->words)
        own->words[own->length++] = byte;
}

/* Takes digits or a star; -1: there is neither. */
static int take_number(conversion *own, const char **at, format_arguments *arguments)
{
    char digits[16] = "";
    size_t length = strspn(*at, "0123456789");
    int number = length ? atoi(*at) : -1;
    if (**at == '*') {
        number = va_arg(arguments->list, int);
        length = 1;
    }
    if (number >= 0)
        snprintf(digits, sizeof digits, "%d", number);
    for (const char *digit = digits; *digit; digit++)
        take_byte(own, *digit);
    *at += length;
    return number;
}

static const char *take_conversion(const char *at, format_arguments *arguments, conversion *own)
{
    *own = (conversion){.precision = -1};
    take_byte(own, *at++);
    for (; *at && strchr("-+ #0", *at); at++) {
        own->left |= *at == '-';
        take_byte(own, *at);
    }
    own->width = take_number(own, &at, arguments);
    own->ours = own->left && own->width < 0;
    if (*at == '.') {
        take_byte(own, *at++);
        own->precision = take_number(own, &at, arguments);
    }
    for (; *at && strchr("hlzjt", *at); at++) {
        own->size = own->size == 'l' ? 'L' : *at;
        take_byte(own, *at);
    }
    own->kind = *at;
    take_byte(own, *at);
    return at + (*at != '\0');
}

/* Adds a value of the type that the conversion names. */
static void add_value(text_buffer *out, const conversion *own, format_arguments *arguments)
{
    const char *format = own->words;
    if (own->kind == '%')
        text_add(out, "%");
    else if (strchr("eEfFgGaA", own->kind))
        text_format(out, format, va_arg(arguments->list, double));
    else if (own->size == 'L')
        text_format(out, format, va_arg(arguments->list, long long));
    else if (own->size && own->size != 'h')
        text_format(out, format, va_arg(arguments->list, size_t));
    else
        text_format(out, format, va_arg(arguments->list, int));
}

static void add_string(text_buffer *out, text_form form, const conversion *own, const char *string)
{
    char *cut = own->precision >= 0 ? strndup(string, (size_t)own->precision) : NULL;
    if (own->precision >= 0 && !cut)
        memory_is_out((size_t)own->precision);
    string = cut ? cut : string;
    size_t length = strlen(string);
    int blanks = own->width > 0 && length < (size_t)own->width ? own->width - (int)length : 0;
    text_format(out, "%*s", own->left ? 0 : blanks, "");
    if (own->ours)
        text_add(out, string);
    else
        clean_add(out, form, string);
    text_format(out, "%*s", own->left ? blanks : 0, "");
    free(cut);
}

void clean_format_list(text_buffer *out, text_form form, const char *format, va_list list)
{
    format_arguments arguments;
    conversion own;
    va_copy(arguments.list, list);
    text_add(out, "");
    while (*format) {
        size_t plain = strcspn(format, "%");
        text_add_bytes(out, format, plain);
        format += plain;
        if (!*format)
            break;
        format = take_conversion(format, &arguments, &own);
        if (own.kind == 's')
            add_string(out, form, &own, va_arg(arguments.list, const char *));
        else
            add_value(out, &own, &arguments);
    }
    va_end(arguments.list);
}

void clean_format(text_buffer *out, text_form form, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    clean_format_list(out, form, format, arguments);
    va_end(arguments);
}

/* ---- streams ---- */

typedef struct clean_state {
    FILE *to;
    char held[4]; /* the beginning of a letter, whose rest is still to come */
    size_t count;
} clean_state;

static ssize_t clean_write(void *cookie, const char *bytes, size_t size)
{
    enum { CHUNK = 4096 };
    clean_state *state = cookie;
    char chunk[CHUNK + sizeof state->held];
    for (size_t done = 0, part; done < size; done += part) {
        part = size - done < CHUNK ? size - done : CHUNK;
        memcpy(chunk, state->held, state->count);
        memcpy(chunk + state->count, bytes + done, part);
        chunk[state->count + part] = '\0';
        state->count = 0;
        for (const char *at = chunk; *at;) {
            text_letter letter = {.kind = LETTER_PLAIN}; /* most text is plain ASCII */
            while ((at[letter.length] >= ' ' && at[letter.length] < 0x7f) ||
                   at[letter.length] == '\n' || at[letter.length] == '\t')
                letter.length++;
            if (letter.length == 0)
                letter = text_letter_at(at);
            bool kept = letter.kind == LETTER_PLAIN || *at == '\n' || *at == '\t';
            if (letter.kind == LETTER_CUT)
                memcpy(state->held, at, state->count = strlen(at));
            else if (kept ? fwrite(at, 1, letter.length, state->to) != letter.length
                          : fputc(letter.kind == LETTER_CONTROL ? ' ' : '?', state->to) == EOF)
                return 0;
            at += letter.length;
        }
    }
    return (ssize_t)size;
}

FILE *clean_stream(FILE *to)
{
    static clean_state standard; /* of standard output: there is one */
    standard = (clean_state){.to = to};
    FILE *stream = fopencookie(&standard, "w", (cookie_io_functions_t){.write = clean_write});
    if (stream)
        setvbuf(stream, NULL, _IOLBF, BUFSIZ);
    return stream;
}

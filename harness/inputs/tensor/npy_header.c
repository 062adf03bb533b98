/* Reads {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }: as numpy/lib/format.py writes
 * it, with keys in any order, either kind of quotes, any blanks, and the 3L of Python 2. */
#include "inputs/tensor/internal.h"
#include <string.h>

typedef struct header_cursor {
    const char *path, *next, *end;
    error *error;
} header_cursor;

static bool fail_at(header_cursor *cursor, const char *field, const char *expected)
{
    char found[17] = "its end";
    size_t left = (size_t)(cursor->end - cursor->next), length = 0;
    for (; length < left && length < 16; length++) {
        char byte = cursor->next[length];
        found[length] = byte >= ' ' && byte <= '~' ? byte : '?';
    }
    if (length > 0)
        found[length] = '\0';
    return fail(cursor->error, EXIT_CODE_USAGE, "%s: npy header, %s: expected %s, found '%s'",
                cursor->path, field, expected, found);
}

static void skip_blanks(header_cursor *cursor)
{
    while (cursor->next < cursor->end && *cursor->next && strchr(" \t\r\n", *cursor->next))
        cursor->next++;
}

/* Takes this byte, after blanks, where it stands next. */
static bool take_letter(header_cursor *cursor, char wanted)
{
    skip_blanks(cursor);
    if (cursor->next == cursor->end || *cursor->next != wanted)
        return false;
    cursor->next++;
    return true;
}

static bool take_word(header_cursor *cursor, const char *word)
{
    size_t length = strlen(word);
    skip_blanks(cursor);
    if ((size_t)(cursor->end - cursor->next) < length || memcmp(cursor->next, word, length) != 0)
        return false;
    cursor->next += length;
    return true;
}

/* A quoted string without escapes. */
static bool take_string(header_cursor *cursor, const char *field, char *string, size_t size)
{
    char quote = take_letter(cursor, '\'') ? '\'' : take_letter(cursor, '"') ? '"' : '\0';
    if (!quote)
        return fail_at(cursor, field, "a quoted string");
    const char *end = memchr(cursor->next, quote, (size_t)(cursor->end - cursor->next));
    if (!end || (size_t)(end - cursor->next) >= size ||
        memchr(cursor->next, '\\', (size_t)(end - cursor->next)))
        return fail_at(cursor, field, "a short quoted string");
    size_t length = (size_t)(end - cursor->next);
    memcpy(string, cursor->next, length);
    string[length] = '\0';
    cursor->next = end + 1;
    return true;
}

static bool parse_size(header_cursor *cursor, size_t *size)
{
    size_t value = 0;
    skip_blanks(cursor);
    const char *begin = cursor->next;
    for (; cursor->next < cursor->end && *cursor->next >= '0' && *cursor->next <= '9';
         cursor->next++) {
        size_t digit = (size_t)(*cursor->next - '0');
        if (value > (SIZE_MAX - digit) / 10)
            return fail_at(cursor, "shape", "a size that fits this machine");
        value = value * 10 + digit;
    }
    if (cursor->next == begin)
        return fail_at(cursor, "shape", "a size or ')'");
    take_letter(cursor, 'L');
    *size = value;
    return true;
}

/* (), (3,), (3, 4) or (3, 4,) */
static bool parse_shape(header_cursor *cursor, tensor_form *form)
{
    form->dimensions = 0;
    if (!take_letter(cursor, '('))
        return fail_at(cursor, "shape", "a tuple such as (3, 4)");
    bool comma = true;
    while (!take_letter(cursor, ')')) {
        if (!comma)
            return fail_at(cursor, "shape", "',' or ')'");
        if (form->dimensions == TENSOR_MAX_DIMENSIONS)
            return fail_at(cursor, "shape", "at most 32 dimensions");
        if (!parse_size(cursor, &form->shape[form->dimensions]))
            return false;
        form->dimensions++;
        comma = take_letter(cursor, ',');
    }
    if (form->dimensions == 1 && !comma)
        return fail_at(cursor, "shape", "a tuple such as (3,), its comma was missing");
    return true;
}

static bool parse_order(header_cursor *cursor, tensor_form *form)
{
    form->is_fortran = take_word(cursor, "True");
    if (form->is_fortran || take_word(cursor, "False"))
        return true;
    return fail_at(cursor, "fortran_order", "True or False");
}

static bool parse_descr(header_cursor *cursor, tensor_form *form)
{
    skip_blanks(cursor);
    if (cursor->next < cursor->end && *cursor->next == '[')
        return fail_at(cursor, "descr", "a plain type such as '<f4'");
    return take_string(cursor, "descr", form->descr, sizeof form->descr);
}

static bool parse_entry(header_cursor *cursor, tensor_form *form, unsigned *seen)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    char name[24];
    if (!take_string(cursor, "key", name, sizeof name))
        return false;
    unsigned key = 0;
    while (key < 3 && strcmp(name, keys[key]) != 0)
        key++;
    if (key == 3)
        return fail(cursor->error, EXIT_CODE_USAGE,
                    "%s: npy header, unknown key '%s': expected descr, fortran_order and shape",
                    cursor->path, name);
    if (*seen & 1u << key)
        return fail(cursor->error, EXIT_CODE_USAGE,
                    "%s: npy header, repeated key '%s': expected it once", cursor->path, name);
    *seen |= 1u << key;
    if (!take_letter(cursor, ':'))
        return fail_at(cursor, keys[key], "':'");
    return key == 0   ? parse_descr(cursor, form)
           : key == 1 ? parse_order(cursor, form)
                      : parse_shape(cursor, form);
}

bool npy_header_parse(const char *path, const char *text, size_t length, tensor_form *form,
                      error *err)
{
    header_cursor cursor = {path, text, text + length, err};
    unsigned seen = 0;
    bool comma = true;
    if (!take_letter(&cursor, '{'))
        return fail_at(&cursor, "begin", "'{'");
    while (!take_letter(&cursor, '}')) {
        if (!comma)
            return fail_at(&cursor, "dictionary", "',' or '}'");
        if (!parse_entry(&cursor, form, &seen))
            return false;
        comma = take_letter(&cursor, ',');
    }
    skip_blanks(&cursor);
    if (cursor.next != cursor.end)
        return fail_at(&cursor, "end", "nothing behind the dictionary");
    if (seen != 7)
        return fail(err, EXIT_CODE_USAGE,
                    "%s: npy header lacks %s: expected descr, fortran_order and shape", path,
                    !(seen & 1)   ? "descr"
                    : !(seen & 2) ? "fortran_order"
                                  : "shape");
    return true;
}

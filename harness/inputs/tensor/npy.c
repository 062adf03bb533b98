/* The format: numpy/lib/format.py, "Format Version 1.0" to "3.0". Ten or twelve bytes of magic,
 * version and header length, the header, then the elements. */
#include "inputs/tensor/internal.h"
#include "base/files.h"
#include <stdlib.h>
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

/* Reads the dictionary in text[0..length) of an .npy file. Errors name the file and the field. */
static bool npy_header_parse(const char *path, const char *text, size_t length, tensor_form *form,
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

enum { MAGIC_LENGTH = 8, HEADER_MOST = 1 << 20 };
static const char magic[] = "\x93NUMPY";

/* Magic, version and header length. */
static bool read_prefix(byte_source *source, size_t *header_length, error *err)
{
    unsigned char prefix[MAGIC_LENGTH], size[4] = {0};
    if (!bytes_take(source, prefix, sizeof prefix, "magic and version", err))
        return false;
    if (memcmp(prefix, magic, 6) != 0)
        return fail(err, EXIT_CODE_USAGE,
                    "%s: not an npy file: expected it to begin with \\x93NUMPY", source->path);
    if (prefix[6] < 1 || prefix[6] > 3 || prefix[7] != 0)
        return fail(err, EXIT_CODE_USAGE, "%s: npy version %d.%d: expected 1.0, 2.0 or 3.0",
                    source->path, prefix[6], prefix[7]);
    if (!bytes_take(source, size, prefix[6] == 1 ? 2 : 4, "header length", err))
        return false;
    *header_length = (size_t)little_endian(size, sizeof size);
    return *header_length <= HEADER_MOST ||
           fail(err, EXIT_CODE_USAGE, "%s: npy header is %zu bytes long: expected 1 MiB at most",
                source->path, *header_length);
}

bool npy_read_form(byte_source *source, tensor_form *form, error *err)
{
    size_t length = 0;
    if (!read_prefix(source, &length, err))
        return false;
    char *text = malloc(length + 1);
    if (!text)
        return fail_memory(err, "npy header");
    bool fine = bytes_take(source, text, length, "header", err) &&
                npy_header_parse(source->path, text, length, form, err);
    free(text);
    return fine;
}

enum { WRITTEN_HEADER_MOST = 1024 }; /* 32 sizes of 20 digits and what stands around them */

/* Prefix and header of version 1.0, padded to a multiple of 64. Returns its length. */
static size_t format_header(ln_type dtype, size_t dimensions, const size_t *shape,
                            char header[WRITTEN_HEADER_MOST])
{
    static const char *const descr[] = {
        [LN_F32] = "<f4", [LN_F64] = "<f8", [LN_BF16] = "<u2", [LN_F16] = "<f2"};
    size_t length = 10;
    length += (size_t)sprintf(header + length, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                              descr[dtype]);
    for (size_t i = 0; i < dimensions; i++)
        length += (size_t)sprintf(header + length, i == 0 ? "%zu," : " %zu,", shape[i]);
    if (dimensions > 1)
        length--; /* (3,) but (3, 4) */
    length += (size_t)sprintf(header + length, "), }");
    size_t padded = (length + 1 + 63) / 64 * 64;
    memset(header + length, ' ', padded - length);
    header[padded - 1] = '\n';
    memcpy(header, magic, 6);
    header[6] = 1;
    header[7] = 0;
    header[8] = (char)((padded - 10) & 0xff);
    header[9] = (char)((padded - 10) >> 8);
    return padded;
}

bool npy_write(const char *path, ln_type dtype, size_t dimensions, const size_t *shape,
               const void *data, error *err)
{
    char header[WRITTEN_HEADER_MOST];
    size_t elements = 1;
    if (dimensions > TENSOR_MAX_DIMENSIONS)
        return fail(err, EXIT_CODE_USAGE, "%s: %zu dimensions: expected %d at most", path,
                    dimensions, TENSOR_MAX_DIMENSIONS);
    if (!count_elements(path, dimensions, shape, dtype_size(dtype), &elements, err))
        return false;
    size_t length = format_header(dtype, dimensions, shape, header);
    size_t bytes = elements * dtype_size(dtype);
    whole_file file;
    if (!whole_file_begin(&file, path, err))
        return false;
    fwrite(header, 1, length, file.stream);
    if (bytes > 0)
        fwrite(data, 1, bytes, file.stream);
    return whole_file_end(&file, true, err);
}

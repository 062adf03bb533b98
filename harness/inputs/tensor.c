/* One tensor of a file: which form it has, its type, and its elements, row behind row. Where a file is not what
 * it should be, die() says what was expected. */
#include "inputs/tensor.h"
#include "base/die.h"
#include "base/program.h"
#include "inputs/inputs.h"
#include "metrics/storage.h"
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "elements are read as they lie");

enum {
    ALIGNMENT = 64,
    CHUNK = 1 << 15,
    DEFLATE_MOST = 1032, /* bytes that one packed byte can become: zlib.net/zlib_tech.html */
};

/* ---- the bytes of one tensor ---- */

/* In order, and none beyond: all of a file, a part of it, or what a part of it unpacks to (RFC 1951, by zlib). */
typedef struct byte_source {
    FILE *file;
    const char *path; /* as the user wrote it, with the tensor's name */
    arena *memory;
    uint64_t stored, left; /* bytes still in the file, and still to come out */
    bool is_member;        /* of an archive that says what its checksum is */
    bool is_deflated;
    uLong checksum, expected_checksum;
    unsigned char piece[CHUNK]; /* of the file, where it is unpacked */
    z_stream unpacker;
} byte_source;

/* What a header says of the elements behind it. */
typedef struct tensor_form {
    char descr[24]; /* "<f4"; "BF16" */
    bool is_fortran;
    size_t dimensions;
    size_t shape[TENSOR_MAX_DIMENSIONS];
} tensor_form;

static uint64_t little_endian(const unsigned char *bytes, size_t at, size_t count)
{
    uint64_t value = 0;
    while (count > 0)
        value = value << 8 | bytes[at + --count];
    return value;
}

/* Of what was read of a field there are too few bytes. */
static _Noreturn void die_short(const byte_source *source, const char *field)
{
    if (ferror(source->file))
        die(EXIT_CODE_ENVIRONMENT, "%s: %s", source->path, strerror(errno));
    die(EXIT_CODE_USAGE, "%s: the file ends in its %s: it is truncated", source->path, field);
}

static void bytes_seek(byte_source *source, uint64_t place)
{
    if (fseeko(source->file, (off_t)place, SEEK_SET) != 0)
        die(EXIT_CODE_ENVIRONMENT, "%s: %s", source->path, strerror(errno));
}

static void *take_for_zlib(void *memory, unsigned count, unsigned size)
{
    return arena_take(memory, count, size);
}

static void leave_to_arena(void *memory, void *place)
{
    (void)memory, (void)place;
}

/* One step; `room` bytes may come out. Returns zlib's status. */
static int unpack(byte_source *source, unsigned char *to, uInt room, const char *field)
{
    z_stream *unpacker = &source->unpacker;
    if (unpacker->avail_in == 0 && source->stored > 0) {
        size_t count = source->stored < CHUNK ? (size_t)source->stored : CHUNK;
        if (fread(source->piece, 1, count, source->file) != count)
            die_short(source, field);
        source->stored -= count;
        unpacker->next_in = source->piece;
        unpacker->avail_in = (uInt)count;
    }
    unpacker->next_out = to;
    unpacker->avail_out = room;
    int status = inflate(unpacker, Z_NO_FLUSH);
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
        die(EXIT_CODE_USAGE, "%s: its packed bytes are damaged: %s", source->path,
            unpacker->msg ? unpacker->msg : "no deflate data");
    return status;
}

/* Takes `count` bytes. `field`: what is being read. */
static void bytes_take(byte_source *source, void *to, size_t count, const char *field)
{
    enum { STEP = 1 << 30 };
    if (count > source->left ||
        (!source->is_deflated && fread(to, 1, count, source->file) != count))
        die_short(source, field);
    source->left -= count;
    for (unsigned char *at = to; count > 0;) {
        uInt step = count < STEP ? (uInt)count : STEP;
        if (source->is_deflated) {
            int status = unpack(source, at, step, field);
            step -= source->unpacker.avail_out;
            if (step == 0 && (status != Z_OK || source->stored == 0))
                die(EXIT_CODE_USAGE,
                    "%s: its packed bytes end in its %s: %llu bytes more were expected",
                    source->path, field, (unsigned long long)count);
        }
        if (source->is_member)
            source->checksum = crc32(source->checksum, at, step);
        at += step;
        count -= step;
    }
}

/* The tensors that a file has: their number, and their names for an error, "x, y, gamma". */
typedef struct name_list {
    char text[200];
    size_t count;
} name_list;

static void name_list_add(name_list *list, const char *name, size_t length)
{
    size_t used = strlen(list->text), room = sizeof list->text - used;
    const char *before = list->count++ > 0 ? ", " : "";
    if (used == 0 || length + 8 < room)
        snprintf(list->text + used, room, "%s%.*s", before, (int)(length < 100 ? length : 100),
                 name);
    else if (room > 6 && strcmp(list->text + used - 3, "...") != 0)
        snprintf(list->text + used, room, ", ...");
}

/* A wrong name, or none where there are several. */
static _Noreturn void die_of_name(const char *path, const char *name, const name_list *names)
{
    if (names->count == 0)
        die(EXIT_CODE_USAGE, "%s: holds no tensor: expected what numpy.savez or safetensors writes",
            path);
    if (name)
        die(EXIT_CODE_USAGE, "%s: holds no tensor '%.100s': it has %s", path, name, names->text);
    die(EXIT_CODE_USAGE, "%s: holds %zu tensors: expected one of their names, %s:NAME (%s)", path,
        names->count, path, names->text);
}

/* ---- npy: numpy/lib/format.py, "Format Version 1.0" to "3.0" ---- */

/* Ten or twelve bytes of magic, version and header length, the header, then the elements. */
enum { MAGIC_LENGTH = 8, HEADER_MOST = 1 << 20 };
static const char magic[] = "\x93NUMPY";

typedef struct header_cursor {
    const char *path, *next, *end;
} header_cursor;

static _Noreturn void die_at(const header_cursor *cursor, const char *field, const char *expected)
{
    size_t left = (size_t)(cursor->end - cursor->next);
    die(EXIT_CODE_USAGE, "%s: npy header, %s: expected %s, found '%.*s'", cursor->path, field,
        expected, left ? (int)(left < 16 ? left : 16) : 16, left ? cursor->next : "its end");
}

/* Takes this word, after blanks, where it stands next. */
static bool take_word(header_cursor *cursor, const char *word)
{
    const size_t length = strlen(word);
    while (cursor->next < cursor->end && *cursor->next && strchr(" \t\r\n", *cursor->next))
        cursor->next++;
    if ((size_t)(cursor->end - cursor->next) < length || memcmp(cursor->next, word, length) != 0)
        return false;
    cursor->next += length;
    return true;
}

/* A quoted string without escapes. */
static void take_string(header_cursor *cursor, const char *field, char string[24])
{
    char quote = take_word(cursor, "'") ? '\'' : take_word(cursor, "\"") ? '"' : '\0';
    if (!quote)
        die_at(cursor, field, "a quoted string");
    const char *end = memchr(cursor->next, quote, (size_t)(cursor->end - cursor->next));
    size_t length = end ? (size_t)(end - cursor->next) : SIZE_MAX;
    if (length >= 24 || memchr(cursor->next, '\\', length))
        die_at(cursor, field, "a short quoted string");
    memcpy(string, cursor->next, length);
    string[length] = '\0';
    cursor->next = end + 1;
}

/* (), (3,), (3, 4) or (3, 4,) */
static void take_shape(header_cursor *cursor, tensor_form *form)
{
    bool comma = true;
    if (!take_word(cursor, "("))
        die_at(cursor, "shape", "a tuple such as (3, 4)");
    while (!take_word(cursor, ")")) {
        const char *const begin = cursor->next; /* behind blanks */
        size_t value = 0;
        if (!comma)
            die_at(cursor, "shape", "',' or ')'");
        if (form->dimensions == TENSOR_MAX_DIMENSIONS)
            die_at(cursor, "shape", "at most 32 dimensions");
        for (; cursor->next < cursor->end && *cursor->next >= '0' && *cursor->next <= '9';
             cursor->next++)
            if (__builtin_mul_overflow(value, (size_t)10, &value) ||
                __builtin_add_overflow(value, (size_t)(*cursor->next - '0'), &value))
                die_at(cursor, "shape", "a size that fits this machine");
        if (cursor->next == begin)
            die_at(cursor, "shape", "a size or ')'");
        take_word(cursor, "L");
        form->shape[form->dimensions++] = value;
        comma = take_word(cursor, ",");
    }
    if (form->dimensions == 1 && !comma)
        die_at(cursor, "shape", "a tuple such as (3,), its comma was missing");
}

static const char *const keys[] = {"descr", "fortran_order", "shape"};

static void take_entry(header_cursor *cursor, tensor_form *form, unsigned *seen)
{
    char name[24];
    unsigned key = 0;
    take_string(cursor, "key", name);
    while (key < 3 && strcmp(name, keys[key]) != 0)
        key++;
    if (key == 3)
        die(EXIT_CODE_USAGE,
            "%s: npy header, unknown key '%s': expected descr, fortran_order and shape",
            cursor->path, name);
    if (*seen & 1u << key)
        die(EXIT_CODE_USAGE, "%s: npy header, repeated key '%s': expected it once", cursor->path,
            name);
    *seen |= 1u << key;
    if (!take_word(cursor, ":"))
        die_at(cursor, keys[key], "':'");
    if (key == 2) {
        take_shape(cursor, form);
    } else if (key == 1) {
        form->is_fortran = take_word(cursor, "True");
        if (!form->is_fortran && !take_word(cursor, "False"))
            die_at(cursor, "fortran_order", "True or False");
    } else {
        if (take_word(cursor, "["))
            die_at(cursor, "descr", "a plain type such as '<f4'");
        take_string(cursor, "descr", form->descr);
    }
}

/* Magic, version, and the dictionary in the header; the elements come next. */
static void npy_open(byte_source *source, tensor_form *form)
{
    unsigned char prefix[MAGIC_LENGTH], size[4] = {0};
    unsigned seen = 0;
    bool comma = true;
    bytes_take(source, prefix, sizeof prefix, "magic and version");
    if (memcmp(prefix, magic, 6) != 0)
        die(EXIT_CODE_USAGE, "%s: not an npy file: expected it to begin with \\x93NUMPY",
            source->path);
    if (prefix[6] < 1 || prefix[6] > 3 || prefix[7] != 0)
        die(EXIT_CODE_USAGE, "%s: npy version %d.%d: expected 1.0, 2.0 or 3.0", source->path,
            prefix[6], prefix[7]);
    bytes_take(source, size, prefix[6] == 1 ? 2 : 4, "header length");
    const size_t length = (size_t)little_endian(size, 0, sizeof size);
    if (length > HEADER_MOST)
        die(EXIT_CODE_USAGE, "%s: npy header is %zu bytes long: expected 1 MiB at most",
            source->path, length);
    char *text = arena_new(source->memory, char, length + 1);
    bytes_take(source, text, length, "header");
    header_cursor cursor = {source->path, text, text + length};
    if (!take_word(&cursor, "{"))
        die_at(&cursor, "begin", "'{'");
    while (!take_word(&cursor, "}")) {
        if (!comma)
            die_at(&cursor, "dictionary", "',' or '}'");
        take_entry(&cursor, form, &seen);
        comma = take_word(&cursor, ",");
    }
    take_word(&cursor, "");
    if (cursor.next != cursor.end)
        die_at(&cursor, "end", "nothing behind the dictionary");
    if (seen != 7)
        die(EXIT_CODE_USAGE, "%s: npy header lacks %s: expected descr, fortran_order and shape",
            source->path, keys[__builtin_ctz(~seen)]);
}

/* ---- npz: a zip file, APPNOTE.TXT 6.3.9 (pkware.com/appnote), sections 4.3 and 4.5.3 ---- */

enum {
    END_LENGTH = 22,
    END64_LENGTH = 56,
    LOCATOR_LENGTH = 20,
    ENTRY_LENGTH = 46,
    LOCAL_LENGTH = 30,
    COMMENT_MOST = 0xffff,
    REST_MOST = 2 * 0xffff, /* a name and extra fields */
    STORED = 0,
    DEFLATED = 8,
};

/* The directory at the end of the file decides; what stands before an entry's bytes must agree. */
typedef struct zip_directory {
    uint64_t place, size, count;
} zip_directory;

typedef struct zip_entry {
    uint64_t packed, unpacked, place; /* bytes; its own header in the file */
    unsigned flags, method;
    uLong checksum;
    size_t name_length;
    unsigned char rest[REST_MOST]; /* name, then extra fields */
} zip_entry;

static _Noreturn void die_damaged(const byte_source *source, const char *what)
{
    die(EXIT_CODE_USAGE, "%s: damaged or truncated archive: %s", source->path, what);
}

/* `count` bytes at a place of the file, where they are there. */
static void take_at(byte_source *source, uint64_t place, void *to, size_t count, const char *what)
{
    if (place > source->stored || count > source->stored - place)
        die_damaged(source, what);
    source->left = count;
    bytes_seek(source, place);
    bytes_take(source, to, count, what);
}

/* The record that ends the archive is the last one whose comment reaches to the end of the file. Where it has too
 * little room for a number, another one has it. */
static zip_directory find_directory(byte_source *source)
{
    static const char what[] = "expected its zip64 end of the directory";
    const size_t length = source->stored < END_LENGTH + COMMENT_MOST ? (size_t)source->stored
                                                                     : END_LENGTH + COMMENT_MOST;
    const uint64_t begin = source->stored - length;
    unsigned char *tail = arena_new(source->memory, unsigned char, length + 1), *record = NULL;
    unsigned char locator[LOCATOR_LENGTH], record64[END64_LENGTH];
    take_at(source, begin, tail, length, "expected its end");
    for (size_t at = length; !record && at >= END_LENGTH; at--) {
        unsigned char *next = tail + at - END_LENGTH;
        if (memcmp(next, "PK\5\6", 4) == 0 && little_endian(next, 20, 2) == length - at)
            record = next;
    }
    if (!record)
        die_damaged(source, "it does not end as a zip file does");
    const uint64_t end = begin + (uint64_t)(record - tail);
    zip_directory directory = {little_endian(record, 16, 4), little_endian(record, 12, 4),
                               little_endian(record, 10, 2)};
    if (directory.place == 0xffffffff || directory.size == 0xffffffff ||
        directory.count == 0xffff) {
        take_at(source, end < LOCATOR_LENGTH ? UINT64_MAX : end - LOCATOR_LENGTH, locator,
                sizeof locator, what);
        if (memcmp(locator, "PK\6\7", 4) != 0)
            die_damaged(source, what);
        take_at(source, little_endian(locator, 8, 8), record64, sizeof record64, what);
        if (memcmp(record64, "PK\6\6", 4) != 0)
            die_damaged(source, what);
        directory = (zip_directory){little_endian(record64, 48, 8), little_endian(record64, 40, 8),
                                    little_endian(record64, 32, 8)};
    }
    if (directory.place > end || directory.size > end - directory.place)
        die_damaged(source, "its directory lies outside of the file");
    return directory;
}

/* Sizes and place of an entry that are too large for its record stand in an extra field, in turn. */
static bool read_extra64(const unsigned char *extra, size_t length, zip_entry *entry)
{
    uint64_t *const wide[] = {&entry->unpacked, &entry->packed, &entry->place};
    for (size_t at = 0; at + 4 <= length;) {
        size_t size = (size_t)little_endian(extra, at + 2, 2), next = at + 4;
        if (size > length - next)
            return false;
        for (size_t i = 0; little_endian(extra, at, 2) == 1 && i < 3; i++) {
            if (*wide[i] != 0xffffffff)
                continue;
            if (next + 8 > at + 4 + size)
                return false;
            *wide[i] = little_endian(extra, next, 8);
            next += 8;
        }
        at += 4 + size;
    }
    return true;
}

/* The entry at *place of the directory, which moves to the next. */
static void read_entry(byte_source *source, const zip_directory *directory, uint64_t *place,
                       zip_entry *entry)
{
    static const char what[] = "an entry of its directory is cut off";
    unsigned char record[ENTRY_LENGTH];
    const uint64_t end = directory->place + directory->size;
    if (end - *place < ENTRY_LENGTH)
        die_damaged(source, what);
    take_at(source, *place, record, sizeof record, what);
    if (memcmp(record, "PK\1\2", 4) != 0)
        die_damaged(source, "its directory has no entry where one was expected");
    const size_t extra = (size_t)little_endian(record, 30, 2);
    entry->name_length = (size_t)little_endian(record, 28, 2);
    const size_t length =
        ENTRY_LENGTH + entry->name_length + extra + (size_t)little_endian(record, 32, 2);
    if (length > end - *place)
        die_damaged(source, what);
    take_at(source, *place + ENTRY_LENGTH, entry->rest, entry->name_length + extra, what);
    entry->flags = (unsigned)little_endian(record, 8, 2);
    entry->method = (unsigned)little_endian(record, 10, 2);
    entry->checksum = (uLong)little_endian(record, 16, 4);
    entry->packed = little_endian(record, 20, 4);
    entry->unpacked = little_endian(record, 24, 4);
    entry->place = little_endian(record, 42, 4);
    *place += length;
    if (!read_extra64(entry->rest + entry->name_length, extra, entry))
        die_damaged(source, "an extra field of its directory is cut off");
}

/* Finds the entry NAME.npy, or without a name the only one. */
static zip_entry *find_entry(byte_source *source, const zip_directory *directory, const char *name)
{
    zip_entry *entry = arena_new(source->memory, zip_entry, 1),
              *found = arena_new(source->memory, zip_entry, 1);
    const size_t wanted = name ? strlen(name) : 0;
    uint64_t place = directory->place;
    name_list names = {{0}, 0};
    size_t matches = 0;
    for (uint64_t i = 0; i < directory->count; i++) {
        read_entry(source, directory, &place, entry);
        const size_t length = entry->name_length < 4 ? 0 : entry->name_length - 4;
        if (length == 0 || memcmp(entry->rest + length, ".npy", 4) != 0)
            continue;
        name_list_add(&names, (const char *)entry->rest, length);
        if (name &&
            ((wanted != length && wanted != length + 4) || memcmp(entry->rest, name, wanted) != 0))
            continue;
        if (matches++ == 0)
            *found = *entry;
    }
    if (matches > 1 && name)
        die(EXIT_CODE_USAGE, "%s: the archive has this name twice: expected it once", source->path);
    if (matches != 1)
        die_of_name(source->path, name, &names);
    return found;
}

/* Leaves the source at the first byte of the archive's NAME.npy. */
static void npz_open(byte_source *source, const char *name)
{
    static const char what[] = "the array's own header was expected where the directory says";
    const zip_directory directory = find_directory(source);
    const zip_entry *found = find_entry(source, &directory, name);
    unsigned char record[LOCAL_LENGTH], *own = arena_new(source->memory, unsigned char, REST_MOST);
    if (found->flags & 1)
        die(EXIT_CODE_USAGE, "%s: is encrypted: expected a plain archive", source->path);
    if (found->method != STORED && found->method != DEFLATED)
        die(EXIT_CODE_USAGE,
            "%s: packed by method %u: expected stored (0) or deflated (8), as numpy.savez writes",
            source->path, found->method);
    take_at(source, found->place, record, sizeof record, what);
    if (memcmp(record, "PK\3\4", 4) != 0 || little_endian(record, 8, 2) != found->method ||
        little_endian(record, 26, 2) != found->name_length)
        die_damaged(source, what);
    take_at(source, found->place + LOCAL_LENGTH, own, found->name_length, what);
    if (memcmp(own, found->rest, found->name_length) != 0)
        die_damaged(source, what);
    const uint64_t begin =
        found->place + LOCAL_LENGTH + found->name_length + little_endian(record, 28, 2);
    if (begin > directory.place || found->packed > directory.place - begin)
        die_damaged(source, "the array reaches beyond the file's arrays");
    if (found->method == STORED && found->packed != found->unpacked)
        die_damaged(source, "two sizes for an array that is not packed");
    bytes_seek(source, begin);
    source->is_member = true;
    source->checksum = crc32(0, NULL, 0);
    source->expected_checksum = found->checksum;
    source->stored = found->packed;
    source->left = found->unpacked;
    source->is_deflated = found->method == DEFLATED;
    if (!source->is_deflated)
        return;
    if (source->left / DEFLATE_MOST > source->stored)
        die(EXIT_CODE_USAGE,
            "%s: claims to unpack %llu bytes to %llu: at most %d times as many were expected",
            source->path, (unsigned long long)source->stored, (unsigned long long)source->left,
            DEFLATE_MOST);
    source->unpacker =
        (z_stream){.zalloc = take_for_zlib, .zfree = leave_to_arena, .opaque = source->memory};
    if (inflateInit2(&source->unpacker, -MAX_WBITS) != Z_OK)
        memory_is_out(0);
}

/* ---- safetensors: huggingface.co/docs/safetensors, "Format" ---- */

enum { PREFIX = 8, JSON_MOST = 16 << 20 };

static _Noreturn void die_of_entry(const byte_source *source, const char *name, const char *what)
{
    die(EXIT_CODE_USAGE, "%s: safetensors header, tensor '%.100s': %s", source->path, name, what);
}

/* Where a tensor begins behind the header; *size: its bytes. */
static uint64_t span_of(const byte_source *source, const char *name, json_t *entry, uint64_t *size)
{
    json_t *offsets = json_object_get(entry, "data_offsets");
    json_t *begin = json_array_get(offsets, 0), *end = json_array_get(offsets, 1);
    if (json_array_size(offsets) != 2 || !json_is_integer(begin) || !json_is_integer(end) ||
        json_integer_value(begin) < 0 || json_integer_value(end) < json_integer_value(begin))
        die_of_entry(source, name, "data_offsets: expected two offsets, [BEGIN, END]");
    *size = (uint64_t)(json_integer_value(end) - json_integer_value(begin));
    if ((uint64_t)json_integer_value(end) > source->left)
        die_of_entry(source, name,
                     "data_offsets: lie outside of the file; it is truncated or damaged");
    return (uint64_t)json_integer_value(begin);
}

/* Eight bytes with the length of a header in JSON, which gives each tensor's type, shape and place in the bytes
 * behind it. Leaves the source at the first element of the tensor. */
static void safetensors_open(byte_source *source, const char *name, tensor_form *form)
{
    unsigned char prefix[PREFIX];
    const char *key, *only = NULL;
    json_error_t where;
    json_t *entry;
    name_list names = {{0}, 0};
    uint64_t used = 0, size;
    bytes_take(source, prefix, sizeof prefix, "header length");
    const uint64_t length = little_endian(prefix, 0, PREFIX);
    if (length > JSON_MOST)
        die(EXIT_CODE_USAGE,
            "%s: no safetensors file, or a header of %llu bytes: expected 16 MiB at most",
            source->path, (unsigned long long)length);
    char *text = arena_new(source->memory, char, (size_t)length + 1);
    bytes_take(source, text, (size_t)length, "header");
    json_t *header = json_loadb(text, (size_t)length, JSON_REJECT_DUPLICATES, &where);
    if (!json_is_object(header))
        die(EXIT_CODE_USAGE, "%s: safetensors header: expected an object in JSON: %s", source->path,
            header ? "it is none" : where.text);
    json_object_del(header, "__metadata__");
    json_object_foreach(header, key, entry)
    {
        name_list_add(&names, key, strlen(key));
        only = key;
        span_of(source, key, entry, &size);
        used += size;
    }
    key = name ? name : only;
    entry = key ? json_object_get(header, key) : NULL;
    if (!entry || (!name && names.count > 1))
        die_of_name(source->path, name, &names);
    if (used != source->left)
        die(EXIT_CODE_USAGE,
            "%s: safetensors header: its tensors have %llu bytes, and %llu are there: it is "
            "truncated or damaged",
            source->path, (unsigned long long)used, (unsigned long long)source->left);
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    const json_t *shape = json_object_get(entry, "shape");
    if (!dtype || strlen(dtype) >= sizeof form->descr)
        die_of_entry(source, key, "dtype: expected a type such as \"F32\"");
    strcpy(form->descr, dtype);
    if (!json_is_array(shape) || json_array_size(shape) > TENSOR_MAX_DIMENSIONS)
        die_of_entry(source, key, "shape: expected at most 32 sizes, such as [4, 768]");
    form->dimensions = json_array_size(shape);
    for (size_t i = 0; i < form->dimensions; i++) {
        const json_t *extent = json_array_get(shape, i);
        if (!json_is_integer(extent) || json_integer_value(extent) < 0)
            die_of_entry(source, key, "shape: expected sizes, such as [4, 768]");
        form->shape[i] = (size_t)json_integer_value(extent);
    }
    const uint64_t begin = span_of(source, key, entry, &size);
    bytes_seek(source, PREFIX + length + begin);
    source->stored = source->left = size;
    json_decref(header);
}

/* ---- a tensor ---- */

static void *aligned(arena *memory, size_t bytes)
{
    char *taken = arena_new(memory, char, bytes + ALIGNMENT);
    return taken + (-(uintptr_t)taken & (ALIGNMENT - 1));
}

static ln_type type_of(const tensor_request *request, const char *descr)
{
    static const struct {
        const char *numpy, *safetensors;
        ln_type dtype;
    } known[] = {{"f4", "F32", LN_F32},
                 {"f8", "F64", LN_F64},
                 {"f2", "F16", LN_F16},
                 {"V2", "BF16", LN_BF16}};
    bool has_order = descr[0] && strchr("<>|", descr[0]);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(descr, known[i].safetensors) == 0 ||
            (has_order && strcmp(descr + 1, known[i].numpy) == 0))
            return known[i].dtype;
    if (strcmp(descr, "U16") != 0 && (!has_order || strcmp(descr + 1, "u2") != 0))
        die(EXIT_CODE_USAGE,
            "%s: dtype '%s': expected f4, f8, f2 or bf16 (V2 or BF16; or its bits in u2)",
            request->path, descr);
    if (!request->u2_is_bf16)
        die(EXIT_CODE_USAGE,
            "%s: dtype '%s' does not say what it holds: expected --dtypes bf16 for the bits of "
            "bf16",
            request->path, descr);
    return LN_BF16;
}

/* The product of the shape, whose bytes can be counted. A zero anywhere makes it zero. */
static size_t count_elements(const char *path, size_t dimensions, const size_t *shape,
                             size_t element_size)
{
    const size_t most = (SIZE_MAX / 2 - ALIGNMENT) / element_size;
    size_t product = 1;
    for (size_t i = 0; i < dimensions; i++)
        if (shape[i] == 0)
            return 0;
    for (size_t i = 0; i < dimensions; i++) {
        if (shape[i] > most / product)
            die(EXIT_CODE_USAGE, "%s: shape has more elements than this machine can address", path);
        product *= shape[i];
    }
    return product;
}

/* Puts the axes of a row last. */
static void order_axes(tensor_array *array, const tensor_axes *axes, const char *path)
{
    static const tensor_axes last = {.count = 1, .values = {-1}};
    bool in_row[TENSOR_MAX_DIMENSIONS] = {false};
    char shape[128];
    size_t count = 0;
    axes = axes ? axes : &last;
    array->hidden = 1;
    for (size_t i = 0; array->dimensions > 0 && i < axes->count; i++) {
        const long long value = axes->values[i], dimensions = (long long)array->dimensions;
        const long long place = value < 0 ? value + dimensions : value;
        if (place < 0 || place >= dimensions)
            die(EXIT_CODE_USAGE, "%s: shape %s has no axis %lld", path,
                tensor_shape_text(array, shape), value);
        if (in_row[place])
            die(EXIT_CODE_USAGE, "--axis: axis %lld twice: expected it once", value);
        in_row[place] = true;
        array->row_axes++;
        array->hidden *= array->shape[place];
    }
    for (int row = 0; row < 2; row++)
        for (size_t i = 0; i < array->dimensions; i++)
            if (in_row[i] == row)
                array->order[count++] = i;
}

/* Where elements lie that come in another order: the axes from the fastest one on, and how far apart two
 * neighbours along each lie in memory. */
typedef struct element_path {
    size_t count, size[TENSOR_MAX_DIMENSIONS], step[TENSOR_MAX_DIMENSIONS];
} element_path;

static size_t place_of(const element_path *path, size_t i)
{
    size_t place = 0;
    for (size_t axis = 0; axis < path->count; i /= path->size[axis++])
        place += i % path->size[axis] * path->step[axis];
    return place;
}

/* The path of elements that come in the order of the file. False: they lie in that order. */
static bool path_of(const tensor_array *array, bool is_fortran, element_path *path)
{
    size_t steps[TENSOR_MAX_DIMENSIONS], step = 1, expected = 1;
    bool straight = true;
    *path = (element_path){.count = array->dimensions};
    for (size_t i = array->dimensions; i-- > 0;) {
        steps[array->order[i]] = step;
        step *= array->shape[array->order[i]];
    }
    for (size_t i = 0; i < path->count; i++) {
        size_t axis = is_fortran ? i : path->count - 1 - i;
        path->size[i] = array->shape[axis];
        path->step[i] = steps[axis];
        straight = straight && (path->size[i] == 1 || path->step[i] == expected);
        expected *= path->size[i];
    }
    return !straight;
}

/* Takes memory only after it checked that the file has as many bytes as the shape says: a damaged shape may need any
 * amount. */
static void take_elements(byte_source *source, const tensor_form *form, tensor_array *array)
{
    const size_t size = dtype_size(array->dtype), bytes = array->elements * size;
    unsigned char chunk[CHUNK];
    element_path path;
    if (source->left != bytes)
        die(EXIT_CODE_USAGE,
            "%s: holds %llu bytes of elements: dtype and shape ask for %zu, it is %s", source->path,
            (unsigned long long)source->left, bytes,
            source->left < bytes ? "truncated" : "too long");
    char *data = array->data = aligned(source->memory, bytes);
    const bool scattered = path_of(array, form->is_fortran, &path);
    if (!scattered)
        bytes_take(source, data, bytes, "elements");
    for (size_t done = 0; scattered && done < array->elements;) {
        const size_t left = array->elements - done,
                     count = left < CHUNK / size ? left : CHUNK / size;
        bytes_take(source, chunk, count * size, "elements");
        for (size_t i = 0; i < count; i++)
            memcpy(data + place_of(&path, done++) * size, chunk + i * size, size);
    }
    for (size_t i = 0; form->descr[0] == '>' && i < bytes; i += size)
        for (size_t j = 0; j < size / 2; j++) {
            char byte = data[i + j];
            data[i + j] = data[i + size - 1 - j];
            data[i + size - 1 - j] = byte;
        }
    /* Of a member: that its packed bytes end where its bytes do, and the checksum. */
    unsigned char more;
    int status = source->is_deflated ? Z_OK : Z_STREAM_END;
    while (status == Z_OK) {
        status = unpack(source, &more, 1, "end");
        if (source->unpacker.avail_out == 0)
            die(EXIT_CODE_USAGE, "%s: unpacks to more bytes than the archive's directory says",
                source->path);
    }
    if (source->is_member &&
        (source->checksum != source->expected_checksum || status != Z_STREAM_END))
        die(EXIT_CODE_USAGE, "%s: its checksum is not the archive's: it is damaged", source->path);
}

/* Finds the form of the file by its first bytes or by its ending, and leaves the source at the elements. */
static void find_form(byte_source *source, tensor_form *form)
{
    unsigned char begin[6];
    const size_t archive = input_archive_length(source->path);
    const bool has_name = archive > 0 && source->path[archive] == ':';
    const char *name = has_name ? source->path + archive + 1 : NULL;
    bytes_seek(source, 0);
    const size_t got = fread(begin, 1, sizeof begin, source->file);
    bytes_seek(source, 0);
    if (got >= 4 && (memcmp(begin, "PK\3\4", 4) == 0 || memcmp(begin, "PK\5\6", 4) == 0)) {
        npz_open(source, name);
        npy_open(source, form);
    } else if (archive > 0 && source->path[archive - 1] == 's') {
        safetensors_open(source, name, form);
    } else if (ferror(source->file)) {
        die(EXIT_CODE_ENVIRONMENT, "%s: %s", source->path, strerror(errno));
    } else if (got == 0 || memcmp(begin, magic, got) != 0) {
        die(EXIT_CODE_USAGE,
            "%s: not an npy, npz or safetensors file: expected it to begin with \\x93NUMPY or PK, "
            "or to be called FILE.safetensors",
            source->path);
    } else if (has_name) {
        die(EXIT_CODE_USAGE, "%s: is one npy array: expected no name behind it", source->path);
    } else {
        npy_open(source, form);
    }
}

void tensor_read_open(arena *memory, FILE *file, const tensor_request *request, tensor_array *array)
{
    byte_source source = {.file = file, .path = request->path, .memory = memory};
    tensor_form form = {0};
    off_t size = fseeko(file, 0, SEEK_END) == 0 ? ftello(file) : -1;
    if (size < 0)
        die(EXIT_CODE_ENVIRONMENT, "%s: %s", request->path, strerror(errno));
    source.stored = source.left = (uint64_t)size;
    find_form(&source, &form);
    *array = (tensor_array){.dtype = type_of(request, form.descr), .dimensions = form.dimensions};
    memcpy(array->shape, form.shape, sizeof array->shape);
    array->elements =
        count_elements(source.path, form.dimensions, form.shape, dtype_size(array->dtype));
    order_axes(array, request->axes, request->path);
    take_elements(&source, &form, array);
}

void tensor_read(arena *memory, const tensor_request *request, tensor_array *array)
{
    struct stat status;
    const size_t archive = input_archive_length(request->path);
    const char *path = arena_format(
        memory, "%.*s", (int)(archive > 0 ? archive : strlen(request->path)), request->path);
    if (stat(path, &status) != 0)
        die(EXIT_CODE_ENVIRONMENT, "%s: %s", request->path, strerror(errno));
    if (!S_ISREG(status.st_mode)) /* also keeps open() from waiting at a pipe */
        die(EXIT_CODE_USAGE, "%s: not a regular file: expected an npy, npz or safetensors file",
            request->path);
    FILE *file = fopen(path, "rb");
    if (!file)
        die(EXIT_CODE_ENVIRONMENT, "%s: %s", request->path, strerror(errno));
    tensor_read_open(memory, file, request, array);
    fclose(file);
}

/* ---- axes and shapes ---- */

void tensor_axes_parse(const char *text, tensor_axes *axes)
{
    const char *at = text ? text : "-1";
    char *end;
    *axes = (tensor_axes){0};
    for (;; at = end + 1) {
        errno = 0;
        long long value = strtoll(at, &end, 10);
        if (end == at || errno != 0 || axes->count == TENSOR_MAX_DIMENSIONS ||
            (*end && *end != ','))
            die(EXIT_CODE_USAGE, "--axis %.100s: expected numbers such as -1 or 1,2", text);
        axes->values[axes->count++] = value;
        if (!*end)
            return;
    }
}

const char *tensor_shape_text(const tensor_array *array, char buffer[128])
{
    size_t at = (size_t)snprintf(buffer, 128, "(");
    for (size_t i = 0; i < array->dimensions && at < 100; i++)
        at += (size_t)snprintf(buffer + at, 128 - at, "%s%zu", i ? ", " : "", array->shape[i]);
    snprintf(buffer + at, 128 - at, "%s)", array->dimensions == 1 ? "," : "");
    return buffer;
}

void tensor_same_shape(const tensor_array *x, const tensor_array *other, const char *path,
                       const char *option)
{
    char wanted[128], given[128];
    bool same = x->dimensions == other->dimensions;
    for (size_t i = 0; same && i < x->dimensions; i++)
        same = x->shape[i] == other->shape[i];
    if (!same)
        die(EXIT_CODE_USAGE, "%s (--%s): shape %s; %s was expected, as x has", path, option,
            tensor_shape_text(other, given), tensor_shape_text(x, wanted));
}

void tensor_has_rows(const tensor_array *array, const char *path)
{
    char shape[128];
    if (array->dimensions == 0)
        die(EXIT_CODE_USAGE,
            "%s: a single number, without axes (shape ()): expected at least one row, such as "
            "shape (1, 768)",
            path);
    if (array->elements == 0)
        die(EXIT_CODE_USAGE,
            "%s: shape %s has no elements: expected at least one row of at least one", path,
            tensor_shape_text(array, shape));
}

/* Where the elements of a row of x find theirs of the parameter; along an axis of which it has one element for
 * all, the step is 0. false: it does not broadcast. */
static bool broadcast_path(const tensor_array *x, const tensor_array *parameter, element_path *path)
{
    const size_t row_axes = x->row_axes, count = parameter->dimensions;
    const size_t *order = x->order + (x->dimensions - row_axes);
    const bool whole =
        count > row_axes; /* it has axes for all of x's, and not those of a row alone */
    const size_t axes = whole ? x->dimensions : row_axes;
    size_t step = 1;
    *path = (element_path){.count = row_axes};
    for (size_t i = 0; i < row_axes; i++)
        path->size[i] = x->shape[order[row_axes - 1 - i]];
    if (count > axes)
        return false;
    for (size_t i = axes; i-- > axes - count;) {
        const size_t size = parameter->shape[i - (axes - count)];
        size_t place = whole ? 0 : i;
        while (whole && place < row_axes && order[place] != i)
            place++;
        if (size == 1)
            continue;
        if (place == row_axes || size != x->shape[order[place]])
            return false;
        path->step[row_axes - 1 - place] = step;
        step *= size;
    }
    return true;
}

void tensor_broadcast(arena *memory, const tensor_array *x, tensor_array *parameter,
                      const char *path, const char *option)
{
    const size_t size = dtype_size(parameter->dtype);
    char shape[128], row[128];
    element_path from;
    tensor_array one = {.dimensions = x->row_axes};
    if (parameter->dimensions == 1 && parameter->elements == x->hidden)
        return;
    if (!broadcast_path(x, parameter, &from)) {
        for (size_t i = 0; i < x->row_axes; i++)
            one.shape[i] = from.size[x->row_axes - 1 - i];
        die(EXIT_CODE_USAGE, "%s (--%s): shape %s; %s was expected, or what broadcasts to it", path,
            option, tensor_shape_text(parameter, shape), tensor_shape_text(&one, row));
    }
    char *to = aligned(memory, x->hidden * size);
    for (size_t i = 0; i < x->hidden; i++)
        memcpy(to + i * size, (const char *)parameter->data + place_of(&from, i) * size, size);
    parameter->data = to;
    parameter->elements = x->hidden;
}

/* ---- elements ---- */

/* The first element that is no number of the type, which all others are stored in; none: the count. */
static size_t store_all(const tensor_array *array, ln_type type, void *to)
{
    double room;
    for (size_t i = 0; i < array->elements; i++) {
        double value = storage_load(array->dtype, array->data, i);
        void *place = to ? to : &room;
        storage_store(type, place, to ? i : 0, value);
        if (!isnan(value) && storage_load(type, place, to ? i : 0) != value)
            return i;
    }
    return array->elements;
}

bool tensor_converts(const tensor_array *array, ln_type type)
{
    return array->dtype == type || store_all(array, type, NULL) == array->elements;
}

void tensor_convert(arena *memory, tensor_array *array, ln_type type, const char *whose,
                    const char *path, const char *option)
{
    static const char *const descr[] = {
        [LN_F32] = "f4", [LN_F64] = "f8", [LN_BF16] = "bf16", [LN_F16] = "f2"};
    if (array->dtype == type)
        return;
    void *to = aligned(memory, array->elements * dtype_size(type));
    size_t i = store_all(array, type, to);
    if (i < array->elements)
        die(EXIT_CODE_USAGE,
            "%s (--%s): element %zu, %.17g, is not exact in %s, %s: round it and save it as %s",
            path, option, i, storage_load(array->dtype, array->data, i), dtype_name(type), whose,
            descr[type]);
    array->data = to;
    array->dtype = type;
}

void tensor_is_finite(const tensor_array *array, const char *path, const char *option)
{
    for (size_t i = 0; i < array->elements; i++)
        if (!isfinite(storage_load(array->dtype, array->data, i)))
            die(EXIT_CODE_USAGE, "%s (--%s): element %zu is %g: expected finite numbers", path,
                option, i, storage_load(array->dtype, array->data, i));
}

void input_rows_of_file(const char *path, ln_type type, size_t first, size_t count, size_t hidden,
                        void *x)
{
    const tensor_request request = {.path = path, .u2_is_bf16 = type == LN_BF16};
    const size_t row_bytes = hidden * dtype_size(type);
    tensor_array array;
    arena memory = {0};
    tensor_read(&memory, &request, &array);
    tensor_has_rows(&array, path);
    if (array.hidden != hidden)
        die(EXIT_CODE_USAGE, "%s: last axis is %zu long: expected hidden %zu", path, array.hidden,
            hidden);
    for (size_t i = 0; i < count; i++) {
        size_t row = (first + i) % (array.elements / hidden);
        char *to = (char *)x + i * row_bytes;
        if (array.dtype == type) { /* bit for bit */
            memcpy(to, (const char *)array.data + row * row_bytes, row_bytes);
            continue;
        }
        for (size_t c = 0; c < hidden; c++) { /* rounded; what is finite must stay so */
            const double value = storage_load(array.dtype, array.data, row * hidden + c);
            storage_store(type, to, c, value);
            if (isfinite(value) && !isfinite(storage_load(type, to, c)))
                die(EXIT_CODE_USAGE, "%s: element %zu is %g: beyond %s, whose largest number is %s",
                    path, row * hidden + c, value, dtype_name(type),
                    type == LN_F16 ? "65504" : "3.4e38");
        }
    }
    arena_free(&memory);
}

void input_file_shape(const char *path, size_t *rows, size_t *hidden)
{
    /* Of u2 the shape is known, whatever it holds. */
    const tensor_request request = {.path = path, .u2_is_bf16 = true};
    tensor_array array;
    arena memory = {0};
    tensor_read(&memory, &request, &array);
    tensor_has_rows(&array, path);
    *hidden = array.hidden;
    *rows = array.elements / array.hidden;
    arena_free(&memory);
}

/* ---- writing ---- */

void npy_write(const char *path, ln_type dtype, size_t dimensions, const size_t *shape,
               const void *data)
{
    enum { HEADER = 1024 }; /* 32 sizes of 20 digits and what stands around them */
    static const char *const descr[] = {
        [LN_F32] = "<f4", [LN_F64] = "<f8", [LN_BF16] = "<u2", [LN_F16] = "<f2"};
    char header[HEADER];
    size_t length = 10;
    whole_file file;
    if (dimensions > TENSOR_MAX_DIMENSIONS)
        die(EXIT_CODE_USAGE, "%s: %zu dimensions: expected %d at most", path, dimensions,
            TENSOR_MAX_DIMENSIONS);
    const size_t bytes =
        count_elements(path, dimensions, shape, dtype_size(dtype)) * dtype_size(dtype);
    length += (size_t)sprintf(header + length, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                              descr[dtype]);
    for (size_t i = 0; i < dimensions; i++)
        length += (size_t)sprintf(header + length, i == 0 ? "%zu," : " %zu,", shape[i]);
    length -= dimensions > 1; /* (3,) but (3, 4) */
    length += (size_t)sprintf(header + length, "), }");
    const size_t padded = (length + 1 + 63) / 64 * 64;
    memset(header + length, ' ', padded - length);
    header[padded - 1] = '\n';
    memcpy(header, "\x93NUMPY\1\0", MAGIC_LENGTH);
    header[8] = (char)((padded - 10) & 0xff);
    header[9] = (char)((padded - 10) >> 8);
    whole_file_begin(&file, path);
    fwrite(header, 1, padded, file.stream);
    fwrite(data, 1, bytes, file.stream);
    whole_file_end(&file);
}

void tensor_write(const char *path, ln_type dtype, const tensor_array *x, const void *rows)
{
    const size_t size = dtype_size(dtype);
    element_path order;
    arena memory = {0};
    if (path_of(x, false, &order)) {
        char *to = arena_new(&memory, char, x->elements *size);
        for (size_t i = 0; i < x->elements; i++)
            memcpy(to + i * size, (const char *)rows + place_of(&order, i) * size, size);
        rows = to;
    }
    npy_write(path, dtype, x->dimensions, x->shape, rows);
    arena_free(&memory);
}

/* Reads one tensor of a file: its format, its type, and its elements, row after row. If a file is invalid, die() says
 * what was expected. */
#include "inputs/tensor.h"
#include "base/die.h"
#include "base/program.h"
#include "inputs/inputs.h"
#include "metrics/storage.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "elements are copied without conversion");

enum {
    ALIGNMENT = 64,
    DEFLATE_MOST = 1032, /* the most bytes that one packed byte gives: zlib.net/zlib_tech.html */
};

/* ---- the bytes of one tensor ---- */

/* The bytes of a file, of a part of it, or of an unpacked part. */
typedef struct byte_range {
    const char *path; /* the user's path, with the tensor's name */
    const unsigned char *bytes;
    uint64_t count;
} byte_range;

/* The description of the elements in a header. */
typedef struct tensor_form {
    char descr[24]; /* "<f4"; "BF16" */
    bool is_fortran;
    size_t dimensions;
    size_t shape[TENSOR_MAX_DIMENSIONS];
} tensor_form;

static _Noreturn void die_damaged(const byte_range *file, const char *what)
{
    die(EXIT_CODE_USAGE, "%s: truncated or damaged: %s", file->path, what);
}

/* Removes the first bytes of a range and returns them. */
static const unsigned char *take(byte_range *from, uint64_t count)
{
    const unsigned char *taken = from->bytes;
    if (count > from->count)
        die_damaged(from, "it ends too early");
    from->bytes += count;
    from->count -= count;
    return taken;
}

static const unsigned char *at_place(byte_range file, uint64_t place, uint64_t count)
{
    take(&file, place);
    return take(&file, count);
}

static uint64_t little_endian(const unsigned char *bytes, size_t at, size_t count)
{
    uint64_t value = 0;
    while (count > 0)
        value = value << 8 | bytes[at + --count];
    return value;
}

/* The tensors of a file: their number, and the first names for an error, "x, y, gamma". */
typedef struct name_list {
    char text[200];
    size_t count;
} name_list;

static void name_list_add(name_list *list, const char *name, size_t length)
{
    const size_t used = strlen(list->text);
    snprintf(list->text + used, sizeof list->text - used, "%s%.*s", list->count++ ? ", " : "",
             (int)(length < 100 ? length : 100), name);
}

/* Ends the program because the name is wrong, or missing although there are several tensors. */
static _Noreturn void die_of_name(const char *path, const char *name, const name_list *names)
{
    if (names->count == 0)
        die(EXIT_CODE_USAGE, "%s: holds no tensors: expected at least one", path);
    if (name)
        die(EXIT_CODE_USAGE, "%s: holds no tensor '%.100s': it has %s", path, name, names->text);
    die(EXIT_CODE_USAGE, "%s: holds %zu tensors: expected one of their names, %s:NAME (%s)", path,
        names->count, path, names->text);
}

/* ---- headers ---- */

static json_t *parse_header(const byte_range *file, const char *text, size_t length)
{
    json_error_t why;
    json_t *header = json_loadb(text, length, JSON_REJECT_DUPLICATES, &why);
    if (!header)
        die(EXIT_CODE_USAGE, "%s: its header is damaged: %s", file->path, why.text);
    return header;
}

static void take_form(const byte_range *file, const char *descr, const json_t *shape,
                      tensor_form *form)
{
    bool is_shape = json_is_array(shape) && json_array_size(shape) <= TENSOR_MAX_DIMENSIONS;
    form->dimensions = is_shape ? json_array_size(shape) : 0;
    for (size_t i = 0; i < form->dimensions; i++) {
        const json_t *extent = json_array_get(shape, i);
        is_shape = is_shape && json_is_integer(extent) && json_integer_value(extent) >= 0;
        form->shape[i] = (size_t)json_integer_value(extent);
    }
    if (!is_shape)
        die(EXIT_CODE_USAGE, "%s: its header's shape: expected at most %d sizes, such as (4, 768)",
            file->path, TENSOR_MAX_DIMENSIONS);
    snprintf(form->descr, sizeof form->descr, "%s", descr);
}

/* ---- npy: numpy/lib/format.py, "Format Version 1.0" to "3.0" ---- */

/* A file is ten or twelve bytes of magic, version and header length, then the header, then the elements. */
enum { MAGIC_LENGTH = 8 };

/* Turns a Python dictionary of strings, numbers, truth values and tuples into JSON. */
static void python_to_json(char *text)
{
    char *last = text; /* the last character that was no blank */
    for (char *at = text; *at; at++) {
        if (strncmp(at, "True", 4) == 0 || strncmp(at, "False", 5) == 0)
            *at = (char)tolower(*at);
        else if (*at == 'L' && isdigit((unsigned char)*last)) /* a long integer of Python 2 */
            *at = ' ';
        *at = *at == '\'' ? '"' : *at == '(' ? '[' : *at == ')' ? ']' : *at;
        if ((*at == ']' || *at == '}') && *last == ',')
            *last = ' ';
        last = isspace((unsigned char)*at) ? last : at;
    }
}

/* Reads magic, version, and the dictionary in the header; the range then begins with the elements. */
static void npy_open(arena *memory, byte_range *file, tensor_form *form)
{
    const bool is_npy = file->count >= MAGIC_LENGTH && memcmp(file->bytes, "\x93NUMPY", 6) == 0;
    const unsigned version = is_npy ? file->bytes[6] : 0;
    const size_t width = version == 1 ? 2 : 4;
    const char *descr;
    json_error_t why;
    json_t *shape;
    int is_fortran;
    if (version < 1 || version > 3)
        die(EXIT_CODE_USAGE,
            "%s: not an npy, npz or safetensors file: expected it to begin with \\x93NUMPY and "
            "version 1, 2 or 3, or with PK, or to be called FILE.safetensors",
            file->path);
    take(file, MAGIC_LENGTH);
    const size_t length = (size_t)little_endian(take(file, width), 0, width);
    const unsigned char *dictionary = take(file, length);
    char *text = memcpy(arena_new(memory, char, length + 1), dictionary, length);
    python_to_json(text);
    json_t *header = parse_header(file, text, length);
    if (json_unpack_ex(header, &why, 0, "{s:s, s:b, s:o}", "descr", &descr, "fortran_order",
                       &is_fortran, "shape", &shape) != 0)
        die(EXIT_CODE_USAGE, "%s: its header is damaged: %s", file->path, why.text);
    take_form(file, descr, shape, form);
    form->is_fortran = is_fortran;
    json_decref(header);
}

/* ---- npz: a zip file, APPNOTE.TXT 6.3.9 (pkware.com/appnote), sections 4.3 and 4.5.3 ---- */

enum {
    END_LENGTH = 22,
    END64_LENGTH = 56,
    LOCATOR_LENGTH = 20,
    ENTRY_LENGTH = 46,
    LOCAL_LENGTH = 30,
    COMMENT_MOST = 0xffff,
    STORED = 0,
    DEFLATED = 8,
};

/* An array's entry in the directory at the end of the file. */
typedef struct zip_entry {
    uint64_t packed, unpacked; /* bytes */
    uint64_t place;            /* offset of the array's own header in the file */
    uint64_t method, checksum;
    const char *name; /* not terminated */
    size_t name_length;
} zip_entry;

/* Finds the directory by the archive's end record, which is the last one whose comment reaches to the end of the file.
 * If a number is too large for it, the zip64 end record has it. */
static byte_range find_directory(byte_range file, uint64_t *entries)
{
    const unsigned char *end = NULL;
    for (uint64_t behind = 0; !end && behind <= COMMENT_MOST && behind + END_LENGTH <= file.count;
         behind++) {
        const unsigned char *next = file.bytes + (file.count - behind - END_LENGTH);
        if (memcmp(next, "PK\5\6", 4) == 0 && little_endian(next, 20, 2) == behind)
            end = next;
    }
    if (!end)
        die_damaged(&file, "it does not end as a zip file does");
    uint64_t place = little_endian(end, 16, 4);
    *entries = little_endian(end, 10, 2);
    if (place == 0xffffffff || *entries == 0xffff) {
        const unsigned char *locator =
            at_place(file, (uint64_t)(end - file.bytes) - LOCATOR_LENGTH, LOCATOR_LENGTH);
        const unsigned char *end64 = at_place(file, little_endian(locator, 8, 8), END64_LENGTH);
        place = little_endian(end64, 48, 8);
        *entries = little_endian(end64, 32, 8);
    }
    take(&file, place);
    return file;
}

/* Reads the next entry of a directory. Numbers that are too large for it are in an extra field, one after the other. */
static zip_entry take_entry(byte_range *directory)
{
    const unsigned char *record = take(directory, ENTRY_LENGTH);
    zip_entry entry = {.method = little_endian(record, 10, 2),
                       .checksum = little_endian(record, 16, 4),
                       .packed = little_endian(record, 20, 4),
                       .unpacked = little_endian(record, 24, 4),
                       .place = little_endian(record, 42, 4),
                       .name_length = (size_t)little_endian(record, 28, 2)};
    uint64_t *const wide[] = {&entry.unpacked, &entry.packed, &entry.place};
    entry.name = (const char *)take(directory, entry.name_length);
    byte_range extra = {.path = directory->path, .count = little_endian(record, 30, 2)};
    extra.bytes = take(directory, extra.count);
    take(directory, little_endian(record, 32, 2));
    while (extra.count >= 4) {
        const unsigned char *head = take(&extra, 4);
        byte_range field = {.path = directory->path, .count = little_endian(head, 2, 2)};
        field.bytes = take(&extra, field.count);
        for (size_t i = 0; little_endian(head, 0, 2) == 1 && i < 3; i++)
            if (*wide[i] == 0xffffffff)
                *wide[i] = little_endian(take(&field, 8), 0, 8);
    }
    return entry;
}

/* Finds NAME.npy, or the only array if there is no name. */
static zip_entry find_entry(byte_range file, const char *name)
{
    uint64_t entries;
    byte_range directory = find_directory(file, &entries);
    const size_t wanted = name ? strlen(name) : 0;
    zip_entry found = {0};
    name_list names = {{0}, 0};
    for (uint64_t i = 0; i < entries; i++) {
        const zip_entry entry = take_entry(&directory);
        const size_t length = entry.name_length < 4 ? 0 : entry.name_length - 4;
        if (length == 0 || memcmp(entry.name + length, ".npy", 4) != 0)
            continue;
        name_list_add(&names, entry.name, length);
        if (!name ||
            ((wanted == length || wanted == length + 4) && memcmp(entry.name, name, wanted) == 0))
            found = entry;
    }
    if (!found.name || (!name && names.count > 1))
        die_of_name(file.path, name, &names);
    return found;
}

/* Unpacks the bytes of an entry (RFC 1951, with zlib). */
static const unsigned char *unpack(arena *memory, const byte_range *file, const zip_entry *entry,
                                   const unsigned char *packed)
{
    enum { STEP = 1 << 30 };
    if (entry->unpacked / DEFLATE_MOST > entry->packed)
        die_damaged(file, "its packed size differs from its header");
    unsigned char *to = arena_new(memory, unsigned char, entry->unpacked + 1);
    z_stream unpacker = {.next_in = (unsigned char *)packed, .next_out = to};
    if (inflateInit2(&unpacker, -MAX_WBITS) != Z_OK)
        memory_is_out(0);
    int status = Z_OK;
    while (status == Z_OK) {
        const uint64_t in = entry->packed - unpacker.total_in,
                       out = entry->unpacked + 1 - unpacker.total_out;
        unpacker.avail_in = (uInt)(in < STEP ? in : STEP);
        unpacker.avail_out = (uInt)(out < STEP ? out : STEP);
        status = inflate(&unpacker, Z_NO_FLUSH);
    }
    if (status != Z_STREAM_END || unpacker.total_out != entry->unpacked)
        die_damaged(file, "its packed size differs from its header");
    inflateEnd(&unpacker);
    return to;
}

/* Reduces the range from the archive to its NAME.npy. */
static void npz_open(arena *memory, byte_range *file, const char *name)
{
    const zip_entry entry = find_entry(*file, name);
    const unsigned char *local = at_place(*file, entry.place, LOCAL_LENGTH);
    const uint64_t begin =
        entry.place + LOCAL_LENGTH + little_endian(local, 26, 2) + little_endian(local, 28, 2);
    const unsigned char *bytes = at_place(*file, begin, entry.packed);
    if (entry.method != STORED && entry.method != DEFLATED)
        die(EXIT_CODE_USAGE,
            "%s: packed by method %d: expected stored (0) or deflated (8), as numpy.savez writes",
            file->path, (int)entry.method);
    file->bytes = entry.method == STORED ? bytes : unpack(memory, file, &entry, bytes);
    file->count = entry.method == STORED ? entry.packed : entry.unpacked;
    if (crc32_z(0, file->bytes, file->count) != entry.checksum)
        die_damaged(file, "its checksum is not the archive's");
}

/* ---- safetensors: huggingface.co/docs/safetensors, "Format" ---- */

/* Reads the length of the header (eight bytes) and the header, JSON with each tensor's type, shape and place in the
 * bytes that follow. Reduces the range to the elements of the tensor. */
static void safetensors_open(byte_range *file, const char *name, tensor_form *form)
{
    const size_t length = (size_t)little_endian(take(file, 8), 0, 8);
    json_t *header = parse_header(file, (const char *)take(file, length), length);
    json_t *entry, *shape, *found = NULL;
    const char *key, *dtype;
    json_int_t begin, end, last = 0;
    json_error_t why;
    name_list names = {{0}, 0};
    json_object_del(header, "__metadata__");
    json_object_foreach(header, key, entry)
    {
        name_list_add(&names, key, strlen(key));
        found = !name || strcmp(key, name) == 0 ? entry : found;
        if (json_unpack(entry, "{s:[I,I]}", "data_offsets", &begin, &end) == 0 && end > last)
            last = end;
    }
    if (!found || (!name && names.count > 1))
        die_of_name(file->path, name, &names);
    if (json_unpack_ex(found, &why, 0, "{s:s, s:o, s:[I,I!]}", "dtype", &dtype, "shape", &shape,
                       "data_offsets", &begin, &end) != 0)
        die(EXIT_CODE_USAGE, "%s: its header is damaged: %s", file->path, why.text);
    if (begin < 0 || end < begin || (uint64_t)last != file->count)
        die_damaged(file, "its size does not match its tensors");
    take_form(file, dtype, shape, form);
    json_decref(header);
    file->bytes += begin;
    file->count = (uint64_t)(end - begin);
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

/* Returns the product of the shape, or ends the program if its bytes would overflow. A zero anywhere makes it zero. */
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

/* Orders the axes so that those of a row are last. */
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

/* The places in memory of elements that come in another order: the axes from the fastest one on, and for each the
 * distance of two neighbours. */
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

/* Finds the path of elements in the order of the file. False: memory has the same order. */
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

/* Copies the elements. Checks first that the file has the bytes that the shape needs, since a damaged shape could
 * require any amount of memory. */
static void take_elements(arena *memory, const byte_range *file, const tensor_form *form,
                          tensor_array *array)
{
    const size_t size = dtype_size(array->dtype), bytes = array->elements * size;
    element_path path;
    if (file->count != bytes)
        die(EXIT_CODE_USAGE,
            "%s: holds %llu bytes of elements, but dtype and shape need %zu: the file is %s",
            file->path, (unsigned long long)file->count, bytes,
            file->count < bytes ? "truncated" : "too long");
    char *data = array->data = aligned(memory, bytes);
    if (!path_of(array, form->is_fortran, &path))
        memcpy(data, file->bytes, bytes);
    else
        for (size_t i = 0; i < array->elements; i++)
            memcpy(data + place_of(&path, i) * size, file->bytes + i * size, size);
    for (size_t i = 0; form->descr[0] == '>' && i < bytes; i += size)
        for (size_t j = 0; j < size / 2; j++) {
            char byte = data[i + j];
            data[i + j] = data[i + size - 1 - j];
            data[i + size - 1 - j] = byte;
        }
}

void tensor_read_bytes(arena *memory, const void *bytes, size_t size, const tensor_request *request,
                       tensor_array *array)
{
    const char *path = request->path;
    const size_t archive = input_archive_length(path);
    const char *name = archive > 0 && path[archive] == ':' ? path + archive + 1 : NULL;
    byte_range file = {path, bytes, size};
    tensor_form form = {0};
    if (size >= 4 && (memcmp(bytes, "PK\3\4", 4) == 0 || memcmp(bytes, "PK\5\6", 4) == 0)) {
        npz_open(memory, &file, name);
        npy_open(memory, &file, &form);
    } else if (archive > 0 && path[archive - 1] == 's') {
        safetensors_open(&file, name, &form);
    } else {
        npy_open(memory, &file, &form);
        if (name)
            die(EXIT_CODE_USAGE, "%s: is one npy array: expected no :NAME after it", path);
    }
    *array = (tensor_array){.dtype = type_of(request, form.descr), .dimensions = form.dimensions};
    memcpy(array->shape, form.shape, sizeof array->shape);
    array->elements = count_elements(path, form.dimensions, form.shape, dtype_size(array->dtype));
    order_axes(array, request->axes, path);
    take_elements(memory, &file, &form, array);
}

void tensor_read(arena *memory, const tensor_request *request, tensor_array *array)
{
    struct stat status;
    const size_t archive = input_archive_length(request->path);
    const char *path = arena_format(
        memory, "%.*s", (int)(archive > 0 ? archive : strlen(request->path)), request->path);
    const int number = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe does not block */
    FILE *file = number < 0 ? NULL : fdopen(number, "rb");
    if (!file || fstat(number, &status) != 0)
        die(EXIT_CODE_ENVIRONMENT, "%s: %s", request->path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        die(EXIT_CODE_USAGE, "%s: not a regular file: expected an npy, npz or safetensors file",
            request->path);
    const size_t size = (size_t)status.st_size;
    void *bytes = allocate(size + 1);
    if (fread(bytes, 1, size, file) != size)
        die(EXIT_CODE_ENVIRONMENT, "%s: cannot read it: %s", request->path,
            ferror(file) ? strerror(errno) : "it became shorter meanwhile");
    fclose(file);
    tensor_read_bytes(memory, bytes, size, request, array);
    free(bytes);
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
        die(EXIT_CODE_USAGE, "%s (--%s): shape %s; expected that of x, %s", path, option,
            tensor_shape_text(other, given), tensor_shape_text(x, wanted));
}

void tensor_has_rows(const tensor_array *array, const char *path)
{
    char shape[128];
    if (array->dimensions == 0 || array->elements == 0)
        die(EXIT_CODE_USAGE,
            "%s: shape %s has no rows or no elements: expected at least one of each, such as (1, "
            "768)",
            path, tensor_shape_text(array, shape));
}

/* Finds the parameter's elements for the elements of a row of x; the step is 0 along an axis for which the parameter
 * has only one. False: it does not broadcast. */
static bool broadcast_path(const tensor_array *x, const tensor_array *parameter, element_path *path)
{
    const size_t row_axes = x->row_axes, count = parameter->dimensions;
    const size_t *order = x->order + (x->dimensions - row_axes);
    const bool whole = count > row_axes; /* its axes are those of x, not only those of a row */
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

/* Stores elements in another type. Returns the index of the first one that is not exact in it; none: the count. */
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
            "%s (--%s): element %zu (%.17g) is not exact in %s, %s: save rounded elements as %s",
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
        for (size_t c = 0; c < hidden; c++) { /* rounded; finite numbers must stay finite */
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
    /* The shape of u2 is known, whatever its bits mean. */
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
    enum { HEADER = 1024 }; /* room for 32 sizes of 20 digits and the rest */
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

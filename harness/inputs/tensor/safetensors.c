/* One tensor of a .safetensors file (huggingface.co/docs/safetensors, "Format"): eight bytes with the
 * length of a header in JSON, which gives each tensor's type, shape and place in the bytes behind it.
 * These are used up without gaps. */
#include "inputs/tensor/internal.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { PREFIX = 8, HEADER_MOST = 16 << 20 };

typedef struct byte_span {
    uint64_t begin, end;
} byte_span;

static bool fail_entry(const byte_source *source, const char *name, const char *what, error *err)
{
    return fail(err, EXIT_CODE_USAGE, "%s: safetensors header, tensor '%.100s': %s", source->path,
                name, what);
}

static bool read_span(const byte_source *source, const char *name, json_t *entry, byte_span *span,
                      error *err)
{
    json_t *offsets = json_object_get(entry, "data_offsets");
    json_t *begin = json_array_get(offsets, 0), *end = json_array_get(offsets, 1);
    if (json_array_size(offsets) != 2 || !json_is_integer(begin) || !json_is_integer(end) ||
        json_integer_value(begin) < 0 || json_integer_value(end) < json_integer_value(begin))
        return fail_entry(source, name, "data_offsets: expected two places, [BEGIN, END]", err);
    *span = (byte_span){(uint64_t)json_integer_value(begin), (uint64_t)json_integer_value(end)};
    return span->end <= source->left ||
           fail_entry(source, name,
                      "data_offsets: lie outside of the file; it is truncated or damaged", err);
}

static int by_place(const void *one, const void *other)
{
    const byte_span *a = one, *b = other;
    return a->begin != b->begin ? (a->begin > b->begin) - (a->begin < b->begin)
                                : (a->end > b->end) - (a->end < b->end);
}

/* Each byte behind the header belongs to one tensor. */
static bool check_spans(const byte_source *source, json_t *header, error *err)
{
    const char *name;
    json_t *entry;
    byte_span *spans = malloc((json_object_size(header) + 1) * sizeof *spans);
    size_t count = 0;
    uint64_t next = 0;
    bool fine = spans || fail_memory(err, "a safetensors header");
    json_object_foreach(header, name, entry)
    {
        if (fine && strcmp(name, "__metadata__") != 0)
            fine = read_span(source, name, entry, &spans[count++], err);
    }
    if (fine)
        qsort(spans, count, sizeof *spans, by_place);
    for (size_t i = 0; fine && i < count; next = spans[i++].end)
        if (spans[i].begin != next)
            fine = fail(err, EXIT_CODE_USAGE,
                        "%s: safetensors header: data_offsets %s at byte %llu: expected each byte "
                        "in one tensor",
                        source->path, spans[i].begin < next ? "overlap" : "leave a gap",
                        (unsigned long long)(spans[i].begin < next ? spans[i].begin : next));
    free(spans);
    return fine &&
           (next == source->left ||
            fail(err, EXIT_CODE_USAGE,
                 "%s: %llu bytes behind the last tensor: expected none; it is truncated or damaged",
                 source->path, (unsigned long long)(source->left - next)));
}

static bool read_form(const byte_source *source, const char *name, json_t *entry, tensor_form *form,
                      error *err)
{
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    json_t *shape = json_object_get(entry, "shape");
    if (!dtype || strlen(dtype) >= sizeof form->descr)
        return fail_entry(source, name, "dtype: expected a type such as \"F32\"", err);
    strcpy(form->descr, dtype);
    if (!json_is_array(shape) || json_array_size(shape) > TENSOR_MAX_DIMENSIONS)
        return fail_entry(source, name, "shape: expected at most 32 sizes, such as [4, 768]", err);
    form->dimensions = json_array_size(shape);
    for (size_t i = 0; i < form->dimensions; i++) {
        json_t *size = json_array_get(shape, i);
        if (!json_is_integer(size) || json_integer_value(size) < 0)
            return fail_entry(source, name, "shape: expected sizes, such as [4, 768]", err);
        form->shape[i] = (size_t)json_integer_value(size);
    }
    return true;
}

/* The tensor's own entry, and its bytes. */
static bool find_tensor(byte_source *source, const char *name, json_t *header, tensor_form *form,
                        error *err)
{
    const char *key, *only = NULL;
    json_t *entry;
    name_list names = {{0}, 0};
    byte_span span;
    json_object_foreach(header, key, entry)
    {
        if (strcmp(key, "__metadata__") == 0)
            continue;
        name_list_add(&names, key, strlen(key));
        only = key;
    }
    key = name ? name : only;
    entry = key && strcmp(key, "__metadata__") != 0 ? json_object_get(header, key) : NULL;
    if (!entry || (!name && names.count > 1))
        return fail_name(source->path, name, &names, err);
    uint64_t begin = (uint64_t)ftello(source->file);
    if (!check_spans(source, header, err) || !read_form(source, key, entry, form, err) ||
        !read_span(source, key, entry, &span, err) || !bytes_seek(source, begin + span.begin, err))
        return false;
    source->stored = source->left = span.end - span.begin;
    return true;
}

bool safetensors_open(byte_source *source, const char *name, tensor_form *form, error *err)
{
    unsigned char prefix[PREFIX];
    json_error_t where;
    if (!bytes_take(source, prefix, sizeof prefix, "header length", err))
        return false;
    uint64_t length = little_endian(prefix, PREFIX);
    if (length > HEADER_MOST)
        return fail(err, EXIT_CODE_USAGE,
                    "%s: no safetensors file, or a header of %llu bytes: expected 16 MiB at most",
                    source->path, (unsigned long long)length);
    char *text = malloc((size_t)length + 1);
    if (!text)
        return fail_memory(err, "a safetensors header");
    if (!bytes_take(source, text, (size_t)length, "header", err)) {
        free(text);
        return false;
    }
    json_t *header = json_loadb(text, (size_t)length, JSON_REJECT_DUPLICATES, &where);
    free(text);
    bool fine =
        json_is_object(header)
            ? find_tensor(source, name, header, form, err)
            : fail(err, EXIT_CODE_USAGE, "%s: safetensors header: expected an object in JSON: %s",
                   source->path, header ? "it is none" : where.text);
    json_decref(header);
    return fine;
}

/* Worst rows of an exported run. */
#include "exchange/run_read_internal.h"
#include "base/allocate.h"
#include <stdlib.h>
#include <string.h>

/* A hex digit's value; -1: none. */
static int digit_of(char digit)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = digit ? strchr(digits, digit) : NULL;
    return at ? (int)(at - digits) : -1;
}

bool read_tensor(const file_reader *reader, json_t *record, read_tensors *tensors)
{
    json_t *value = json_object_get(record, "bits");
    size_t length = json_string_length(value);
    const char *hex = json_string_value(value);
    if (!hex || length == 0 || length % 4 != 0)
        return reader_bad(reader, "\"bits\" is missing or no bytes of numbers in hex");
    tensors->tensors = allocate_room(tensors->tensors, tensors->count, sizeof *tensors->tensors);
    unsigned char *bits = allocate(length / 2);
    tensors->tensors[tensors->count++] = (tensor_file){bits, length / 2};
    for (size_t i = 0; i < length / 2; i++) {
        int high = digit_of(hex[2 * i]), low = digit_of(hex[2 * i + 1]);
        if (high < 0 || low < 0)
            return reader_bad(reader, "\"bits\" has what is no hex digit");
        bits[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

/* A copy of the tensor that a key names by its number; null is none. */
static bool take_tensor(const file_reader *reader, json_t *record, const char *key,
                        const read_tensors *tensors, stored_tensor *taken)
{
    uint64_t number;
    json_t *value = json_object_get(record, key);
    if (!value || json_is_null(value))
        return true;
    if (tensors->count == 0)
        return reader_bad(reader, "a worst row before any tensor");
    if (!read_count(reader, record, key, tensors->count - 1, &number))
        return false;
    const tensor_file *from = &tensors->tensors[number];
    *taken = (stored_tensor){allocate_copy(from->bits, from->bytes), from->bytes};
    return true;
}

/* One element or one a column, of some type; or none. */
static bool is_parameter(size_t bytes, size_t hidden)
{
    for (size_t size = 2; size <= 8; size *= 2)
        if (bytes == size || bytes == hidden * size)
            return true;
    return bytes == 0;
}

/* All parameters that are there are equally long. */
static bool check(const file_reader *reader, const stored_worst *worst, const case_key *key)
{
    const operation *what = operations[key->operation];
    size_t row = key->hidden * dtype_size(key->dtype), parameter = 0;
    for (size_t i = 0; i < what->count; i++) {
        size_t bytes = worst->inputs[i].bytes;
        bool is_row = !role_is_parameter(&what->roles[i]);
        if (bytes == 0)
            continue;
        if (is_row ? bytes != row
                   : !is_parameter(bytes, key->hidden) || (parameter && bytes != parameter))
            return reader_bad(reader, "%s has %zu bytes at hidden %zu", what->roles[i].name, bytes,
                              key->hidden);
        if (!is_row)
            parameter = bytes;
    }
    return true;
}

bool read_worst(const file_reader *reader, json_t *record, const read_tensors *tensors)
{
    run_view *view = reader->view;
    uint64_t index;
    char hash[20];
    if (view->cases.count == 0)
        return reader_bad(reader, "a worst row before any case");
    if (!read_count(reader, record, "case", view->cases.count - 1, &index) ||
        !read_string(reader, record, "y_hash", hash, sizeof hash))
        return false;
    if (strlen(hash) != 16 || strspn(hash, "0123456789abcdef") != 16)
        return reader_bad(reader, "\"y_hash\" is not 16 hexadecimal digits");
    if (!view->worst)
        view->worst = allocate_zeroed(view->cases.count + 1, sizeof *view->worst);
    if (view_has_worst(view, (size_t)index))
        return reader_bad(reader, "case %zu has a worst row already", (size_t)index);
    stored_worst *worst = &view->worst[index];
    worst->y_hash = strtoull(hash, NULL, 16);
    const case_key *key = &view->cases.cases[index].key;
    const operation *what = operations[key->operation];
    for (size_t i = 0; i < what->count; i++)
        if (role_is_kept(&what->roles[i]) &&
            !take_tensor(reader, record, what->roles[i].name, tensors, &worst->inputs[i]))
            return false;
    return check(reader, worst, key);
}

void read_tensors_free(read_tensors *tensors)
{
    for (size_t i = 0; i < tensors->count; i++)
        free(tensors->tensors[i].bits);
    free(tensors->tensors);
    *tensors = (read_tensors){0};
}

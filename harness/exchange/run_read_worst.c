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

bool read_tensor(file_reader *reader, json_t *record)
{
    read_tensors *tensors = &reader->tensors;
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
                        stored_tensor *taken)
{
    size_t number;
    json_t *value = json_object_get(record, key);
    if (!value || json_is_null(value))
        return true;
    if (!reader_place(reader, record, key, reader->tensors.count, &number))
        return false;
    const tensor_file *from = &reader->tensors.tensors[number];
    *taken = (stored_tensor){allocate_copy(from->bits, from->bytes), from->bytes, 0};
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

bool read_worst(file_reader *reader, json_t *record)
{
    run_view *view = reader->view;
    size_t index;
    if (!reader_place(reader, record, "case", view->cases.count, &index))
        return false;
    if (!view->worst)
        view->worst = allocate_zeroed(view->cases.count + 1, sizeof *view->worst);
    if (view_has_worst(view, index))
        return reader_bad(reader, "case %zu has a worst row already", index);
    stored_worst *worst = &view->worst[index];
    const case_key *key = &view->cases.cases[index].key;
    const operation *what = operations[key->operation];
    if (!reader_take(reader, record, &hash_field, 1, worst))
        return false;
    for (size_t i = 0; i < what->count; i++)
        if (role_is_kept(&what->roles[i]) &&
            !take_tensor(reader, record, what->roles[i].name, &worst->inputs[i]))
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

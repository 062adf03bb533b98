/* Cases of exported runs, and what the readers of all records share. */
#include "exchange/run_read_internal.h"
#include "base/allocate.h"
#include "domain/metric_fields.h"
#include "base/number.h"
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool reader_bad(const file_reader *reader, const char *format, ...)
{
    char words[512], place[32] = "";
    va_list arguments;
    va_start(arguments, format);
    number_print_list(words, sizeof words, format, arguments);
    va_end(arguments);
    for (char *at = words; *at; at++) /* names come from the file: one line, and no escapes */
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            *at = '?';
    if (reader->line > 0)
        snprintf(place, sizeof place, ", line %zu", reader->line);
    return fail(reader->error, EXIT_CODE_ENVIRONMENT, "%s%s: %s", reader->path, place, words);
}

bool read_schema(const file_reader *reader, const char *schema, const char *present,
                 const char *older)
{
    if (strcmp(schema, older) == 0)
        return fail(reader->error, EXIT_CODE_ENVIRONMENT, "%s: " MADE_BY_OLDER, reader->path);
    return strcmp(schema, present) == 0 ||
           reader_bad(reader, "schema '%.60s': %s was expected", schema, present);
}

/* Says what a field's value may be. */
static bool bad_field(const file_reader *reader, const record_field *field)
{
    text_buffer words = {0};
    for (size_t i = 0; field->kind == FIELD_WORD && i <= field->most; i++)
        text_format(&words, "%s%s", i ? ", " : "", field->words[i]);
    switch (field->kind) {
    case FIELD_TEXT:
        reader_bad(reader, "\"%s\" is missing or no string of %zu to %zu bytes", field->key,
                   field->least, field->most);
        break;
    case FIELD_UNSIGNED:
    case FIELD_COUNT:
        reader_bad(reader, "\"%s\" is missing or no whole number from %zu to %zu", field->key,
                   field->least, field->most);
        break;
    case FIELD_REAL:
        reader_bad(reader, "\"%s\" is no number", field->key);
        break;
    case FIELD_WORD:
        reader_bad(reader, "\"%s\" is missing or none of %s", field->key, words.bytes);
        break;
    default:
        reader_bad(reader, "\"%s\" is not %s", field->key,
                   field->kind == FIELD_HASH ? "16 hexadecimal digits" : "a number in a string");
    }
    text_free(&words);
    return false;
}

/* A number in a string. */
static bool take_digits(field_kind kind, const char *text, void *place)
{
    size_t length = strspn(text, kind == FIELD_HASH ? "0123456789abcdef" : "0123456789");
    char *end = (char *)text + length;
    errno = 0;
    if (kind == FIELD_BITS)
        *(double *)place = number_read(text, &end);
    else
        *(uint64_t *)place = strtoull(text, NULL, kind == FIELD_HASH ? 16 : 10);
    return end > text && !*end && (kind != FIELD_HASH || length == 16) &&
           (kind == FIELD_BITS || !errno);
}

static bool take_field(const record_field *field, const json_t *value, void *place)
{
    const char *text = json_is_string(value) ? json_string_value(value) : NULL;
    /* What is negative is beyond all others. */
    uint64_t count = text                     ? json_string_length(value)
                     : json_is_integer(value) ? (uint64_t)json_integer_value(value)
                                              : UINT64_MAX;
    bool fits = count >= field->least && count <= field->most;
    switch (field->kind) {
    case FIELD_TEXT:
        if (text && fits)
            memcpy(place, text, count + 1);
        return text && fits;
    case FIELD_UNSIGNED:
        *(unsigned *)place = (unsigned)count;
        return !text && fits;
    case FIELD_COUNT:
        *(uint64_t *)place = count;
        return !text && fits;
    case FIELD_REAL:
        *(double *)place = json_is_number(value) ? json_number_value(value) : (double)NAN;
        return !value || json_is_null(value) || json_is_number(value);
    case FIELD_WORD:
        for (unsigned i = 0; text && i <= field->most; i++)
            if (strcmp(field->words[*(unsigned *)place = i], text) == 0)
                return true;
        return false;
    default:
        return text && take_digits(field->kind, text, place);
    }
}

bool reader_take(const file_reader *reader, json_t *object, const record_field *fields,
                 size_t count, void *into)
{
    for (size_t i = 0; i < count; i++)
        if (!take_field(&fields[i], json_object_get(object, fields[i].key),
                        (char *)into + fields[i].offset))
            return bad_field(reader, &fields[i]);
    return true;
}

bool reader_take_given(const file_reader *reader, json_t *object, const record_field *fields,
                       size_t count, void *into)
{
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_object_get(object, fields[i].key);
        if (value && !json_is_null(value) && !reader_take(reader, object, &fields[i], 1, into))
            return false;
    }
    return true;
}

bool reader_take_infinite(const file_reader *reader, json_t *object, const record_field *fields,
                          size_t count, void *into)
{
    size_t index;
    json_t *given;
    json_array_foreach(json_object_get(object, "infinite"), index, given)
    {
        const char *name = json_string_value(given);
        if (!name)
            return reader_bad(reader, "\"infinite\" has what is no name");
        for (size_t i = 0; i < count; i++)
            if (fields[i].kind == FIELD_REAL && strcmp(fields[i].key, name + (*name == '-')) == 0)
                *(double *)((char *)into + fields[i].offset) =
                    *name == '-' ? (double)-INFINITY : (double)INFINITY;
    }
    return true;
}

bool reader_place(const file_reader *reader, json_t *object, const char *key, size_t count,
                  size_t *place)
{
    const record_field field = {key, FIELD_COUNT, 0, 0, count - 1, NULL};
    if (count == 0)
        return reader_bad(reader, "\"%s\" names one of those before it, and there are none", key);
    return reader_take(reader, object, &field, 1, place);
}

bool read_fact(const file_reader *reader, const char *name, json_t *value)
{
    machine_facts *machine = &reader->view->machine;
    if (!json_is_string(value))
        return reader_bad(reader, "the fact \"%.60s\" is no string", name);
    machine_fact *fact = NULL;
    if (strlen(name) >= sizeof fact->name || json_string_length(value) >= sizeof fact->value)
        return reader_bad(reader, "the fact \"%.60s\" is too long", name);
    fact = machine_add_fact(machine);
    snprintf(fact->name, sizeof fact->name, "%s", name);
    snprintf(fact->value, sizeof fact->value, "%s", json_string_value(value));
    return true;
}

static bool read_key(const file_reader *reader, json_t *object, case_key *key)
{
    return reader_take(reader, object, case_key_fields, CASE_KEY_OPERATION, key) &&
           reader_take_given(reader, object, case_key_fields + CASE_KEY_OPERATION, 1, key);
}

static bool read_histogram(const file_reader *reader, json_t *counts, ln_metrics *metrics)
{
    char *text =
        counts && !json_is_null(counts) ? json_dumps(counts, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    bool fine = !text || metrics_histogram_parse(text, metrics);
    free(text);
    return fine || reader_bad(reader, "\"ulp_counts\" is no list of 1 to %d counts", ULP_BINS);
}

/* Published figures under "metrics", the others, if the file has them, under "further_metrics". */
static bool read_metrics(const file_reader *reader, json_t *object, ln_metrics *metrics)
{
    json_t *published = json_object_get(object, "metrics"),
           *further = json_object_get(object, "further_metrics");
    metrics_undefined(metrics);
    if (!published || json_is_null(published))
        return true;
    if (!json_is_object(published) ||
        (further && !json_is_null(further) && !json_is_object(further)))
        return reader_bad(reader, "\"metrics\" is no object");
    for (size_t i = 0; i < metric_count_all; i++) {
        const record_field field = metric_record(&metric_list[i]);
        if (!reader_take_given(reader, metric_list[i].published ? published : further, &field, 1,
                               metrics) ||
            !reader_take_infinite(reader, object, &field, 1, metrics))
            return false;
    }
    return read_histogram(reader, json_object_get(further, "ulp_counts"), metrics);
}

static bool read_verdict(const file_reader *reader, json_t *object, stored_case *stored)
{
    static const record_field hash = FIELD(HASH, stored_case, output_hash);
    bool pending = json_is_null(json_object_get(object, verdict_fields[0].key));
    verdict_words said = {"", "", ""};
    if (!reader_take(reader, object, verdict_fields + pending, VERDICT_FIELDS - pending, &said) ||
        !reader_take(reader, object, &bound_field, 1, stored) ||
        !reader_take_infinite(reader, object, &bound_field, 1, stored) ||
        !reader_take_given(reader, object, &hash, 1, stored))
        return false;
    if (!verdict_from_words(pending ? NULL : said.verdict, said.reason, &stored->verdict.kind))
        return reader_bad(reader, "unknown verdict '%s' with reason '%s'", said.verdict,
                          said.reason);
    text_copy(stored->verdict.detail, sizeof stored->verdict.detail, said.detail);
    stored->judged = stored->verdict.kind != VERDICT_PENDING;
    stored->hashed = json_is_string(json_object_get(object, hash.key));
    return read_metrics(reader, object, &stored->metrics);
}

bool read_case(const file_reader *reader, json_t *object, stored_case **added)
{
    stored_cases *cases = &reader->view->cases;
    if (!json_is_object(object))
        return reader_bad(reader, "a case that is no object");
    cases->cases = allocate_room(cases->cases, cases->count, sizeof *cases->cases);
    *added = &cases->cases[cases->count];
    **added = (stored_case){0};
    cases->count++;
    return read_key(reader, object, &(*added)->key) && read_verdict(reader, object, *added);
}

bool read_lost(file_reader *reader, json_t *object)
{
    run_view *view = reader->view;
    view->lost = allocate_room(view->lost, view->lost_count, sizeof *view->lost);
    asked_case *lost = &view->lost[view->lost_count++];
    *lost = (asked_case){0};
    return read_key(reader, object, &lost->key) &&
           reader_take(reader, object, lost_fields, LOST_FIELDS, lost);
}

void read_repetition(stored_case *stored, const timed_repetition *repetition)
{
    stored->repetitions =
        allocate_room(stored->repetitions, stored->repetition_count, sizeof *stored->repetitions);
    stored->repetitions[stored->repetition_count++] = *repetition;
}

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
static bool check_worst(const file_reader *reader, const stored_worst *worst, const case_key *key)
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
    return check_worst(reader, worst, key);
}

void read_tensors_free(read_tensors *tensors)
{
    for (size_t i = 0; i < tensors->count; i++)
        free(tensors->tensors[i].bits);
    free(tensors->tensors);
    *tensors = (read_tensors){0};
}

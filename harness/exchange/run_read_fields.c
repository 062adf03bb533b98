/* Fields of exported records: their kinds and ranges. */
#include "exchange/run_read_internal.h"
#include "domain/operation.h"
#include "base/allocate.h"
#include "domain/metric_fields.h"
#include "base/number.h"
#include <inttypes.h>
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

bool read_string(const file_reader *reader, json_t *object, const char *key, char *buffer,
                 size_t size)
{
    json_t *value = json_object_get(object, key);
    if (!json_is_string(value))
        return reader_bad(reader, "\"%s\" is missing or no string", key);
    if (json_string_length(value) >= size)
        return reader_bad(reader, "\"%s\" is longer than %zu bytes", key, size - 1);
    memcpy(buffer, json_string_value(value), json_string_length(value) + 1);
    return true;
}

bool read_count(const file_reader *reader, json_t *object, const char *key, uint64_t most,
                uint64_t *count)
{
    json_t *value = json_object_get(object, key);
    if (!json_is_integer(value) || json_integer_value(value) < 0 ||
        (uint64_t)json_integer_value(value) > most)
        return reader_bad(reader, "\"%s\" is missing or no whole number from 0 to %" PRIu64, key,
                          most);
    *count = (uint64_t)json_integer_value(value);
    return true;
}

bool read_real(const file_reader *reader, json_t *object, const char *key, double *value)
{
    json_t *given = json_object_get(object, key);
    *value = NAN;
    if (!given || json_is_null(given))
        return true;
    if (!json_is_number(given))
        return reader_bad(reader, "\"%s\" is no number", key);
    *value = json_number_value(given);
    return true;
}

bool read_flag(const file_reader *reader, json_t *object, const char *key, bool *flag)
{
    json_t *value = json_object_get(object, key);
    if (!json_is_boolean(value))
        return reader_bad(reader, "\"%s\" is missing or neither true nor false", key);
    *flag = json_is_true(value);
    return true;
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
    char dtype[16], cache[16], what[32] = "layernorm";
    uint64_t rows, hidden, threads;
    if (!read_string(reader, object, "kernel", key->kernel, sizeof key->kernel) ||
        !read_string(reader, object, "convention", key->convention, sizeof key->convention) ||
        !read_string(reader, object, "input", key->input, sizeof key->input) ||
        !read_count(reader, object, "rows", (uint64_t)1 << 40, &rows) ||
        !read_count(reader, object, "hidden", (uint64_t)1 << 40, &hidden) ||
        (json_object_get(object, "operation") &&
         !read_string(reader, object, "operation", what, sizeof what)) ||
        !read_string(reader, object, "dtype", dtype, sizeof dtype) ||
        !read_string(reader, object, "cache", cache, sizeof cache) ||
        !read_count(reader, object, "threads", 1 << 20, &threads))
        return false;
    if (!key->kernel[0] || rows == 0 || hidden == 0 || threads == 0)
        return reader_bad(reader, "a case without kernel, rows, hidden or threads");
    if (!operation_from_name(what, &key->operation))
        return reader_bad(reader, "unknown operation '%s'", what);
    if (!dtype_from_name(dtype, &key->dtype))
        return reader_bad(reader, "unknown dtype '%s'", dtype);
    if (!cache_from_name(cache, &key->cache))
        return reader_bad(reader, "unknown cache state '%s'", cache);
    key->rows = (size_t)rows;
    key->hidden = (size_t)hidden;
    key->threads = (unsigned)threads;
    return true;
}

/* A count of the file where there is one, else 0. */
static uint64_t count_or_none(json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    return json_is_integer(value) && json_integer_value(value) > 0
               ? (uint64_t)json_integer_value(value)
               : 0;
}

/* Counts; older exports have none. */
static bool read_histogram(const file_reader *reader, json_t *counts, ln_metrics *metrics)
{
    size_t index;
    json_t *count;
    if (!counts || json_is_null(counts))
        return true;
    if (!json_is_array(counts) || json_array_size(counts) > ULP_BINS)
        return reader_bad(reader, "\"ulp_counts\" is no list of %d counts at most", ULP_BINS);
    json_array_foreach(counts, index, count)
    {
        if (!json_is_integer(count) || json_integer_value(count) < 0)
            return reader_bad(reader, "\"ulp_counts\" has what is no count");
        metrics->ulp_histogram[index] = (uint64_t)json_integer_value(count);
    }
    return true;
}

/* Published figures under "metrics", the others, if the file has them, under
 * "further_metrics"; the worst element's are hex floats. */
static bool read_metrics(const file_reader *reader, json_t *object, ln_metrics *metrics)
{
    size_t count;
    const metric_field *fields = metric_fields(&count);
    json_t *published = json_object_get(object, "metrics"),
           *further = json_object_get(object, "further_metrics");
    metrics_undefined(metrics);
    if (!published || json_is_null(published))
        return true;
    if (!json_is_object(published) ||
        (further && !json_is_null(further) && !json_is_object(further)))
        return reader_bad(reader, "\"metrics\" is no object");
    for (size_t i = 0; i < count; i++) {
        json_t *from = fields[i].published ? published : further;
        json_t *hex = json_object_get(from, fields[i].name);
        double value;
        if (fields[i].kind != METRIC_REAL) {
            metric_set_count(metrics, &fields[i], count_or_none(from, fields[i].name));
        } else if (json_is_string(hex)) {
            metric_set_value(metrics, &fields[i], number_read(json_string_value(hex), NULL));
        } else {
            if (!read_real(reader, from, fields[i].name, &value))
                return false;
            metric_set_value(metrics, &fields[i], value);
        }
    }
    return read_histogram(reader, json_object_get(further, "ulp_counts"), metrics);
}

/* Names of figures that are infinite, "-" before those that are negative. */
static bool read_infinite(const file_reader *reader, json_t *names, stored_case *stored)
{
    size_t count, index;
    const metric_field *fields = metric_fields(&count);
    json_t *name;
    json_array_foreach(names, index, name)
    {
        const char *word = json_string_value(name);
        if (!word)
            return reader_bad(reader, "\"infinite\" has what is no name");
        double value = word[0] == '-' ? -INFINITY : INFINITY;
        word += word[0] == '-';
        if (strcmp(word, "bound_row_ulp") == 0)
            stored->bound_row_ulp = value;
        for (size_t i = 0; i < count; i++)
            if (fields[i].kind == METRIC_REAL && strcmp(word, fields[i].name) == 0)
                metric_set_value(&stored->metrics, &fields[i], value);
    }
    return true;
}

static bool read_hash(const file_reader *reader, json_t *object, stored_case *stored)
{
    json_t *value = json_object_get(object, "output_hash");
    char *end;
    if (!value || json_is_null(value))
        return true;
    const char *hex = json_string_value(value);
    if (!hex || strlen(hex) != 16 || strspn(hex, "0123456789abcdef") != 16)
        return reader_bad(reader, "\"output_hash\" is not 16 hexadecimal digits");
    stored->output_hash = strtoull(hex, &end, 16);
    stored->hashed = true;
    return true;
}

static bool read_verdict(const file_reader *reader, json_t *object, stored_case *stored)
{
    char word[64], reason[64];
    bool pending = json_is_null(json_object_get(object, "verdict"));
    if ((!pending && !read_string(reader, object, "verdict", word, sizeof word)) ||
        !read_string(reader, object, "reason", reason, sizeof reason) ||
        !read_string(reader, object, "detail", stored->verdict.detail,
                     sizeof stored->verdict.detail) ||
        !read_flag(reader, object, "declared", &stored->verdict.declared) ||
        !read_real(reader, object, "bound_row_ulp", &stored->bound_row_ulp))
        return false;
    if (!verdict_from_words(pending ? NULL : word, reason, &stored->verdict.kind))
        return reader_bad(reader, "unknown verdict '%s' with reason '%s'", word, reason);
    stored->judged = stored->verdict.kind != VERDICT_PENDING;
    return read_metrics(reader, object, &stored->metrics) &&
           read_infinite(reader, json_object_get(object, "infinite"), stored) &&
           read_hash(reader, object, stored);
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

bool read_lost(const file_reader *reader, json_t *object)
{
    run_view *view = reader->view;
    size_t *count = &view->lost_count;
    uint64_t parts;
    view->lost = allocate_room(view->lost, *count, sizeof *view->lost);
    asked_case *lost = &view->lost[(*count)++];
    *lost = (asked_case){0};
    if (!read_key(reader, object, &lost->key) ||
        !read_count(reader, object, "asked", ASKED_TO_JUDGE | ASKED_TO_TIME, &parts) ||
        !read_string(reader, object, "reason", lost->reason, sizeof lost->reason))
        return false;
    lost->parts = (unsigned)parts;
    return true;
}

void read_repetition(stored_case *stored, const timed_repetition *repetition)
{
    stored->repetitions =
        allocate_room(stored->repetitions, stored->repetition_count, sizeof *stored->repetitions);
    stored->repetitions[stored->repetition_count++] = *repetition;
}

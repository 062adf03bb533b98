/* The formats but Google Benchmark's, and writing them. */
#include "base/files.h"
#include "base/hash.h"
#include "exchange/internal.h"
#include "domain/metric_fields.h"
#include "base/clean.h"
#include "base/allocate.h"
#include "base/text.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Adds the JSON and a line end, and releases it. */
static void add_json(text_buffer *out, json_t *json, size_t flags)
{
    char *bytes = json_dumps(json, flags | JSON_ENCODE_ANY);
    clean_add_json(out, bytes);
    text_add(out, "\n");
    free(bytes);
    json_decref(json);
}

/* A record of the JSON Lines form; takes `record` over. */
static void export_record(text_buffer *out, const char *type, json_t *record)
{
    json_object_set_new(record, "schema", json_string("lnbench-record-4"));
    json_object_set_new(record, "type", json_string(type));
    add_json(out, record, JSON_COMPACT);
}

const record_field hash_field = FIELD(HASH, stored_worst, y_hash);

/* Whether a tensor of the store has a number already, and which. */
static bool find_number(const tensor_set *set, const stored_tensor *tensor, size_t *number)
{
    hash_probe at = hash_index_probe(&set->numbers, (uint64_t)tensor->id);
    return hash_index_next(&set->numbers, &at, number);
}

static void tensor_set_fill(tensor_set *set, const run_view *view)
{
    size_t most = view->worst ? ROLES_MOST * view->cases.count : 0, number;
    *set = (tensor_set){0};
    for (size_t i = 0; i < most; i++) {
        const stored_tensor *tensor = &view->worst[i / ROLES_MOST].inputs[i % ROLES_MOST];
        if (!tensor->bits || find_number(set, tensor, &number))
            continue;
        hash_index_add(&set->numbers, (uint64_t)tensor->id, set->count);
        set->tensors = allocate_room(set->tensors, set->count, sizeof *set->tensors);
        set->tensors[set->count++] = tensor;
    }
}

static void tensor_set_free(tensor_set *set)
{
    hash_index_free(&set->numbers);
    free(set->tensors);
    *set = (tensor_set){0};
}

static size_t export_worst_count(const run_view *view)
{
    size_t count = 0;
    for (size_t i = 0; i < view->cases.count; i++)
        count += view_has_worst(view, i);
    return count;
}

/* Two digits a byte, in the order of memory. */
static json_t *bits_json(const void *bits, size_t bytes)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *from = bits;
    char *hex = allocate(2 * bytes + 1);
    for (size_t i = 0; i < bytes; i++) {
        hex[2 * i] = digits[from[i] >> 4];
        hex[2 * i + 1] = digits[from[i] & 15];
    }
    hex[2 * bytes] = '\0';
    json_t *made = json_string(hex);
    free(hex);
    return made;
}

static void export_tensors(const tensor_set *set, text_buffer *out)
{
    for (size_t i = 0; i < set->count; i++)
        export_record(
            out, "tensor",
            json_pack("{s:o}", "bits", bits_json(set->tensors[i]->bits, set->tensors[i]->bytes)));
}

static void export_worst_rows(const tensor_set *set, const run_view *view, text_buffer *out)
{
    for (size_t i = 0; i < view->cases.count; i++) {
        if (!view_has_worst(view, i))
            continue;
        const stored_worst *worst = &view->worst[i];
        size_t number;
        json_t *record = json_pack("{s:I}", "case", (json_int_t)i);
        record_put(record, &hash_field, 1, worst);
        const operation *what = operations[view->cases.cases[i].key.operation];
        for (size_t role = 0; role < what->count; role++)
            if (role_is_kept(&what->roles[role]))
                json_object_set_new(record, what->roles[role].name,
                                    find_number(set, &worst->inputs[role], &number)
                                        ? json_integer((json_int_t)number)
                                        : json_null());
        export_record(out, "worst", record);
    }
}

void export_end(uint64_t hash, text_buffer *out)
{
    char text[24];
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    export_record(out, "end", json_pack("{s:s}", "hash", text));
}

#define PROMISE(type, name)                                                                        \
    [type] = {name, FIELD_COUNT, (type) * sizeof(uint64_t), 0, INT64_MAX, NULL}

const record_field promised_fields[RECORD_TYPES] = {
    PROMISE(RECORD_KERNEL, "kernels"), PROMISE(RECORD_CASE, "cases"),
    PROMISE(RECORD_ROW, "rows"),       PROMISE(RECORD_TENSOR, "tensors"),
    PROMISE(RECORD_WORST, "worst"),    PROMISE(RECORD_LOST, "missing"),
};
const record_field unfinished_field = {
    "unfinished_process", FIELD_COUNT, offsetof(run_view, unfinished), 0, UINT32_MAX, NULL};
const record_field bound_field = FIELD(REAL, stored_case, bound_row_ulp);

/* null: the run does not say. */
static void put_known(json_t *record, const record_field *fields, size_t count, const void *from,
                      bool known)
{
    for (size_t i = 0; i < count; i++)
        if (known)
            record_put(record, &fields[i], 1, from);
        else
            json_object_set_new(record, fields[i].key, json_null());
}

/* With the counts a file that was cut at the end of a line shows. */
static json_t *run_json(const run_view *view, const tensor_set *tensors)
{
    const stored_run *run = &view->run;
    const uint64_t promised[] = {json_array_size(view->kernels), view->cases.count,
                                 view->rows.count, tensors->count, export_worst_count(view)};
    json_t *record = json_pack("{s:I}", "run", (json_int_t)run->id);
    record_put(record, run_fields, RUN_COMMAND, run);
    record_put(record, promised_fields, RECORD_LOST, promised);
    json_object_set_new(record, "machine", json_facts(&view->machine));
    record_put(record, run_fields + RUN_COMMAND, RUN_FIELDS - RUN_COMMAND, run);
    put_known(record, run_count_fields, RUN_COUNTS, &run->counts, run->counts.known);
    put_known(record, &unfinished_field, 1, view, view->unfinished != NO_PROCESS);
    return record;
}

static json_t *repetitions_json(const stored_case *stored)
{
    json_t *array = json_array();
    for (size_t i = 0; i < stored->repetition_count; i++) {
        json_t *one = json_object();
        record_put(one, repetition_fields, REPETITION_FIELDS, &stored->repetitions[i]);
        json_array_append_new(array, one);
    }
    return array;
}

static json_t *infinite_json(const stored_case *stored)
{
    json_t *names = json_array();
    record_put_infinite(names, &bound_field, 1, stored);
    for (size_t i = 0; i < metric_count_all; i++) {
        const record_field field = metric_record(&metric_list[i]);
        record_put_infinite(names, &field, 1, &stored->metrics);
    }
    return names;
}

/* The metrics that published JSON leaves out, and counts, as the store has them, where it has shares. */
static json_t *further_json(const ln_metrics *metrics)
{
    char counts[HISTOGRAM_TEXT_LENGTH];
    bool known = metrics_histogram_format(metrics, counts);
    json_t *object = metrics_json(metrics, false);
    json_object_set_new(object, "ulp_counts", known ? json_loads(counts, 0, NULL) : json_null());
    return object;
}

static void add_cases(const run_view *view, text_buffer *out)
{
    for (size_t i = 0; i < view->cases.count; i++) {
        const stored_case *stored = &view->cases.cases[i];
        json_t *record = view_case_json(&view->views[i]);
        bool judged = stored->judged && stored->metrics.elements;
        json_object_update_new(
            record, json_pack("{s:o, s:o, s:o}", "further_metrics",
                              judged ? further_json(&stored->metrics) : json_null(), "infinite",
                              infinite_json(stored), "measurements", repetitions_json(stored)));
        export_record(out, "case", record);
    }
}

static void add_lost(const run_view *view, text_buffer *out)
{
    for (size_t i = 0; i < view->lost_count; i++) {
        json_t *record = json_object();
        record_put(record, case_key_fields, CASE_KEY_FIELDS, &view->lost[i].key);
        record_put(record, lost_fields, LOST_FIELDS, &view->lost[i]);
        export_record(out, "missing", record);
    }
}

static void add_rows(const run_view *view, text_buffer *out)
{
    for (size_t i = 0; i < view->rows.count; i++) {
        json_t *record = json_object(), *infinite = json_array();
        record_put(record, row_fields, ROW_FIELDS, &view->rows.rows[i]);
        record_put_infinite(infinite, row_fields, ROW_FIELDS, &view->rows.rows[i]);
        json_object_set_new(record, "infinite", infinite);
        export_record(out, "row", record);
    }
}

void export_lines(const run_view *view, text_buffer *out)
{
    tensor_set tensors;
    tensor_set_fill(&tensors, view);
    export_record(out, "run", run_json(view, &tensors));
    for (size_t i = 0; i < json_array_size(view->kernels); i++)
        export_record(out, "kernel", json_copy(json_array_get(view->kernels, i)));
    add_cases(view, out);
    add_rows(view, out);
    add_lost(view, out);
    export_tensors(&tensors, out);
    export_worst_rows(&tensors, view, out);
    tensor_set_free(&tensors);
    export_end(hash_bytes(HASH_START, out->bytes, out->length), out);
}

/* One {name, unit, value} of customSmallerIsBetter; an undefined figure is left out. */
static void add_smaller(json_t *array, const view_case *view, const char *what, const char *unit,
                        double value)
{
    char suffix[64];
    snprintf(suffix, sizeof suffix, " %s", what);
    if (isfinite(value))
        json_array_append_new(array, json_pack("{s:o, s:s, s:f, s:s}", "name",
                                               case_name_json(&view->stored->key, suffix), "unit",
                                               unit, "value", value, "extra",
                                               verdict_phrase(view->stored->verdict.kind)));
}

static json_t *smaller_json(const run_view *view)
{
    json_t *array = json_array();
    for (size_t i = 0; i < view->cases.count; i++) {
        const view_case *of_case = &view->views[i];
        const ln_metrics *metrics = &of_case->stored->metrics;
        if (!is_roof(of_case->stored->key.kernel))
            add_smaller(array, of_case, "time", "ns", of_case->speed.time_ns);
        if (!of_case->stored->judged || !metrics->elements)
            continue;
        add_smaller(array, of_case, "row_ulp_max", "row ULP", metrics->row_ulp_max);
        add_smaller(array, of_case, "ulp_max", "ULP", metrics->ulp_max);
        add_smaller(array, of_case, "mismatches", "elements", (double)metrics->mismatches);
    }
    return array;
}

static void add_benchmark_json(const run_view *view, text_buffer *out)
{
    add_json(out, benchmark_json(view), JSON_INDENT(2));
}

static void add_smaller_json(const run_view *view, text_buffer *out)
{
    add_json(out, smaller_json(view), JSON_INDENT(2));
}

static void add_tsv(const run_view *view, text_buffer *out)
{
    view_add_case_table(view, OUTPUT_TSV, out);
}

static void add_csv(const run_view *view, text_buffer *out)
{
    view_add_case_table(view, OUTPUT_CSV, out);
}

#define EXPORT_FORMAT(name, is_whole, add) {#name, is_whole, add},
static const export_format formats[] = {EXPORT_FORMATS(EXPORT_FORMAT)};
enum { FORMATS = sizeof formats / sizeof *formats };

const export_format *export_format_named(const char *name, error *err)
{
    const char *names[FORMATS];
    char meant[MEANT_LENGTH];
    for (size_t i = 0; i < FORMATS; i++)
        names[i] = formats[i].name;
    size_t found = word_find(name, WORDS(names));
    if (found < FORMATS)
        return &formats[found];
    fail(err, EXIT_CODE_USAGE, "unknown export format '%s'%s: choose %s", name,
         did_you_mean(name, WORDS(names), meant), EXPORT_NAMES);
    return NULL;
}

bool export_write(const run_view *view, const export_format *format, FILE *file, const char *name,
                  error *err)
{
    text_buffer out = {0};
    format->add(view, &out);
    bool fine = fwrite(out.bytes, 1, out.length, file) == out.length && fflush(file) == 0;
    if (!fine)
        fail(err, EXIT_CODE_ENVIRONMENT, "%s: cannot write it: %s", name, strerror(errno));
    text_free(&out);
    return fine;
}

bool export_save(const run_view *view, const export_format *format, const char *path, error *err)
{
    text_buffer out = {0};
    format->add(view, &out);
    bool fine = write_whole_file(path, &out, err);
    text_free(&out);
    return fine;
}

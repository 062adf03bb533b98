/* The formats but Google Benchmark's, and writing them. */
#include "base/files.h"
#include "domain/operation.h"
#include "exchange/internal.h"
#include "domain/metric_fields.h"
#include "answer/tsv.h"
#include "base/clean.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const format_names[EXPORT_FORMAT_COUNT] = {"json", "jsonl", "tsv", "csv",
                                                              "smaller"};

const char *export_format_name(export_format format)
{
    return (unsigned)format < EXPORT_FORMAT_COUNT ? format_names[format] : "unknown";
}

bool export_format_from_name(const char *name, export_format *format, error *err)
{
    for (int i = 0; i < EXPORT_FORMAT_COUNT; i++) {
        if (strcmp(name, format_names[i]) == 0) {
            *format = (export_format)i;
            return true;
        }
    }
    char meant[MEANT_LENGTH];
    return fail(err, EXIT_CODE_USAGE,
                "unknown export format '%s'%s: the formats are json, jsonl, tsv, csv and smaller",
                name, did_you_mean(name, format_names, EXPORT_FORMAT_COUNT, meant));
}

/* Adds the JSON and a line end, and releases it. */
static void add_json(text_buffer *out, json_t *json, size_t flags)
{
    char *bytes = json_dumps(json, flags | JSON_ENCODE_ANY);
    clean_add_json(out, bytes);
    text_add(out, "\n");
    free(bytes);
    json_decref(json);
}

void export_record(text_buffer *out, const char *type, json_t *record)
{
    json_object_set_new(record, "schema", json_string("lnbench-record-2"));
    json_object_set_new(record, "type", json_string(type));
    add_json(out, record, JSON_COMPACT);
}

/* null: the run does not say. */
static json_t *json_count(const run_counts *counts, size_t count)
{
    return counts->known ? json_integer((json_int_t)count) : json_null();
}

static json_t *run_json(const run_view *view, const tensor_set *tensors)
{
    const stored_run *run = &view->run;
    char seed[24];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)run->seed);
    /* The seed is a string: JSON numbers are exact to 53 bits only. With the counts a file that was
     * cut at the end of a line shows. */
    return json_pack(
        "{s:I, s:o, s:o, s:o, s:o, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, "
        "s:o, s:o}",
        "run", (json_int_t)run->id, "started", json_text(run->started), "plan",
        json_text(run->plan), "plan_hash", json_text(run->plan_hash), "command_line",
        json_text(run->command_line), "seed", seed, "state", run_state_names[run->state], "kernels",
        (json_int_t)json_array_size(view->kernels), "cases", (json_int_t)view->cases.count, "rows",
        (json_int_t)view->rows.count, "tensors", (json_int_t)tensors->count, "worst",
        (json_int_t)export_worst_count(view), "machine", json_facts(&view->machine), "command",
        json_text(run->command), "request_hash", json_text(run->request_hash), "asked",
        json_count(&run->counts, run->counts.asked), "declined",
        json_count(&run->counts, run->counts.declined), "lost",
        json_count(&run->counts, run->counts.lost), "unfinished_process",
        view->unfinished == NO_PROCESS ? json_null() : json_integer(view->unfinished));
}

static json_t *repetitions_json(const stored_case *stored)
{
    json_t *array = json_array();
    for (size_t i = 0; i < stored->repetition_count; i++) {
        const timed_repetition *one = &stored->repetitions[i];
        json_array_append_new(
            array,
            json_pack("{s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "process",
                      (json_int_t)one->process, "repetition", (json_int_t)one->repetition, "order",
                      (json_int_t)one->order, "iterations", (json_int_t)one->iterations, "real_ns",
                      json_figure(one->real_ns), "cpu_ns", json_figure(one->cpu_ns), "cycles",
                      json_figure(one->cycles), "instructions", json_figure(one->instructions)));
    }
    return array;
}

/* A double to the bit, infinities and NaN included: the worst element must be replayable. */
static json_t *hex_json(double value)
{
    char text[40];
    snprintf(text, sizeof text, "%a", value);
    return json_string(text);
}

/* Infinite figures are null like undefined ones; their names tell them apart. */
static void add_infinite(json_t *names, const char *name, double value)
{
    char signed_name[64];
    snprintf(signed_name, sizeof signed_name, "%s%s", value < 0 ? "-" : "", name);
    if (isinf(value))
        json_array_append_new(names, json_string(signed_name));
}

static json_t *infinite_json(const stored_case *stored)
{
    size_t count;
    const metric_field *fields = metric_fields(&count);
    json_t *names = json_array();
    add_infinite(names, "bound_row_ulp", stored->bound_row_ulp);
    for (size_t i = 0; i < count; i++)
        if (fields[i].kind == METRIC_REAL && strncmp(fields[i].name, "worst_", 6) != 0)
            add_infinite(names, fields[i].name, metric_value(&stored->metrics, &fields[i]));
    return names;
}

static json_t *infinite_of_row(const stored_row *row)
{
    json_t *names = json_array();
    add_infinite(names, "kappa", row->kappa);
    add_infinite(names, "row_ulp", row->row_ulp);
    add_infinite(names, "norm_max", row->norm_max);
    add_infinite(names, "bound_row_ulp", row->bound_row_ulp);
    add_infinite(names, "mean_error", row->mean_error);
    add_infinite(names, "rstd_error", row->rstd_error);
    return names;
}

/* Counts, as the store has them; published JSON has shares. */
static json_t *histogram_json(const ln_metrics *metrics)
{
    char counts[HISTOGRAM_TEXT_LENGTH];
    bool known = metrics_histogram_format(metrics, counts);
    return known ? json_loads(counts, 0, NULL) : json_null();
}

/* The metrics that published JSON leaves out. */
static json_t *further_json(const ln_metrics *metrics)
{
    size_t count;
    const metric_field *fields = metric_fields(&count);
    json_t *object = json_object();
    for (size_t i = 0; i < count; i++) {
        bool real = fields[i].kind == METRIC_REAL;
        double value = real ? metric_value(metrics, &fields[i]) : NAN;
        if (fields[i].published)
            continue;
        json_object_set_new(object, fields[i].name,
                            !real ? json_integer((json_int_t)metric_count(metrics, &fields[i]))
                            : strncmp(fields[i].name, "worst_", 6) == 0 ? hex_json(value)
                                                                        : json_figure(value));
    }
    json_object_set_new(object, "ulp_counts", histogram_json(metrics));
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
        const asked_case *lost = &view->lost[i];
        json_t *record = case_key_json(&lost->key);
        json_object_update_new(
            record, json_pack("{s:s, s:i, s:o}", "operation", operation_name(lost->key.operation),
                              "asked", (int)lost->parts, "reason", json_text(lost->reason)));
        export_record(out, "lost", record);
    }
}

static void add_rows(const run_view *view, text_buffer *out)
{
    for (size_t i = 0; i < view->rows.count; i++) {
        const stored_row *row = &view->rows.rows[i];
        export_record(out, "row",
                      json_pack("{s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "case",
                                (json_int_t)row->case_index, "row", (json_int_t)row->row, "kappa",
                                json_figure(row->kappa), "row_ulp", json_figure(row->row_ulp),
                                "norm_max", json_figure(row->norm_max), "bound_row_ulp",
                                json_figure(row->bound_row_ulp), "mean_error",
                                json_figure(row->mean_error), "rstd_error",
                                json_figure(row->rstd_error), "infinite", infinite_of_row(row)));
    }
}

static void add_lines(const run_view *view, text_buffer *out)
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

static void make_text(const run_view *view, export_format format, text_buffer *out)
{
    switch (format) {
    case EXPORT_JSON:
        add_json(out, benchmark_json(view), JSON_INDENT(2));
        break;
    case EXPORT_JSONL:
        add_lines(view, out);
        break;
    case EXPORT_TSV:
        case_table_add(view, FORM_TSV, out);
        break;
    case EXPORT_CSV:
        case_table_add(view, FORM_CSV, out);
        break;
    default:
        add_json(out, smaller_json(view), JSON_INDENT(2));
    }
}

bool export_write(const run_view *view, export_format format, FILE *file, const char *name,
                  error *err)
{
    text_buffer out = {0};
    bool fine = true;
    make_text(view, format, &out);
    if (fine && (fwrite(out.bytes, 1, out.length, file) != out.length || fflush(file) != 0))
        fine = fail(err, EXIT_CODE_ENVIRONMENT, "%s: cannot write it: %s", name, strerror(errno));
    text_free(&out);
    return fine;
}

bool export_save(const run_view *view, export_format format, const char *path, error *err)
{
    text_buffer out = {0};
    make_text(view, format, &out);
    bool fine = write_whole_file(path, &out, err);
    text_free(&out);
    return fine;
}

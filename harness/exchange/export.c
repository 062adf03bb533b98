/* The formats but Google Benchmark's, and writing them. */
#include "base/files.h"
#include "exchange/internal.h"
#include "domain/metric_fields.h"
#include "views/tsv.h"
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
    const char *nearest = nearest_word(name, format_names, EXPORT_FORMAT_COUNT);
    return fail(
        err, EXIT_CODE_USAGE,
        "unknown export format '%s'%s%s%s: the formats are json, jsonl, tsv, csv and smaller", name,
        nearest ? " (did you mean '" : "", nearest ? nearest : "", nearest ? "'?)" : "");
}

/* Adds the JSON and a line end, and releases it. NULL is memory that ran out. */
static void add_json(text_buffer *out, json_t *json, size_t flags)
{
    char *bytes = json ? json_dumps(json, flags | JSON_ENCODE_ANY) : NULL;
    if (bytes) {
        text_add(out, bytes);
        text_add(out, "\n");
    } else {
        out->failed = true;
    }
    free(bytes);
    json_decref(json);
}

void export_record(text_buffer *out, const char *type, json_t *record)
{
    if (record && put(record, "schema", json_string("lnbench-record-1")) &&
        put(record, "type", json_string(type))) {
        add_json(out, record, JSON_COMPACT);
        return;
    }
    json_decref(record);
    out->failed = true;
}

static json_t *run_json(const run_view *view, const tensor_set *tensors)
{
    const stored_run *run = &view->run;
    char seed[24];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)run->seed);
    json_t *facts = json_object(), *record = json_object();
    bool fine = facts && record;
    for (size_t i = 0; fine && i < view->machine.count; i++)
        fine = put(facts, view->machine.facts[i].name, json_text(view->machine.facts[i].value));
    if (fine && put(record, "run", json_integer(run->id)) &&
        put(record, "started", json_text(run->started)) &&
        put(record, "plan", json_text(run->plan)) &&
        put(record, "plan_hash", json_text(run->plan_hash)) &&
        put(record, "command_line", json_text(run->command_line)) &&
        /* a string: JSON numbers are exact to 53 bits only */
        put(record, "seed", json_string(seed)) &&
        put(record, "state", json_string(run_state_names[run->state])) &&
        /* so that a file that was cut at the end of a line shows */
        put(record, "kernels", json_integer((json_int_t)json_array_size(view->kernels))) &&
        put(record, "cases", json_integer((json_int_t)view->cases.count)) &&
        put(record, "rows", json_integer((json_int_t)view->rows.count)) &&
        put(record, "tensors", json_integer((json_int_t)tensors->count)) &&
        put(record, "worst", json_integer((json_int_t)export_worst_count(view))) &&
        put(record, "machine", json_incref(facts))) {
        json_decref(facts);
        return record;
    }
    json_decref(facts);
    json_decref(record);
    return NULL;
}

static json_t *repetitions_json(const stored_case *stored)
{
    json_t *array = json_array();
    for (size_t i = 0; array && i < stored->repetition_count; i++) {
        const timed_repetition *repetition = &stored->repetitions[i];
        json_t *entry = json_object();
        bool fine = entry && put(entry, "process", json_integer(repetition->process)) &&
                    put(entry, "repetition", json_integer(repetition->repetition)) &&
                    put(entry, "order", json_integer(repetition->order)) &&
                    put(entry, "iterations", json_integer((json_int_t)repetition->iterations)) &&
                    put(entry, "real_ns", json_figure(repetition->real_ns)) &&
                    put(entry, "cpu_ns", json_figure(repetition->cpu_ns)) &&
                    put(entry, "cycles", json_figure(repetition->cycles)) &&
                    put(entry, "instructions", json_figure(repetition->instructions));
        if (!fine || json_array_append(array, entry) != 0) {
            json_decref(array);
            array = NULL;
        }
        json_decref(entry);
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
static bool add_infinite(json_t *names, const char *name, double value)
{
    char signed_name[64];
    if (!isinf(value))
        return true;
    snprintf(signed_name, sizeof signed_name, "%s%s", value < 0 ? "-" : "", name);
    return json_array_append_new(names, json_string(signed_name)) == 0;
}

static json_t *infinite_json(const stored_case *stored)
{
    size_t count;
    const metric_field *fields = metric_fields(&count);
    json_t *names = json_array();
    bool fine = names && add_infinite(names, "bound_row_ulp", stored->bound_row_ulp);
    for (size_t i = 0; fine && i < count; i++)
        if (fields[i].kind == METRIC_REAL && strncmp(fields[i].name, "worst_", 6) != 0)
            fine = add_infinite(names, fields[i].name, metric_value(&stored->metrics, &fields[i]));
    if (fine)
        return names;
    json_decref(names);
    return NULL;
}

static json_t *infinite_of_row(const stored_row *row)
{
    json_t *names = json_array();
    if (names && add_infinite(names, "kappa", row->kappa) &&
        add_infinite(names, "row_ulp", row->row_ulp) &&
        add_infinite(names, "norm_max", row->norm_max) &&
        add_infinite(names, "bound_row_ulp", row->bound_row_ulp) &&
        add_infinite(names, "mean_error", row->mean_error) &&
        add_infinite(names, "rstd_error", row->rstd_error))
        return names;
    json_decref(names);
    return NULL;
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
    bool fine = object != NULL;
    for (size_t i = 0; fine && i < count; i++) {
        if (fields[i].published)
            continue;
        if (strncmp(fields[i].name, "worst_", 6) == 0 && fields[i].kind == METRIC_REAL)
            fine = put(object, fields[i].name, hex_json(metric_value(metrics, &fields[i])));
        else if (fields[i].kind == METRIC_REAL)
            fine = put(object, fields[i].name, json_figure(metric_value(metrics, &fields[i])));
        else
            fine = put(object, fields[i].name,
                       json_integer((json_int_t)metric_count(metrics, &fields[i])));
    }
    if (fine && put(object, "ulp_counts", histogram_json(metrics)))
        return object;
    json_decref(object);
    return NULL;
}

static void add_cases(const run_view *view, text_buffer *out)
{
    for (size_t i = 0; i < view->cases.count; i++) {
        const stored_case *stored = &view->cases.cases[i];
        json_t *record = view_case_json(&view->views[i]);
        bool judged = stored->judged && stored->metrics.elements;
        if (record &&
            put(record, "further_metrics", judged ? further_json(&stored->metrics) : json_null()) &&
            put(record, "infinite", infinite_json(stored)) &&
            put(record, "measurements", repetitions_json(stored))) {
            export_record(out, "case", record);
        } else {
            json_decref(record);
            out->failed = true;
        }
    }
}

static void add_rows(const run_view *view, text_buffer *out)
{
    for (size_t i = 0; i < view->rows.count; i++) {
        const stored_row *row = &view->rows.rows[i];
        json_t *record = json_object();
        if (record && put(record, "case", json_integer((json_int_t)row->case_index)) &&
            put(record, "row", json_integer((json_int_t)row->row)) &&
            put(record, "kappa", json_figure(row->kappa)) &&
            put(record, "row_ulp", json_figure(row->row_ulp)) &&
            put(record, "norm_max", json_figure(row->norm_max)) &&
            put(record, "bound_row_ulp", json_figure(row->bound_row_ulp)) &&
            put(record, "mean_error", json_figure(row->mean_error)) &&
            put(record, "rstd_error", json_figure(row->rstd_error)) &&
            put(record, "infinite", infinite_of_row(row))) {
            export_record(out, "row", record);
        } else {
            json_decref(record);
            out->failed = true;
        }
    }
}

static void add_lines(const run_view *view, text_buffer *out)
{
    tensor_set tensors;
    out->failed = !tensor_set_fill(&tensors, view) || out->failed;
    export_record(out, "run", run_json(view, &tensors));
    for (size_t i = 0; i < json_array_size(view->kernels); i++)
        export_record(out, "kernel", json_copy(json_array_get(view->kernels, i)));
    add_cases(view, out);
    add_rows(view, out);
    export_tensors(&tensors, out);
    export_worst_rows(&tensors, view, out);
    tensor_set_free(&tensors);
}

/* One {name, unit, value} of customSmallerIsBetter; an undefined figure is left out. */
static bool add_smaller(json_t *array, const view_case *view, const char *what, const char *unit,
                        double value)
{
    if (!isfinite(value))
        return true;
    char suffix[64];
    snprintf(suffix, sizeof suffix, " %s", what);
    json_t *entry = json_object();
    bool fine = entry && put(entry, "name", case_name_json(&view->stored->key, suffix)) &&
                put(entry, "unit", json_string(unit)) && put(entry, "value", json_real(value)) &&
                put(entry, "extra", json_text(verdict_name(view->stored->verdict.kind)));
    fine = fine && json_array_append(array, entry) == 0;
    json_decref(entry);
    return fine;
}

static json_t *smaller_json(const run_view *view)
{
    json_t *array = json_array();
    bool fine = array != NULL;
    for (size_t i = 0; fine && i < view->cases.count; i++) {
        const view_case *of_case = &view->views[i];
        const ln_metrics *metrics = &of_case->stored->metrics;
        const char *kernel = of_case->stored->key.kernel;
        if (!is_roof(kernel) && !add_smaller(array, of_case, "time", "ns", of_case->speed.time_ns))
            fine = false;
        if (!fine || !of_case->stored->judged || !metrics->elements)
            continue;
        fine = add_smaller(array, of_case, "row_ulp_max", "row ULP", metrics->row_ulp_max) &&
               add_smaller(array, of_case, "ulp_max", "ULP", metrics->ulp_max) &&
               add_smaller(array, of_case, "mismatches", "elements", (double)metrics->mismatches);
    }
    if (fine)
        return array;
    json_decref(array);
    return NULL;
}

static bool make_text(const run_view *view, export_format format, text_buffer *out, error *err)
{
    text_buffer tabs = {0};
    switch (format) {
    case EXPORT_JSON:
        add_json(out, benchmark_json(view), JSON_INDENT(2));
        break;
    case EXPORT_JSONL:
        add_lines(view, out);
        break;
    case EXPORT_TSV:
        tsv_cases(view, out);
        break;
    case EXPORT_CSV:
        tsv_cases(view, &tabs);
        out->failed |= tabs.failed;
        if (!tabs.failed)
            csv_of_tsv(tabs.bytes, out);
        text_free(&tabs);
        break;
    default:
        add_json(out, smaller_json(view), JSON_INDENT(2));
    }
    return !out->failed || fail_memory(err, "an export");
}

bool export_write(const run_view *view, export_format format, FILE *file, const char *name,
                  error *err)
{
    text_buffer out = {0};
    bool fine = make_text(view, format, &out, err);
    if (fine && (fwrite(out.bytes, 1, out.length, file) != out.length || fflush(file) != 0))
        fine = fail(err, EXIT_CODE_ENVIRONMENT, "%s: cannot write it: %s", name, strerror(errno));
    text_free(&out);
    return fine;
}

bool export_save(const run_view *view, export_format format, const char *path, error *err)
{
    text_buffer out = {0};
    bool fine = make_text(view, format, &out, err) && write_whole_file(path, &out, err);
    text_free(&out);
    return fine;
}

/* The formats but Google Benchmark's, and writing them. */
#include "base/files.h"
#include "exchange/internal.h"
#include "domain/metric_fields.h"
#include "base/clean.h"
#include "base/allocate.h"
#include "base/text.h"
#include <errno.h>
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

#define EXPORT_FORMAT(name, add) {#name, add},
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
    if (strcmp(name, "jsonl") == 0) {
        fail(err, EXIT_CODE_USAGE, "--format jsonl was removed: use --format db --out run.db");
        return NULL;
    }
    fail(err, EXIT_CODE_USAGE, "unknown export format '%s'%s: choose %s", name,
         did_you_mean(name, WORDS(names), meant), "db" EXPORT_NAMES);
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

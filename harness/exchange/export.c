/* The formats but Google Benchmark's, and writing them. */
#include "base/files.h"
#include "exchange/export.h"
#include "base/clean.h"
#include "store/script.h"
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

/* {name, unit, value} of customSmallerIsBetter; an undefined figure is left out. */
static const char smaller_sql[] =
    "WITH named AS (SELECT cases.id, is_copy, time_ns, verdict, reason, row_ulp_max, ulp_max, "
    "iif(elements > 0, mismatches, NULL) AS mismatches, kernel || '/' || convention || '/' || "
    "inputs.name || '/' || rows || 'x' || hidden || '/' || types || '/' || cache || '/threads:' || "
    "threads AS name FROM cells JOIN cases ON cell = cells.id JOIN inputs ON inputs.id = input_id "
    "LEFT JOIN timings ON timings.case_id = cases.id LEFT JOIN judgements ON judgements.case_id = "
    "cases.id LEFT JOIN accuracies ON accuracies.case_id = cases.id WHERE run = ?1) "
    "SELECT name, what, unit, value, verdict, reason FROM ("
    "SELECT *, 0 AS place, 'time' AS what, 'ns' AS unit, time_ns AS value FROM named WHERE NOT "
    "is_copy UNION ALL SELECT *, 1, 'row_ulp_max', 'row ULP', row_ulp_max FROM named UNION ALL "
    "SELECT *, 2, 'ulp_max', 'ULP', ulp_max FROM named UNION ALL "
    "SELECT *, 3, 'mismatches', 'elements', mismatches FROM named) "
    "WHERE abs(value) < 9e999 ORDER BY id, place";

static void add_smaller(void *array, const stored_table *part)
{
    for (size_t i = 0; i < part->rows; i++) {
        verdict_kind kind = VERDICT_PENDING;
        char name[512];
        verdict_from_words(table_text(part, i, "verdict"), table_text(part, i, "reason"), &kind);
        snprintf(name, sizeof name, "%s %s", table_text(part, i, "name"),
                 table_text(part, i, "what"));
        json_array_append_new(array, json_pack("{s:o, s:s, s:f, s:s}", "name", json_text(name),
                                               "unit", table_text(part, i, "unit"), "value",
                                               table_real(part, i, "value"), "extra",
                                               verdict_phrase(kind)));
    }
}

static bool add_benchmark_json(result_store *store, int64_t run, text_buffer *out, error *err)
{
    run_view view;
    if (!view_load(store, run, &view, err))
        return false;
    add_json(out, benchmark_json(&view), JSON_INDENT(2));
    view_free(&view);
    return true;
}

static bool add_smaller_json(result_store *store, int64_t run, text_buffer *out, error *err)
{
    json_t *array = json_array();
    bool fine = store_query(store, smaller_sql, run, 1024, add_smaller, array, err);
    add_json(out, array, JSON_INDENT(2));
    return fine;
}

static bool add_tsv(result_store *store, int64_t run, text_buffer *out, error *err)
{
    return add_case_table(store, run, OUTPUT_TSV, out, err);
}

static bool add_csv(result_store *store, int64_t run, text_buffer *out, error *err)
{
    return add_case_table(store, run, OUTPUT_CSV, out, err);
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

bool export_write(result_store *store, int64_t run, const export_format *format, FILE *file,
                  const char *name, error *err)
{
    text_buffer out = {0};
    bool fine =
        format->add(store, run, &out, err) &&
        ((fwrite(out.bytes, 1, out.length, file) == out.length && fflush(file) == 0) ||
         fail(err, EXIT_CODE_ENVIRONMENT, "%s: cannot write it: %s", name, strerror(errno)));
    text_free(&out);
    return fine;
}

bool export_save(result_store *store, int64_t run, const export_format *format, const char *path,
                 error *err)
{
    text_buffer out = {0};
    bool fine = format->add(store, run, &out, err) && write_whole_file(path, &out, err);
    text_free(&out);
    return fine;
}

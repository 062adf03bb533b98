#include "store/export.h"
#include "base/arena.h"
#include "base/text.h"
#include "benchmark_sql.h" /* the SQL files of the same names, as bytes */
#include "cases_sql.h"
#include "domain/case.h"
#include "domain/machine.h"
#include "store/store.h"
#include <stdlib.h>
#include <string.h>

enum { ROWS_AT_ONCE = 1024 };

/* Returns the query with the metrics' columns in place of METRICS. The caller frees it. */
static char *with_metrics(const char *query, bool published)
{
    const char *at = strstr(query, "METRICS,");
    text_buffer sql = {0};
    text_add_bytes(&sql, query, (size_t)(at - query));
    for (size_t i = 0; i < metric_count_all; i++) {
        const metric_field *metric = &metric_list[i];
        if (published && metric->published)
            text_format(&sql, "%siif(elements > 0, accuracies.%s, NULL) AS %s", i ? ", " : "",
                        metric->name, metric->name);
        else if (!published)
            text_format(&sql, metric->kind == METRIC_REAL ? "%s%s" : "%scoalesce(%s, 0) AS %s",
                        i ? ", " : "", metric->name, metric->name);
    }
    text_add(&sql, at + strlen("METRICS"));
    return sql.bytes;
}

/* ---- the table of cases ---- */

typedef struct case_table {
    output_format form;
    text_buffer *out;
    bool begun;
} case_table;

static void add_cases(void *context, const stored_table *part)
{
    case_table *table = context;
    relation_column *columns = allocate_zeroed(part->columns, sizeof *columns);
    for (size_t i = 0; i < part->columns; i++)
        columns[i].heading = part->names[i];
    relation *rows = relation_create(columns, part->columns);
    if (table->begun)
        relation_go_on(rows);
    for (size_t i = 0; i < part->rows * part->columns; i++)
        relation_add(rows, cell_value(&part->cells[i]));
    relation_add_form(rows, table->form, 0, table->out);
    relation_destroy(rows);
    free(columns);
    table->begun = true;
}

void export_cases(result_store *store, int64_t run, output_format form, text_buffer *out)
{
    char *sql = with_metrics(cases_sql, false);
    store_query(store, sql, run, ROWS_AT_ONCE, add_cases, &(case_table){.form = form, .out = out});
    free(sql);
}

static void add_tsv(result_store *store, int64_t run, text_buffer *out)
{
    export_cases(store, run, OUTPUT_TSV, out);
}

static void add_csv(result_store *store, int64_t run, text_buffer *out)
{
    export_cases(store, run, OUTPUT_CSV, out);
}

/* ---- JSON ---- */

/* Adds the JSON and a newline, and frees the JSON. */
static void add_json(text_buffer *out, json_t *json)
{
    char *bytes = json_dumps(json, JSON_INDENT(2) | JSON_ENSURE_ASCII);
    text_add(out, bytes);
    text_add(out, "\n");
    free(bytes);
    json_decref(json);
}

/* Appends an object for each row to the array. */
static void add_objects(void *array, const stored_table *part)
{
    for (size_t row = 0; row < part->rows; row++)
        json_array_append_new(
            array, table_object(part, row, part->names[0], part->names[part->columns - 1]));
}

/* Selects customSmallerIsBetter: {name, unit, value, extra}, without undefined figures. */
static const char smaller_sql[] =
    "WITH named AS (SELECT cases.id, is_copy, time_ns, row_ulp_max, ulp_max, iif(elements > 0, "
    "mismatches, NULL) AS mismatches, "
    "coalesce(verdict, 'not judged') || iif(coalesce(reason, '') = '', '', ' (' || reason || ')') "
    "AS extra, "
    "kernel || '/' || convention || '/' || inputs.name || '/' || rows || 'x' || hidden || '/' || "
    "types || '/' || cache "
    "|| '/threads:' || threads AS name FROM cells JOIN cases ON cell = cells.id JOIN inputs ON "
    "inputs.id = input_id "
    "LEFT JOIN timings ON timings.case_id = cases.id LEFT JOIN judgements ON judgements.case_id = "
    "cases.id "
    "LEFT JOIN accuracies ON accuracies.case_id = cases.id WHERE run = ?1) "
    "SELECT name || ' ' || what AS name, unit, value, extra FROM ("
    "SELECT *, 0 AS place, 'time' AS what, 'ns' AS unit, time_ns AS value FROM named WHERE NOT "
    "is_copy "
    "UNION ALL SELECT *, 1, 'row_ulp_max', 'row ULP', row_ulp_max FROM named "
    "UNION ALL SELECT *, 2, 'ulp_max', 'ULP', ulp_max FROM named "
    "UNION ALL SELECT *, 3, 'mismatches', 'elements', 1.0 * mismatches FROM named) "
    "WHERE abs(value) < 9e999 ORDER BY id, place";

static void add_smaller(result_store *store, int64_t run, text_buffer *out)
{
    json_t *array = json_array();
    store_query(store, smaller_sql, run, ROWS_AT_ONCE, add_objects, array);
    add_json(out, array);
}

/* "size" is in bytes; a "num_sharing" of 0 means unknown, as in Google Benchmark. */
static json_t *caches_json(const machine_facts *machine)
{
    const struct {
        const char *type;
        int level;
        size_t bytes;
    } caches[] = {{"Data", 1, machine->l1d_bytes},
                  {"Unified", 2, machine->l2_bytes},
                  {"Unified", 3, machine->l3_bytes}};
    json_t *array = json_array();
    for (size_t i = 0; i < 3; i++)
        if (caches[i].bytes)
            json_array_append_new(array, json_pack("{s:s, s:i, s:I, s:i}", "type", caches[i].type,
                                                   "level", caches[i].level, "size",
                                                   (json_int_t)caches[i].bytes, "num_sharing", 0));
    return array;
}

/* Returns the context: Google Benchmark's keys, then our facts as strings, like a custom context. */
static json_t *context_json(const stored_run *run, const machine_facts *machine)
{
    const char *mhz = machine_fact_value(machine, "mhz");
    const char *load = machine_fact_value(machine, "load_1m");
    const char *governor = machine_fact_value(machine, "governor");
    bool scaling = strcmp(governor, "performance") != 0 && strcmp(governor, "unknown") != 0;
    char seed[32];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)run->seed);
    json_t *context = json_pack(
        "{s:o, s:s, s:s, s:I, s:I, s:b, s:o, s:[o], s:o, s:s, s:o, s:o, s:o}", "date",
        json_text(run->started), "host_name", "unknown", "executable", "lnbench", "num_cpus",
        (json_int_t)machine->cores, "mhz_per_cpu", (json_int_t)number_read(mhz, NULL),
        "cpu_scaling_enabled", scaling, "caches", caches_json(machine), "load_avg",
        json_figure(number_read(load, NULL)), "library_build_type",
        json_text(machine_fact_value(machine, "google_benchmark_build")), "seed", seed, "plan",
        json_text(run->plan), "plan_hash", json_text(run->plan_hash), "command_line",
        json_text(run->command_line));
    for (size_t i = 0; i < machine->count; i++)
        if (!json_object_get(context, machine->facts[i].name))
            json_object_set_new(context, machine->facts[i].name,
                                json_text(machine->facts[i].value));
    return context;
}

static void add_benchmark(result_store *store, int64_t run, text_buffer *out)
{
    stored_run info = store_run(store, run);
    machine_facts machine = store_machine(store, run);
    json_t *benchmarks = json_array();
    char *sql = with_metrics(benchmark_sql, true);
    store_query(store, sql, run, ROWS_AT_ONCE, add_objects, benchmarks);
    free(sql);
    add_json(out, json_pack("{s:s, s:o, s:o}", "schema", "lnbench-benchmark-4", "context",
                            context_json(&info, &machine), "benchmarks", benchmarks));
    machine_free(&machine);
}

/* ---- formats ---- */

#define EXPORT_FORMAT(name, add) {#name, add},
static const export_format formats[] = {EXPORT_FORMATS(EXPORT_FORMAT)};
enum { FORMATS = sizeof formats / sizeof *formats };

const export_format *export_format_named(const char *name)
{
    const char *names[FORMATS + 1] = {[FORMATS] = "db"}; /* made by commands/export.c */
    for (size_t i = 0; i < FORMATS; i++)
        names[i] = formats[i].name;
    return &formats[word_chosen("format", name, WORDS(names))];
}

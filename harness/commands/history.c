/* lnbench history: shows a measure over the stored runs. One query returns the points, series by series. A series is
 * one case on one machine, because runs of different machines are never pooled. Each series is divided into segments at
 * its lasting changes (E-divisive, store/statistics.h). Points and segments are TEMP tables; queries on them return the
 * changes and the medians of the segments. */
#include "show/answer.h"
#include "commands/options.h"
#include "domain/case.h"
#include "domain/kernel.h"
#include "show/charts/chart.h"
#include "show/compare.h"
#include "store/statistics.h"
#include <stdlib.h>
#include <string.h>

enum { LEAST_RUNS = 8 }; /* two segments of four */

typedef struct history_options {
    const char *measure;
    word_list kernels, conventions, shapes, inputs, caches;
    output_file printed;
    const char *database, *out;
    bool all;
} history_options;

/* Selects one row for each point, numbered within its series. ?1 to ?5 are JSON arrays, of which an empty one restricts
 * nothing: kernels' names, labels and patterns, conventions, shapes, inputs, cache states. The first %s is the value,
 * the others its interval. Series and machines are ordered by their first points. */
static const char points_sql[] =
    "CREATE TEMP TABLE point AS WITH wanted AS MATERIALIZED ("
    " SELECT name FROM (SELECT name, '' AS version FROM kernels UNION SELECT name, descriptor ->> "
    "'$.version' FROM kernels WHERE role = 'peer' UNION VALUES ('copy', ''), ('copy_nt', ''), "
    "('copy_rep', '')) WHERE ?1 = '[]' OR EXISTS (SELECT 1 FROM json_each(?1) WHERE "
    "kernel_matches(value, name) OR value = version)),"
    "own AS MATERIALIZED ("
    " SELECT id, started,"
    "  coalesce((SELECT substr(value, 1, 40) FROM facts WHERE run = runs.id AND name = "
    "'git_commit'), 'unknown') AS \"commit\","
    "  " MACHINE_SQL " AS machine FROM runs),"
    "points AS ("
    " SELECT machine, kernel, convention, rows, hidden, types AS dtype, inputs.name AS input, "
    "cache, threads, operation,"
    "  own.id AS run, started, coalesce((SELECT " PLUGIN_SQL
    " FROM kernels WHERE kernels.run = own.id AND "
    "name = kernel AND role = 'plugin'), \"commit\") AS \"commit\", %s AS value, %s AS lo, %s AS "
    "hi,"
    "  coalesce((SELECT reproducible FROM kernels WHERE kernels.run = own.id AND name = kernel), "
    "'-') AS reproducible,"
    "  row_number() OVER (ORDER BY started, own.id, cases.id) AS place"
    " FROM own CROSS JOIN cells ON cells.run = own.id AND kernel IN (SELECT name FROM wanted)"
    "  CROSS JOIN cases ON cell = cells.id JOIN inputs ON inputs.id = input_id"
    "  LEFT JOIN timings ON timings.case_id = cases.id LEFT JOIN accuracies ON accuracies.case_id "
    "= cases.id"
    " WHERE abs(%s) < 9e999 AND (?1 <> '[]' OR NOT coalesce(is_copy, 0))"
    "  AND (?2 = '[]' OR convention IN (SELECT value FROM json_each(?2)))"
    "  AND (?3 = '[]' OR rows || 'x' || hidden IN (SELECT value FROM json_each(?3)))"
    "  AND inputs.name IN (SELECT value FROM json_each(iif(?4 = '[]', '[\"normal\"]', ?4)))"
    "  AND (?5 = '[]' OR cache IN (SELECT value FROM json_each(?5)))),"
    "placed AS ("
    " SELECT *, min(place) OVER (PARTITION BY machine) AS of_machine,"
    "  min(place) OVER (PARTITION BY machine, kernel, convention, rows, hidden, dtype, input, "
    "cache, threads, operation) AS series"
    " FROM points)"
    "SELECT *, dense_rank() OVER (ORDER BY of_machine) AS machine_number,"
    " row_number() OVER (PARTITION BY series ORDER BY place) - 1 AS nth FROM placed";

/* A segment has the points `first` to `until` - 1 of a series. The view `past` has the points, each with its segment;
 * plots/history.sql draws those of the machine whose number is in the table `drawn`. */
static const char segments_sql[] =
    "CREATE INDEX temp.points_of_series ON point (series, nth); "
    "CREATE TEMP TABLE segment (series, segment, first, until, median, PRIMARY KEY (series, "
    "segment)); "
    "CREATE TEMP VIEW past AS SELECT point.*, segment, median AS segment_median FROM point JOIN "
    "segment ON segment.series = point.series AND nth BETWEEN first AND until - 1; "
    "CREATE TEMP TABLE drawn (measure, machine_number)";

/* Selects one row for each series with its last change: a is the last segment, b the one before it, `since` the first
 * point of the last segment. The largest changes come first. */
static const char series_sql[] =
    "SELECT point.*, a.segment AS changes, point.nth + 1 AS runs,"
    " (SELECT median FROM segment WHERE series = a.series AND segment = 0) AS first,"
    " since.run AS changed, since.\"commit\" AS at, b.median AS before, a.median AS after,"
    " coalesce((SELECT p.reproducible FROM point AS p WHERE p.series = a.series AND p.reproducible "
    "<> point.reproducible ORDER BY p.nth DESC LIMIT 1), point.reproducible) AS was "
    "FROM segment AS a JOIN point ON point.series = a.series AND point.nth = a.until - 1"
    " JOIN point AS since ON since.series = a.series AND since.nth = a.first"
    " LEFT JOIN segment AS b ON b.series = a.series AND b.segment = a.segment - 1 "
    "WHERE NOT EXISTS (SELECT 1 FROM segment WHERE series = a.series AND segment > a.segment) "
    "ORDER BY a.segment = 0, iif(a.median / b.median > 0, max(a.median / b.median, b.median / "
    "a.median), 1) DESC, a.series";

/* A measure in SQL, with the ends of its interval. */
typedef struct measure {
    const char *name, *value, *lo, *hi;
} measure;
static const measure speeds[] = {
    {"time_ns", "time_ns", "time_lo_ns", "time_hi_ns"},
    {"gbps", "gbps", "gbps * time_ns / time_hi_ns", "gbps * time_ns / time_lo_ns"},
    {"copy_ratio", "copy_ratio", "copy_ratio_lo", "copy_ratio_hi"},
    {"cycles", "timings.cycles", "NULL", "NULL"},
    {"instructions", "timings.instructions", "NULL", "NULL"},
};
enum { SPEEDS = sizeof speeds / sizeof *speeds };

/* Stores the segments of a series, from the change points of its latest CHANGE_MOST_VALUES values. */
static void divide(result_store *store, int64_t series)
{
    const change_settings settings = change_defaults();
    stored_table points =
        store_ask(store, "SELECT value FROM point WHERE series = ?1 ORDER BY nth", "i", series);
    const size_t count = points.rows;
    const size_t before = count > CHANGE_MOST_VALUES ? count - CHANGE_MOST_VALUES : 0;
    double *values = allocate_zeroed(count, sizeof *values);
    size_t *changes = allocate_zeroed(count + 1, sizeof *changes), begin = 0;
    for (size_t i = 0; i < count; i++)
        values[i] = table_real(&points, i, "value");
    const size_t found = change_points(values + before, count - before, &settings, changes);
    for (size_t c = 0; c <= found; c++) {
        const size_t end = c < found ? before + changes[c] : count;
        store_put_line(store, "segment", "iiiid", series, (int64_t)c, (int64_t)begin, (int64_t)end,
                       median(values + begin, end - begin));
        begin = end;
    }
    free(changes);
    free(values);
    stored_table_free(&points);
}

/* Makes the TEMP tables point and segment. */
static void load(result_store *store, const history_options *options)
{
    const char *names[64];
    char value[96], *json[5];
    size_t known = 0;
    text_buffer sql = {0};
    for (size_t i = 0; i < SPEEDS; i++)
        names[known++] = speeds[i].name;
    for (size_t i = 0; i < metric_count_all && known < 64; i++)
        if (metric_list[i].kind != METRIC_PLACE)
            names[known++] = metric_list[i].name;
    const size_t at = word_chosen("measure", options->measure, names, known);
    snprintf(value, sizeof value, "iif(elements > 0, %.60s, NULL)", options->measure);
    const measure of = at < SPEEDS ? speeds[at] : (measure){names[at], value, "NULL", "NULL"};
    store_latest_run(store); /* ends the program if there is no run */
    const word_list *const lists[] = {&options->kernels, &options->conventions, &options->shapes,
                                      &options->inputs, &options->caches};
    for (size_t i = 0; i < 5; i++) {
        json_t *array = list_words(lists[i]);
        json[i] = json_dumps(array, 0);
        json_decref(array);
    }
    text_format(&sql, points_sql, of.value, of.lo, of.hi, of.value);
    stored_table made =
        store_ask(store, sql.bytes, "sssss", json[0], json[1], json[2], json[3], json[4]);
    stored_table_free(&made);
    for (size_t i = 0; i < 5; i++)
        free(json[i]);
    text_free(&sql);
    store_script(store, segments_sql);
    stored_table series = store_ask(store, "SELECT DISTINCT series FROM point ORDER BY series", "");
    if (series.rows == 0)
        die(EXIT_CODE_ENVIRONMENT,
            "--measure %s: no stored case of these kernels, conventions, shapes and inputs has it",
            options->measure);
    for (size_t i = 0; i < series.rows; i++)
        divide(store, table_whole(&series, i, "series"));
    stored_table_free(&series);
}

/* ---- showing it ---- */

/* Prints the points while they are read, since a store may have millions of them. */
typedef struct points_printer {
    const history_options *options;
    size_t printed;
} points_printer;

static void print_part(void *context, const stored_table *part)
{
    static const char *const names[] = {
        "machine", "operation", "kernel", "convention", "input",   "rows",
        "hidden",  "dtype",     "cache",  "threads",    "run",     "started",
        "commit",  "value",     "lo",     "hi",         "segment", "segment_median"};
    enum { NAMES = sizeof names / sizeof *names };
    points_printer *printer = context;
    const output_file *out = &printer->options->printed;
    relation_column columns[NAMES + 1];
    for (size_t i = 0; i < NAMES; i++)
        columns[i] = (relation_column)COLUMN(names[i], names[i]);
    columns[NAMES] = (relation_column)COLUMN("reproducible", "reproducibility");
    columns[word_find("value", WORDS(names))].heading = printer->options->measure;
    relation *rows = relation_create(COLUMNS(columns));
    for (size_t row = 0; row < part->rows; row++) {
        for (size_t i = 0; i < NAMES; i++)
            relation_add(rows, table_value(part, row, names[i]));
        relation_add(rows, as_class(table_text(part, row, "reproducible")));
    }
    if (out->format == OUTPUT_JSON) {
        json_t *array = relation_json(rows);
        for (size_t row = 0; row < part->rows; row++) {
            char *text = json_dumps(json_array_get(array, row), JSON_COMPACT | JSON_ENSURE_ASCII);
            fprintf(out->file, "%s\n  %s", printer->printed + row > 0 ? "," : "", text);
            free(text);
        }
        json_decref(array);
    } else {
        if (printer->printed > 0)
            relation_go_on(rows);
        relation_print(rows, out);
    }
    printer->printed += part->rows;
}

/* Prints one row for each point, for programs. */
static void print_points(result_store *store, const history_options *options)
{
    const output_file *out = &options->printed;
    const bool json = out->format == OUTPUT_JSON;
    if (json)
        fprintf(out->file,
                "{\n \"schema\": \"lnbench-history-3\",\n \"measure\": \"%s\",\n \"points\": [",
                options->measure);
    store_query(store, "SELECT * FROM past WHERE series > ?1 ORDER BY series, nth", 0, 1000,
                print_part, &(points_printer){options, 0});
    if (json)
        fprintf(out->file, "\n ]\n}\n");
}

/* Returns "run 12, commit 1234567: 0.512 to 0.478, -6.6 %"; for a plugin, its name and hash replace the commit. */
static relation_value as_change(const stored_table *series, size_t row)
{
    const char *commit = table_text(series, row, "at");
    const double before = table_real(series, row, "before"),
                 after = table_real(series, row, "after");
    char shown[2][16], share[32] = "";
    if (table_whole(series, row, "changes") == 0)
        return as_text(NULL);
    if (before > 0)
        number_print(share, sizeof share, ", %+.2g %%", (after / before - 1) * 100);
    return as_format(strchr(commit, ' ') ? "run %lld, %s: %s to %s%s"
                                         : "run %lld, commit %.12s: %s to %s%s",
                     (long long)table_whole(series, row, "changed"), commit[0] ? commit : "unknown",
                     number_short(before, shown[0]), number_short(after, shown[1]), share);
}

/* The columns that are left out if all series have the same value in them. */
enum { OF_MACHINE, OF_OPERATION = 2, OF_CONVENTION, OF_CACHE = 5, OF_REPRODUCIBLE = 9 };

/* Prints the summary, then the series that changed, or a few others if none did. */
static void print_series(result_store *store, const history_options *options)
{
    static const relation_column columns[] = {
        FOR_PEOPLE("machine"),      FOR_PEOPLE("kernel"),  FOR_PEOPLE("operation"),
        FOR_PEOPLE("convention"),   FOR_PEOPLE("shape"),   FOR_PEOPLE("cache"),
        FOR_PEOPLE("runs"),         FOR_PEOPLE("first"),   FOR_PEOPLE("latest"),
        FOR_PEOPLE("reproducible"), FOR_PEOPLE("changes"), FOR_PEOPLE("last change")};
    enum { MOST_SERIES = 34, LEAST_SERIES = 10 };
    const output_file *out = &options->printed;
    stored_table series = store_ask(store, series_sql, "");
    stored_table machines = store_ask(
        store, "SELECT DISTINCT machine_number, machine FROM point ORDER BY machine_number", "");
    relation *rows = relation_create(COLUMNS(columns));
    size_t changed = 0, few = 0;
    bool class_changed = false;
    for (size_t i = 0; i < series.rows; i++) {
        changed += table_whole(&series, i, "changes") > 0;
        few += table_whole(&series, i, "runs") < LEAST_RUNS;
    }
    size_t most = changed < LEAST_SERIES ? LEAST_SERIES : changed;
    most = most > MOST_SERIES ? MOST_SERIES : most;
    const size_t count = options->all || series.rows < most ? series.rows : most;
    for (size_t i = 0; i < count; i++) {
        const char *input = table_text(&series, i, "input"), *was = table_text(&series, i, "was");
        const char *class = table_text(&series, i, "reproducible");
        const bool usual = strcmp(input, "normal") == 0;
        char both[32];
        class_changed |= strcmp(was, class) != 0;
        relation_row(rows, table_value(&series, i, "machine_number"),
                     table_value(&series, i, "kernel"), table_value(&series, i, "operation"),
                     as_format("%s%s%s", table_text(&series, i, "convention"), usual ? "" : ", ",
                               usual ? "" : input),
                     as_format("%lldx%lld", (long long)table_whole(&series, i, "rows"),
                               (long long)table_whole(&series, i, "hidden")),
                     table_value(&series, i, "cache"), table_value(&series, i, "runs"),
                     as_figure(table_real(&series, i, "first")),
                     as_figure(table_real(&series, i, "value")),
                     as_text(reproducible_both(was, class, both)),
                     table_value(&series, i, "changes"), as_change(&series, i));
    }
    relation_hide_alike(rows, OF_MACHINE);
    relation_hide_alike(rows, OF_OPERATION);
    relation_hide_alike(rows, OF_CONVENTION);
    relation_hide_alike(rows, OF_CACHE);
    if (!class_changed)
        relation_hide_alike(rows, OF_REPRODUCIBLE);
    output_line(out, "%zu of %zu series changed (%s)", changed, series.rows, options->measure);
    if (few > 0)
        output_line(out, "%zu of the %zu series have fewer than %d runs, too few to find a change",
                    few, series.rows, LEAST_RUNS);
    output_line(out, "%s", "");
    relation_print(rows, out);
    if (count < series.rows)
        output_line(out, "%zu more series (--all shows them)", series.rows - count);
    output_line(out, "first: median before any change; machine: CPU, caches, cores, hypervisor");
    for (size_t i = 0; i < machines.rows; i++)
        output_line(out, "machine %lld: %s", (long long)table_whole(&machines, i, "machine_number"),
                    table_text(&machines, i, "machine"));
    stored_table_free(&machines);
    stored_table_free(&series);
}

static exit_code history(void *context, const cli_call *call)
{
    const history_options *options = context;
    const output_file *out = &options->printed;
    const bool for_people = out->format == OUTPUT_TEXT || out->format == OUTPUT_MARKDOWN;
    (void)call;
    result_store *store = store_open(options->database, STORE_READ);
    store_scratch_begin(store);
    load(store, options);
    if (for_people)
        print_series(store, options);
    else
        print_points(store, options);
    if (options->out) {
        stored_table machines =
            store_ask(store, "SELECT max(machine_number) AS count FROM point", "");
        store_put_line(store, "drawn", "si", options->measure, (int64_t)0);
        charts_draw_alone(store, "history", (size_t)table_whole(&machines, 0, "count"),
                          "UPDATE drawn SET machine_number = ?1", options->out, out);
        stored_table_free(&machines);
    }
    store_scratch_end(store);
    store_close(store);
    return EXIT_CODE_FINE;
}

static const cli_option options[] = {
    {"measure", "NAME", "copy_ratio (default), time_ns, gbps, instructions, row_ulp_max, ...",
     OPTION_TEXT, offsetof(history_options, measure)},
    {"kernels", "GLOB,...", "only kernels whose name or label matches", OPTION_LIST,
     offsetof(history_options, kernels)},
    {"conventions", "C", "only this convention; may be given again", OPTION_RAW,
     offsetof(history_options, conventions)},
    {"shapes", "ROWSxHIDDEN,...", "only these shapes", OPTION_LIST,
     offsetof(history_options, shapes)},
    {"inputs", "FAMILY,...", "only these inputs (default: normal)", OPTION_LIST,
     offsetof(history_options, inputs)},
    {"cache", "hot,cold,in-place,read", "only these cache states", OPTION_LIST,
     offsetof(history_options, caches)},
    {"all", NULL, "show every series", OPTION_FLAG, offsetof(history_options, all)},
    OUTPUT_OPTIONS(history_options, printed),
    {"out", "DIR", "draw history_N.svg and .png in DIR, one for each machine", OPTION_TEXT,
     offsetof(history_options, out)},
    STORE_OPTION(history_options, database),
};

const cli_command command_history = {
    .name = "history",
    .brief = "show a measure over the stored runs, with its change points",
    .usage = "[OPTION...]",
    .example = "history --kernels 'library*' --out charts",
    .summary = "Shows a measure over the stored runs and where it changed (E-divisive, p < 0.05).",
    .details =
        "Runs of different machines are never mixed. Text and Markdown have a line for each case;\n"
        "TSV, CSV and JSON have a line for each run of a case.\n"
        "Exit code 0: fine; 2: usage; 7: there is no run or no such case, or a file cannot be\n"
        "used.",
    OPTIONS(options),
    DEFAULTS(history_options, .measure = "copy_ratio"),
    .body = history,
};

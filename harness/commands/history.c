/* lnbench history: a measure over the stored runs. One query gives the points, series by series: a series is a case on
 * one machine, since runs of different machines are never pooled. Each is divided where its values change for good
 * (E-divisive, store/statistics.h); what is shown are the changes, and the medians between them. */
#include "show/answer.h"
#include "base/arena.h"
#include "base/text.h"
#include "commands/options.h"
#include "domain/case.h"
#include "domain/kernel.h"
#include "show/charts/chart.h"
#include "show/compare.h"
#include "store/statistics.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_RUNS = 8 }; /* two segments of four */

typedef struct history_options {
    const char *measure;
    word_list kernels, conventions, shapes, inputs, caches;
    uint64_t seed;
    output_file printed;
    const char *database, *out;
    bool all;
} history_options;

/* Points of one case on one machine: rows of the table, by the time that their run began. */
typedef struct history_series {
    size_t first, count;
    int64_t machine;
    size_t *changes; /* the first point of each new segment */
    size_t change_count;
    double *medians; /* of the segments, change_count + 1 */
} history_series;

typedef struct measure_history {
    const char *measure;
    stored_table points; /* of points_sql, series by series */
    history_series *series;
    size_t count;
    arena memory;     /* of the series' changes and medians */
    int64_t machines; /* they count from 1 on; runs of different machines are never pooled */
} measure_history;

/* A row a point: ?1 the names of kernels that are wanted, ?2 conventions, ?3 shapes, ?4 inputs, ?5 cache states: arrays in
 * JSON, of which an empty one narrows nothing. The first %s is the value, the others its interval. Series stand in the order of
 * their first points, and so do machines. */
static const char points_sql[] =
    "WITH wanted AS MATERIALIZED ("
    " SELECT name FROM (SELECT name FROM kernels UNION VALUES ('copy'), ('copy_nt'), ('copy_rep'))"
    " WHERE ?1 = '[]' OR EXISTS (SELECT 1 FROM json_each(?1) WHERE kernel_matches(value, name))),"
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
    "SELECT *, dense_rank() OVER (ORDER BY of_machine) AS number FROM placed ORDER BY series, "
    "place";

/* What a measure is in SQL, with the ends of its interval. */
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

/* Else the name of an error. */
static void find_measure(const char *name, measure *found, char value[96])
{
    const char *names[64];
    char meant[MEANT_LENGTH];
    size_t known = 0;
    for (size_t i = 0; i < SPEEDS; i++)
        names[known++] = speeds[i].name;
    for (size_t i = 0; i < metric_count_all && known < 64; i++)
        if (metric_list[i].kind != METRIC_PLACE)
            names[known++] = metric_list[i].name;
    size_t at = word_find(name, names, known);
    snprintf(value, 96, "iif(elements > 0, %.60s, NULL)", name);
    *found = at < SPEEDS ? speeds[at] : (measure){name, value, "NULL", "NULL"};
    if (!(at < known))
        die(EXIT_CODE_USAGE,
            "--measure %.60s: time_ns, gbps, copy_ratio, cycles, instructions or an error "
            "metric was expected%s",
            name, did_you_mean(name, names, known, meant));
}

/* Change points of the latest CHANGE_MOST_VALUES. */
static void divide(measure_history *history, history_series *series, uint64_t seed)
{
    change_settings settings = change_defaults();
    size_t first = series->count > CHANGE_MOST_VALUES ? series->count - CHANGE_MOST_VALUES : 0;
    double *values = arena_new(&history->memory, double, series->count + 1);
    series->changes = arena_new(&history->memory, size_t, series->count + 1);
    series->medians = arena_new(&history->memory, double, series->count + 1);
    settings.seed = seed;
    for (size_t i = 0; i < series->count; i++)
        values[i] = table_real(&history->points, series->first + i, "value");
    series->change_count =
        change_points(values + first, series->count - first, &settings, series->changes);
    for (size_t c = 0; c < series->change_count; c++)
        series->changes[c] += first;
    for (size_t c = 0; c <= series->change_count; c++) {
        size_t begin = c ? series->changes[c - 1] : 0;
        size_t end = c < series->change_count ? series->changes[c] : series->count;
        series->medians[c] = median(values + begin, end - begin);
    }
}

/* Asks for the points, and cuts them into series, each with its changes. */
static void load(result_store *store, const history_options *options, measure_history *history)
{
    char value[96], *json[5];
    measure of;
    word_list kernels = {0};
    text_buffer sql = {0};
    find_measure(options->measure, &of, value);
    stored_table latest =
        store_ask(store, "SELECT id FROM runs ORDER BY started DESC, id DESC LIMIT 1", "");
    int64_t run = table_whole(&latest, 0, "id");
    stored_table_free(&latest);
    if (run == 0)
        die(EXIT_CODE_ENVIRONMENT,
            "the store holds no run yet: lnbench run makes one, lnbench import takes one");
    store_kernel_words(store, run, &options->kernels, &kernels);
    const word_list *const lists[] = {&kernels, &options->conventions, &options->shapes,
                                      &options->inputs, &options->caches};
    for (size_t i = 0; i < 5; i++) {
        json_t *array = list_words(lists[i]);
        json[i] = json_dumps(array, 0);
        json_decref(array);
    }
    text_format(&sql, points_sql, of.value, of.lo, of.hi, of.value);
    history->points =
        store_ask(store, sql.bytes, "sssss", json[0], json[1], json[2], json[3], json[4]);
    for (size_t i = 0; i < 5; i++)
        free(json[i]);
    text_free(&sql);
    word_list_free(&kernels);
    const stored_table *points = &history->points;
    for (size_t row = 0; row < points->rows; row++) {
        if (row == 0 ||
            table_whole(points, row, "series") != table_whole(points, row - 1, "series")) {
            history->series =
                allocate_room(history->series, history->count, sizeof *history->series);
            history->series[history->count++] =
                (history_series){.first = row, .machine = table_whole(points, row, "number")};
        }
        history_series *own = &history->series[history->count - 1];
        own->count++;
        history->machines = own->machine > history->machines ? own->machine : history->machines;
    }
    if (history->count == 0)
        die(EXIT_CODE_ENVIRONMENT,
            "--measure %s: no stored case of these kernels, conventions, shapes and inputs has it",
            options->measure);
    for (size_t i = 0; i < history->count; i++)
        divide(history, &history->series[i], options->seed);
}

/* ---- showing it ---- */

/* That of the latest run, and what it was before it changed. */
static const char *class_over_runs(const measure_history *history, const history_series *series,
                                   char buffer[32])
{
    size_t last = series->first + series->count - 1;
    const char *latest = table_text(&history->points, last, "reproducible"), *before = latest;
    for (size_t p = series->count; p-- > 0 && strcmp(before, latest) == 0;)
        before = table_text(&history->points, series->first + p, "reproducible");
    return reproducible_both(before, latest, buffer);
}

/* A row a point; in JSON they stand in their series. */
static relation *points_relation(const measure_history *history)
{
    const relation_column columns[] = {
        FOR_PEOPLE("machine"),
        FOR_PEOPLE("operation"),
        FOR_PEOPLE("kernel"),
        FOR_PEOPLE("convention"),
        FOR_PEOPLE("input"),
        FOR_PEOPLE("rows"),
        FOR_PEOPLE("hidden"),
        FOR_PEOPLE("dtype"),
        FOR_PEOPLE("cache"),
        FOR_PEOPLE("threads"),
        COLUMN("run", "run"),
        COLUMN("started", "started"),
        COLUMN("commit", "commit"),
        COLUMN(history->measure, "value"),
        COLUMN("lo", "lo"),
        COLUMN("hi", "hi"),
        COLUMN("segment", "segment"),
        FOR_PEOPLE("segment_median"),
        COLUMN("reproducible", "reproducibility"),
    };
    return relation_create(COLUMNS(columns));
}

/* A row for each point of a series, with the segment that it lies in. */
static void add_points(relation *rows, const measure_history *history, const history_series *series)
{
    static const char *const plain[] = {
        "machine", "operation", "kernel", "convention", "input",  "rows",  "hidden", "dtype",
        "cache",   "threads",   "run",    "started",    "commit", "value", "lo",     "hi"};
    for (size_t p = 0, segment = 0; p < series->count; p++) {
        while (segment < series->change_count && series->changes[segment] <= p)
            segment++;
        for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
            relation_add(rows, table_value(&history->points, series->first + p, plain[i]));
        relation_row(rows, as_count(segment), as_digits(series->medians[segment]),
                     as_class(table_text(&history->points, series->first + p, "reproducible")));
    }
}

/* Columns that are left out where every series has the same in them. */
enum {
    SERIES_MACHINE = 1,
    SERIES_OPERATION = 3,
    SERIES_CONVENTION,
    SERIES_CACHE = 6,
    SERIES_REPRODUCIBLE = 10
};

static relation *series_relation(void)
{
    static const relation_column columns[] = {
        FOR_PROGRAMS("machine"),   FOR_PEOPLE("machine"),      COLUMN("kernel", EACH_MEMBER),
        FOR_PEOPLE("operation"),   FOR_PEOPLE("convention"),   FOR_PEOPLE("shape"),
        FOR_PEOPLE("cache"),       FOR_PEOPLE("runs"),         FOR_PEOPLE("first"),
        FOR_PEOPLE("latest"),      FOR_PEOPLE("reproducible"), COLUMN("changes", "changes"),
        FOR_PEOPLE("last change"), FOR_PROGRAMS("points"),
    };
    return relation_create(COLUMNS(columns));
}

/* A row for a series: its first and latest median, and what changed last. */
static void add_series(relation *rows, const measure_history *history, const history_series *series)
{
    const stored_table *table = &history->points;
    size_t row = series->first;
    const char *input = table_text(table, row, "input");
    bool usual = strcmp(input, "normal") == 0;
    relation *points = points_relation(history);
    json_t *changes = json_array();
    text_buffer last = {0}; /* "run 12, commit 1234567: 0.512 to 0.478, -6.6 %" */
    char both[32], count[24], shown[2][16];
    add_points(points, history, series);
    snprintf(count, sizeof count, "%zu", series->change_count);
    for (size_t i = 0; i < series->change_count; i++) {
        const size_t at = series->first + series->changes[i];
        const int64_t run = table_whole(table, at, "run");
        const char *commit = table_text(table, at, "commit");
        const double before = series->medians[i], after = series->medians[i + 1];
        json_array_append_new(changes, json_pack("{s:I, s:o, s:o, s:o}", "run", (json_int_t)run,
                                                 "commit", json_text(commit), "before",
                                                 json_figure(before), "after", json_figure(after)));
        if (i + 1 < series->change_count)
            continue;
        /* A plugin has its name and hash in place of the commit. */
        text_format(&last,
                    strchr(commit, ' ') ? "run %lld, %s: %s to %s"
                                        : "run %lld, commit %.12s: %s to %s",
                    (long long)run, commit[0] ? commit : "unknown", number_short(before, shown[0]),
                    number_short(after, shown[1]));
        if (before > 0)
            text_format(&last, ", %+.2g %%", (after / before - 1) * 100);
    }
    relation_row(
        rows, table_value(table, row, "machine"), table_value(table, row, "number"),
        as_json(table_object(table, row, "kernel", "operation"), table_text(table, row, "kernel")),
        table_value(table, row, "operation"),
        as_format("%s%s%s", table_text(table, row, "convention"), usual ? "" : ", ",
                  usual ? "" : input),
        as_format("%lldx%lld", (long long)table_whole(table, row, "rows"),
                  (long long)table_whole(table, row, "hidden")),
        table_value(table, row, "cache"), as_count(series->count), as_figure(series->medians[0]),
        as_figure(table_real(table, row + series->count - 1, "value")),
        as_text(class_over_runs(history, series, both)), as_json(changes, count),
        as_text(last.bytes), as_json(relation_json(points), ""));
    text_free(&last);
}

enum { MOST_SERIES = 34, LEAST_SERIES = 10 };

/* By how much the latest change moved it; 0 where nothing did. */
static double moved(const history_series *series)
{
    size_t last = series->change_count;
    if (last == 0)
        return 0;
    double share = series->medians[last] / series->medians[last - 1];
    return share > 0 ? 1 + fabs(log(share)) : 1;
}

static int moved_first(const void *a, const void *b)
{
    const history_series *left = *(const history_series *const *)a;
    const history_series *right = *(const history_series *const *)b;
    double difference = moved(right) - moved(left);
    if (difference < 0 || difference > 0)
        return difference < 0 ? -1 : 1;
    return (left > right) - (left < right);
}

/* The answer, then the series that changed, or else a few. */
static void print_series(const measure_history *history, bool all, const output_file *out)
{
    const history_series **series = allocate_zeroed(history->count + 1, sizeof *series);
    size_t changed = 0, few = 0;
    for (size_t i = 0; i < history->count; i++) {
        series[i] = &history->series[i];
        changed += series[i]->change_count > 0;
        few += series[i]->count < LEAST_RUNS;
    }
    qsort(series, history->count, sizeof *series, moved_first);
    size_t most = changed < LEAST_SERIES ? LEAST_SERIES : changed;
    most = most > MOST_SERIES ? MOST_SERIES : most;
    size_t count = all || history->count < most ? history->count : most;
    relation *rows = series_relation();
    char class[32] = "";
    for (size_t i = 0; i < count; i++)
        add_series(rows, history, series[i]);
    relation_hide_alike(rows, SERIES_MACHINE);
    relation_hide_alike(rows, SERIES_OPERATION);
    relation_hide_alike(rows, SERIES_CONVENTION);
    relation_hide_alike(rows, SERIES_CACHE);
    if (count == 0 || !strstr(class_over_runs(history, series[0], class), " was "))
        relation_hide_alike(rows, SERIES_REPRODUCIBLE);
    free(series);
    output_line(out, "%zu of %zu series changed (%s)", changed, history->count, history->measure);
    if (few > 0)
        output_line(out, "%zu of them have too few runs: a change needs %d", few, LEAST_RUNS);
    output_line(out, "%s", "");
    relation_print(rows, out);
    if (count < history->count)
        output_line(out, "%zu more series (--all shows them)", history->count - count);
    output_line(out, "first: the median of the first segment");
    for (int64_t machine = 1; machine <= history->machines; machine++)
        for (size_t i = 0; i < history->count; i++)
            if (history->series[i].machine == machine) {
                output_line(out, "machine %lld: %s", (long long)machine,
                            table_text(&history->points, history->series[i].first, "machine"));
                break;
            }
}

/* What plots/history.sql reads. */
static void put_history(result_store *store, const void *what, size_t number, const char *made_on)
{
    const measure_history *history = what;
    const stored_table *points = &history->points;
    store_script(store, "CREATE TEMP TABLE asked (measure, machine)");
    store_script(store, "CREATE TEMP TABLE past (series, name, run, \"commit\", started, value, "
                        "lo, hi, segment, median)");
    bool asked = false;
    (void)made_on;
    for (size_t i = 0; i < history->count; i++) {
        const history_series *series = &history->series[i];
        if (series->machine != (int64_t)number + 1)
            continue;
        if (!asked)
            store_put_line(store, "asked", "ss", history->measure,
                           table_text(points, series->first, "machine"));
        asked = true;
        for (size_t p = 0, segment = 0; p < series->count; p++) {
            size_t row = series->first + p;
            char name[NAME_MAX_LENGTH + 96];
            while (segment < series->change_count && series->changes[segment] <= p)
                segment++;
            snprintf(name, sizeof name, "%s %lldx%lld", table_text(points, row, "kernel"),
                     (long long)table_whole(points, row, "rows"),
                     (long long)table_whole(points, row, "hidden"));
            store_put_line(store, "past", "isissdddid", (int64_t)i, name,
                           table_whole(points, row, "run"), table_text(points, row, "commit"),
                           table_text(points, row, "started"), table_real(points, row, "value"),
                           table_real(points, row, "lo"), table_real(points, row, "hi"),
                           (int64_t)segment, series->medians[segment]);
        }
    }
}

static exit_code history(void *context, const cli_call *call)
{
    const history_options *options = context;
    const output_file *out = &options->printed;
    const bool json = out->format == OUTPUT_JSON;
    measure_history found = {.measure = options->measure};
    (void)call;
    result_store *store = store_open(options->database, STORE_READ);
    load(store, options, &found);
    if (!output_is_data(out) && !json) {
        print_series(&found, options->all, out);
    } else {
        relation *rows = json ? series_relation() : points_relation(&found);
        for (size_t i = 0; i < found.count; i++)
            (json ? add_series : add_points)(rows, &found, &found.series[i]);
        relation_print_in(rows,
                          json_pack("{s:s, s:o}", "schema", "lnbench-history-2", "measure",
                                    json_text(found.measure)),
                          "series", out);
    }
    if (options->out)
        charts_draw_alone("history", (size_t)found.machines, put_history, &found, options->out,
                          out);
    store_close(store);
    arena_free(&found.memory);
    free(found.series);
    stored_table_free(&found.points);
    return EXIT_CODE_FINE;
}

static const cli_option options[] = {
    {"measure", "NAME", "copy_ratio (default), time_ns, gbps, cycles, instructions, an error",
     OPTION_TEXT, offsetof(history_options, measure)},
    {"kernels", "GLOB,...", "only these kernels: names or labels", OPTION_LIST,
     offsetof(history_options, kernels)},
    {"conventions", "C", "only these; may be given again", OPTION_RAW,
     offsetof(history_options, conventions)},
    {"shapes", "ROWSxHIDDEN,...", "only these shapes", OPTION_LIST,
     offsetof(history_options, shapes)},
    {"inputs", "FAMILY,...", "these inputs (default: normal)", OPTION_LIST,
     offsetof(history_options, inputs)},
    {"cache", "hot,cold,in-place,read", "only these cache states", OPTION_LIST,
     offsetof(history_options, caches)},
    {"all", NULL, "show every series", OPTION_FLAG, offsetof(history_options, all)},
    OUTPUT_OPTIONS(history_options, printed),
    {"out", "DIR", "draw history_N.svg and .png there, one for each machine", OPTION_TEXT,
     offsetof(history_options, out)},
    STORE_OPTION(history_options, database),
    {"seed", "N", "of the tests of change points (default: 1)", OPTION_COUNT,
     offsetof(history_options, seed)},
};

const cli_command command_history = {
    .name = "history",
    .brief = "a measure over the stored runs, with its change points",
    .usage = "[OPTION...]",
    .example = "history --kernels 'library*' --out charts",
    .summary = "Shows how a measure changed over the stored runs, by commit (E-divisive, 5 %).",
    .details =
        "Runs of different machines are never mixed. Text and Markdown have a line for each\n"
        "case, TSV has a line for each run of it.\n"
        "Exit code: 0 fine; 2 usage; 7 no run, no such case, files.",
    OPTIONS(options),
    DEFAULTS(history_options, .measure = "copy_ratio", .seed = 1),
    .body = history,
};

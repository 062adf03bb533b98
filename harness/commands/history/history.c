/* lnbench history: a measure over the stored runs, with its change points. */
#include "commands/history/history.h"
#include "cli/options.h"
#include "base/allocate.h"
#include "domain/reproducible.h"
#include "base/text.h"
#include "answer/run_view.h"
#include "report/charts/chart.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "run 12, commit 1234567: 0.512 to 0.478, -6.6 %" */
static void add_change(text_buffer *out, const history_series *series, size_t change)
{
    const history_point *point = &series->points[series->changes[change]];
    double before = series->medians[change], after = series->medians[change + 1];
    char shown[2][16];
    text_format(out, "run %lld, commit %.12s: %s to %s", (long long)point->run,
                point->commit[0] ? point->commit : "unknown", number_short(before, shown[0]),
                number_short(after, shown[1]));
    if (before > 0)
        text_format(out, ", %+.2g %%", (after / before - 1) * 100);
}

/* That of the latest run, and what it was before it changed. */
static const char *class_over_runs(const history_series *series, char buffer[32])
{
    const char *latest = series->points[series->count - 1].reproducible, *before = latest;
    for (size_t p = series->count; p-- > 0 && strcmp(before, latest) == 0;)
        before = series->points[p].reproducible;
    return reproducible_both(before, latest, buffer);
}

static json_t *changes_json(const history_series *series)
{
    json_t *changes = json_array();
    for (size_t i = 0; i < series->change_count; i++) {
        const history_point *point = &series->points[series->changes[i]];
        json_array_append_new(
            changes, json_pack("{s:I, s:o, s:o, s:o}", "run", (json_int_t)point->run, "commit",
                               json_text(point->commit), "before", json_figure(series->medians[i]),
                               "after", json_figure(series->medians[i + 1])));
    }
    return changes;
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

static void add_points(relation *rows, const measure_history *history, const history_series *series)
{
    const case_key *key = &series->key;
    for (size_t p = 0; p < series->count; p++) {
        const history_point *point = &series->points[p];
        relation_row(rows, as_text(history->machines[series->machine]),
                     as_text(operation_name(key->operation)), as_text(key->kernel),
                     as_text(key->convention), as_text(key->input), as_count(key->rows),
                     as_count(key->hidden), as_text(dtype_name(key->dtype)),
                     as_text(cache_name(key->cache)), as_count(key->threads),
                     as_count((unsigned long long)point->run), as_text(point->started),
                     as_text(point->commit), as_digits(point->value), as_digits(point->lo),
                     as_digits(point->hi), as_count(point->segment),
                     as_digits(series->medians[point->segment]), as_class(point->reproducible));
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

static void add_series(relation *rows, const measure_history *history, const history_series *series)
{
    const case_key *key = &series->key;
    bool usual = strcmp(key->input, "normal") == 0;
    relation *points = points_relation(history);
    text_buffer change = {0};
    char both[32], changes[24];
    add_points(points, history, series);
    if (series->change_count > 0)
        add_change(&change, series, series->change_count - 1);
    snprintf(changes, sizeof changes, "%zu", series->change_count);
    relation_row(rows, as_text(history->machines[series->machine]), as_count(series->machine + 1),
                 as_json(case_key_json(key), key->kernel), as_text(operation_name(key->operation)),
                 as_format("%s%s%s", key->convention, usual ? "" : ", ", usual ? "" : key->input),
                 as_format("%zux%zu", key->rows, key->hidden), as_text(cache_name(key->cache)),
                 as_count(series->count), as_figure(series->medians[0]),
                 as_figure(series->points[series->count - 1].value),
                 as_text(class_over_runs(series, both)), as_json(changes_json(series), changes),
                 as_text(change.bytes), as_json(relation_json(points), ""));
    text_free(&change);
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
static bool print_series(const measure_history *history, bool all, const output_file *out,
                         error *err)
{
    const history_series **series = allocate_zeroed(history->count + 1, sizeof *series);
    size_t changed = 0, few = 0;
    for (size_t i = 0; i < history->count; i++) {
        series[i] = &history->series[i];
        changed += series[i]->change_count > 0;
        few += series[i]->count < HISTORY_LEAST_RUNS;
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
    if (count == 0 || !strstr(class_over_runs(series[0], class), " was "))
        relation_hide_alike(rows, SERIES_REPRODUCIBLE);
    free(series);
    output_line(out, "%zu of %zu series changed (%s)", changed, history->count, history->measure);
    if (few > 0)
        output_line(out, "%zu of them have too few: %d runs are needed to tell", few,
                    HISTORY_LEAST_RUNS);
    output_line(out, "%s", "");
    if (!relation_print(rows, out, err))
        return false;
    if (count < history->count)
        output_line(out, "%zu more series (--all shows them)", history->count - count);
    output_line(out, "first: the median of the first segment");
    for (size_t i = 0; i < history->machine_count; i++)
        output_line(out, "machine %zu: %s", i + 1, history->machines[i]);
    return true;
}

static bool print_points(const measure_history *history, const output_file *out, error *err)
{
    relation *rows = points_relation(history);
    for (size_t i = 0; i < history->count; i++)
        add_points(rows, history, &history->series[i]);
    return relation_print(rows, out, err);
}

static bool print_json(const measure_history *history, const output_file *out, error *err)
{
    relation *rows = series_relation();
    for (size_t i = 0; i < history->count; i++)
        add_series(rows, history, &history->series[i]);
    json_t *whole = json_pack("{s:s, s:o}", "schema", "lnbench-history-2", "measure",
                              json_text(history->measure));
    return relation_print_in(rows, whole, "series", out, err);
}

static bool history_print(const measure_history *history, bool all, const output_file *out,
                          error *err)
{
    return out->format == OUTPUT_JSON ? print_json(history, out, err)
           : output_is_data(out)      ? print_points(history, out, err)
                                      : print_series(history, all, out, err);
}

static bool put_points(result_store *store, const history_series *series, size_t place, error *err)
{
    const case_key *key = &series->key;
    char name[NAME_MAX_LENGTH + 96];
    bool fine = true;
    snprintf(name, sizeof name, "%s %zux%zu", key->kernel, key->rows, key->hidden);
    for (size_t p = 0; fine && p < series->count; p++) {
        const history_point *point = &series->points[p];
        fine = store_put_line(store, "past", err, "isissdddid", (int64_t)place, name, point->run,
                              point->commit, point->started, point->value, point->lo, point->hi,
                              (int64_t)point->segment, series->medians[point->segment]);
    }
    return fine;
}

/* What plots/history.sql reads. */
static bool put_history(result_store *store, const void *what, size_t machine, const char *made_on,
                        error *err)
{
    const measure_history *history = what;
    (void)made_on;
    bool fine =
        store_put_table(store, "asked", "measure, machine", err) &&
        store_put_line(store, "asked", err, "ss", history->measure, history->machines[machine]) &&
        store_put_table(store, "past",
                        "series, name, run, \"commit\", started, value, lo, hi, segment, "
                        "median",
                        err);
    for (size_t i = 0; fine && i < history->count; i++)
        fine =
            history->series[i].machine != machine || put_points(store, &history->series[i], i, err);
    return fine;
}

static bool history_draw(const measure_history *history, const char *directory,
                         const output_file *out, error *err)
{
    return charts_draw_alone("history", history->machine_count, put_history, history, directory,
                             out, err);
}

typedef struct history_options {
    history_request request;
    output_file printed;
    const char *database, *out;
    bool all;
} history_options;

static bool show_history(const measure_history *history, const history_options *options, error *err)
{
    return history_print(history, options->all, &options->printed, err) &&
           (!options->out || history_draw(history, options->out, &options->printed, err));
}

static exit_code history(void *context, const cli_call *call, error *err)
{
    const history_options *options = context;
    result_store *store;
    measure_history found;
    (void)call;
    if (!store_open(options->database, STORE_READ, &store, err))
        return err->code;
    bool fine = history_load(store, &options->request, &found, err);
    store_close(store);
    if (fine) {
        fine = show_history(&found, options, err);
        history_free(&found);
    }
    return fine ? EXIT_CODE_FINE : err->code;
}

static const cli_option options[] = {
    {"measure", "NAME", "copy_ratio (default), time_ns, gbps, cycles, instructions, an error",
     OPTION_TEXT, offsetof(history_options, request.measure)},
    {"kernels", "GLOB,...", "only these kernels: names or labels", OPTION_LIST,
     offsetof(history_options, request.kernels)},
    {"conventions", "C", "only these; may be given again", OPTION_RAW,
     offsetof(history_options, request.conventions)},
    {"shapes", "ROWSxHIDDEN,...", "only these shapes", OPTION_LIST,
     offsetof(history_options, request.shapes)},
    {"inputs", "FAMILY,...", "these inputs (default: normal)", OPTION_LIST,
     offsetof(history_options, request.inputs)},
    {"cache", "hot,cold,in-place,read", "only these cache states", OPTION_LIST,
     offsetof(history_options, request.caches)},
    {"all", NULL, "show every series", OPTION_FLAG, offsetof(history_options, all)},
    OUTPUT_OPTIONS(history_options, printed),
    {"out", "DIR", "draw history_N.svg and .png there, one for each machine", OPTION_TEXT,
     offsetof(history_options, out)},
    STORE_OPTION(history_options, database),
    {"seed", "N", "of the tests of change points (default: 1)", OPTION_COUNT,
     offsetof(history_options, request.seed)},
};

const cli_command command_history = {
    .name = "history",
    .brief = "a measure over the stored runs, with its change points",
    .usage = "[OPTION...]",
    .summary = "A measure over the stored runs by commit, and where it changed "
               "(E-divisive, 5 %). Runs of\n"
               "different machines are never pooled. Text and Markdown: a line "
               "a series; TSV: a line a point.",
    .details = "Exit code: 0 fine; 2 usage; 7 no run, no such case, files.",
    OPTIONS(options),
    DEFAULTS(history_options, .request = {.measure = "copy_ratio", .seed = 1}),
    .body = history,
};

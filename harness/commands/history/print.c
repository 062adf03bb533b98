/* The history as a table, as TSV and as JSON. */
#include "commands/history/history.h"
#include "base/allocate.h"
#include "domain/reproducible.h"
#include "base/text.h"
#include "answer/run_view.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void plain(text_buffer *out, const char *string)
{
    for (; *string; string++) {
        char c = *string >= 0x20 && *string < 0x7f ? *string : '?';
        text_add_bytes(out, &c, 1);
    }
}

/* "run 12, commit 1234567: 0.512 to 0.478, -6.6 %" */
static void add_change(text_buffer *out, const history_series *series, size_t change)
{
    const history_point *point = &series->points[series->changes[change]];
    double before = series->medians[change], after = series->medians[change + 1];
    char shown[2][16], commit[13]; /* as much as tells commits apart */
    text_format(out, "run %lld, commit ", (long long)point->run);
    snprintf(commit, sizeof commit, "%.12s", point->commit[0] ? point->commit : "unknown");
    plain(out, commit);
    text_format(out, ": %s to %s", number_short(before, shown[0]), number_short(after, shown[1]));
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

/* The columns that may say the same of every series; bits of `shown`. */
enum { COLUMN_MACHINE = 1, COLUMN_CONVENTION = 2, COLUMN_CACHE = 4, COLUMN_REPRODUCIBLE = 8 };

static unsigned differing(const history_series *const *series, size_t count)
{
    unsigned shown = 0;
    for (size_t i = 0; i < count; i++) {
        const case_key *first = &series[0]->key, *own = &series[i]->key;
        char one[32], other[32];
        shown |= series[i]->machine != series[0]->machine ? COLUMN_MACHINE : 0;
        shown |=
            strcmp(first->convention, own->convention) != 0 || strcmp(first->input, own->input) != 0
                ? COLUMN_CONVENTION
                : 0;
        shown |= first->cache != own->cache ? COLUMN_CACHE : 0;
        const char *class = class_over_runs(series[i], other);
        shown |= strcmp(class_over_runs(series[0], one), class) != 0 || strstr(class, " was ")
                     ? COLUMN_REPRODUCIBLE
                     : 0;
    }
    return shown;
}

static text_table *series_table(unsigned shown)
{
    const char *headings[11];
    size_t count = 0;
    if (shown & COLUMN_MACHINE)
        headings[count++] = "machine";
    headings[count++] = "kernel";
    if (shown & COLUMN_CONVENTION)
        headings[count++] = "convention";
    headings[count++] = "shape";
    if (shown & COLUMN_CACHE)
        headings[count++] = "cache";
    headings[count++] = "runs";
    headings[count++] = "first";
    headings[count++] = "latest";
    if (shown & COLUMN_REPRODUCIBLE)
        headings[count++] = "reproducible";
    headings[count++] = "changes";
    headings[count++] = "last change";
    return table_create(headings, count);
}

static void add_cells(text_table *table, const history_series *series, unsigned shown_columns)
{
    const case_key *key = &series->key;
    text_buffer cell = {0};
    char shown[16], both[32];
    if (shown_columns & COLUMN_MACHINE)
        table_format(table, "%zu", series->machine + 1);
    plain(&cell, key->kernel);
    table_cell(table, cell.bytes ? cell.bytes : "");
    text_free(&cell);
    plain(&cell, key->convention);
    if (strcmp(key->input, "normal") != 0) {
        text_add(&cell, ", ");
        plain(&cell, key->input);
    }
    if (shown_columns & COLUMN_CONVENTION)
        table_cell(table, cell.bytes ? cell.bytes : "");
    text_free(&cell);
    table_format(table, "%zux%zu", key->rows, key->hidden);
    if (shown_columns & COLUMN_CACHE)
        table_cell(table, cache_name(key->cache));
    table_format(table, "%zu", series->count);
    table_cell(table, number_short(series->medians[0], shown));
    table_cell(table, number_short(series->points[series->count - 1].value, shown));
    if (shown_columns & COLUMN_REPRODUCIBLE)
        table_cell(table, class_over_runs(series, both));
    table_format(table, "%zu", series->change_count);
    if (series->change_count > 0)
        add_change(&cell, series, series->change_count - 1);
    table_cell(table, cell.bytes ? cell.bytes : "-");
    text_free(&cell);
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
    unsigned shown = differing(series, count);
    text_table *table = series_table(shown);
    for (size_t i = 0; i < count; i++)
        add_cells(table, series[i], shown);
    free(series);
    output_line(out, "%zu of %zu series changed (%s)", changed, history->count, history->measure);
    if (few > 0)
        output_line(out, "%zu of them have too few: %d runs are needed to tell", few,
                    HISTORY_LEAST_RUNS);
    output_line(out, "%s", "");
    if (!output_table(out, table, err))
        return false;
    if (count < history->count)
        output_line(out, "%zu more series (--all shows them)", history->count - count);
    output_line(out, "first: the median of the first segment");
    for (size_t i = 0; i < history->machine_count; i++) {
        text_buffer name = {0};
        plain(&name, history->machines[i]);
        output_line(out, "machine %zu: %s", i + 1, name.bytes ? name.bytes : "");
        text_free(&name);
    }
    return true;
}

static bool print_points(const measure_history *history, const output_file *out, error *err)
{
    const char *const headings[] = {
        "machine",        "kernel", "convention", "input",   "rows",           "hidden",
        "dtype",          "cache",  "threads",    "run",     "started",        "commit",
        history->measure, "lo",     "hi",         "segment", "segment_median", "reproducible"};
    text_table *table = table_create(headings, sizeof headings / sizeof *headings);
    char number[40];
    for (size_t i = 0; i < history->count; i++)
        for (size_t p = 0; p < history->series[i].count; p++) {
            const history_series *series = &history->series[i];
            const history_point *point = &series->points[p];
            const double values[] = {point->value, point->lo, point->hi};
            table_cells(table, history->machines[series->machine], series->key.kernel,
                        series->key.convention, series->key.input);
            table_format(table, "%zu", series->key.rows);
            table_format(table, "%zu", series->key.hidden);
            table_cells(table, dtype_name(series->key.dtype), cache_name(series->key.cache));
            table_format(table, "%u", series->key.threads);
            table_format(table, "%lld", (long long)point->run);
            table_cells(table, point->started, point->commit);
            for (int v = 0; v < 3; v++) {
                snprintf(number, sizeof number, "%.17g", values[v]);
                table_cell(table, number);
            }
            table_format(table, "%zu", point->segment);
            table_format(table, "%.17g", series->medians[point->segment]);
            table_cell(table, point->reproducible);
        }
    return output_table(out, table, err);
}

static json_t *point_json(const history_point *point)
{
    return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:I, s:o}", "run", (json_int_t)point->run,
                     "started", json_text(point->started), "commit", json_text(point->commit),
                     "value", json_figure(point->value), "lo", json_figure(point->lo), "hi",
                     json_figure(point->hi), "segment", (json_int_t)point->segment,
                     "reproducibility", reproducible_json(point->reproducible));
}

static json_t *change_json(const history_series *series, size_t change)
{
    const history_point *point = &series->points[series->changes[change]];
    return json_pack("{s:I, s:o, s:o, s:o}", "run", (json_int_t)point->run, "commit",
                     json_text(point->commit), "before", json_figure(series->medians[change]),
                     "after", json_figure(series->medians[change + 1]));
}

static json_t *series_json(const measure_history *history, const history_series *series)
{
    const case_key *key = &series->key;
    json_t *points = json_array(), *changes = json_array();
    for (size_t i = 0; i < series->count; i++)
        json_array_append_new(points, point_json(&series->points[i]));
    for (size_t i = 0; i < series->change_count; i++)
        json_array_append_new(changes, change_json(series, i));
    return json_pack("{s:o, s:o, s:o, s:I, s:I, s:s, s:o, s:s, s:I, s:o, s:o}", "machine",
                     json_text(history->machines[series->machine]), "kernel",
                     json_text(key->kernel), "convention", json_text(key->convention), "rows",
                     (json_int_t)key->rows, "hidden", (json_int_t)key->hidden, "dtype",
                     dtype_name(key->dtype), "input", json_text(key->input), "cache",
                     cache_name(key->cache), "threads", (json_int_t)key->threads, "points", points,
                     "changes", changes);
}

static json_t *history_json(const measure_history *history)
{
    json_t *list = json_array();
    for (size_t i = 0; i < history->count; i++)
        json_array_append_new(list, series_json(history, &history->series[i]));
    return json_pack("{s:s, s:o, s:o}", "schema", "lnbench-history-1", "measure",
                     json_text(history->measure), "series", list);
}

bool history_print(const measure_history *history, bool all, const output_file *out, error *err)
{
    return out->format == OUTPUT_JSON ? output_json(out, history_json(history), err)
           : output_is_data(out)      ? print_points(history, out, err)
                                      : print_series(history, all, out, err);
}

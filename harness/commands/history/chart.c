/* The chart of a history: one of each machine, since their figures have nothing in common. */
#include "commands/history/history.h"
#include "base/allocate.h"
#include "base/paths.h"
#include "report/charts/chart.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SERIES = 8, MOST_TICKS = 10 };

/* The series of one machine with most points, and the runs that any of them has. */
typedef struct history_picture {
    const measure_history *history;
    size_t machine;
    const history_series *series[MOST_SERIES];
    size_t count, left_out;
    const history_point **of_run; /* a point of each, by time */
    size_t run_count;
    double low, high;
} history_picture;

static void choose_series(history_picture *picture)
{
    const measure_history *history = picture->history;
    for (size_t i = 0; i < history->count; i++) {
        const history_series *series = &history->series[i];
        if (series->machine != picture->machine)
            continue;
        size_t at = picture->count;
        while (at > 0 && picture->series[at - 1]->count < series->count)
            at--;
        if (at == MOST_SERIES) {
            picture->left_out++;
            continue;
        }
        size_t last = picture->count < MOST_SERIES ? picture->count++ : MOST_SERIES - 1;
        picture->left_out += last == MOST_SERIES - 1 && picture->series[last] != NULL;
        for (size_t j = last; j > at; j--)
            picture->series[j] = picture->series[j - 1];
        picture->series[at] = series;
    }
}

static int compare_points(const void *a, const void *b)
{
    const history_point *x = *(const history_point *const *)a,
                        *y = *(const history_point *const *)b;
    int order = strcmp(x->started, y->started);
    return order ? order : (x->run > y->run) - (x->run < y->run);
}

static void list_runs(history_picture *picture)
{
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < picture->count; i++)
        count += picture->series[i]->count;
    picture->of_run = allocate((count + 1) * sizeof *picture->of_run);
    count = 0;
    picture->low = INFINITY;
    picture->high = -INFINITY;
    for (size_t i = 0; i < picture->count; i++)
        for (size_t p = 0; p < picture->series[i]->count; p++) {
            const history_point *point = &picture->series[i]->points[p];
            picture->of_run[count++] = point;
            picture->low = fmin(picture->low, point->value);
            picture->high = fmax(picture->high, point->value);
        }
    qsort(picture->of_run, count, sizeof *picture->of_run, compare_points);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || picture->of_run[kept - 1]->run != picture->of_run[i]->run)
            picture->of_run[kept++] = picture->of_run[i];
    picture->run_count = kept;
}

static double place_of(const history_picture *picture, const history_point *point)
{
    for (size_t i = 0; i < picture->run_count; i++)
        if (picture->of_run[i]->run == point->run)
            return (double)i + 1;
    return NAN;
}

/* Points, and after them the segments: a line at the median from the first to the last. */
static void fill_points(const history_picture *picture, text_buffer *points, text_buffer *segments,
                        text_buffer *changes)
{
    tsv_row(points, "wwwww", "series", "x", "value", "lo", "hi");
    tsv_row(segments, "wwww", "series", "x0", "x1", "median");
    tsv_row(changes, "wwww", "series", "x", "from", "to");
    for (size_t i = 0; i < picture->count; i++) {
        const history_series *series = picture->series[i];
        for (size_t p = 0; p < series->count; p++) {
            const history_point *point = &series->points[p];
            tsv_row(points, "znnnn", i + 1, place_of(picture, point), point->value,
                    isnan(point->lo) ? point->value : point->lo,
                    isnan(point->hi) ? point->value : point->hi);
        }
        for (size_t c = 0; c <= series->change_count; c++) {
            size_t begin = c ? series->changes[c - 1] : 0;
            size_t end = c < series->change_count ? series->changes[c] : series->count;
            tsv_row(segments, "znnn", i + 1, place_of(picture, &series->points[begin]),
                    place_of(picture, &series->points[end - 1]), series->medians[c]);
        }
        for (size_t c = 0; c < series->change_count; c++)
            tsv_row(changes, "znnn", i + 1, place_of(picture, &series->points[series->changes[c]]),
                    series->medians[c], series->medians[c + 1]);
    }
}

static void fill_names(const history_picture *picture, text_buffer *out)
{
    for (size_t i = 0; i < picture->count; i++) {
        const case_key *key = &picture->series[i]->key;
        char name[NAME_MAX_LENGTH + 96], setting[32];
        snprintf(setting, sizeof setting, "name_%zu", i + 1);
        snprintf(name, sizeof name, "%s %zux%zu", key->kernel, key->rows, key->hidden);
        tsv_row(out, "wns", setting, 0.0, name);
    }
}

static void fill_ticks(const history_picture *picture, text_buffer *out)
{
    size_t step = (picture->run_count + MOST_TICKS - 1) / MOST_TICKS;
    tsv_row(out, "ww", "x", "label");
    for (size_t i = 0; i < picture->run_count; i += step ? step : 1) {
        char label[16];
        snprintf(label, sizeof label, "%.7s", picture->of_run[i]->commit);
        tsv_row(out, "zs", i + 1, label);
    }
}

static const char *words_for(const char *measure)
{
    static const char *const words[][2] = {{"time_ns", "time of a call (ns)"},
                                           {"gbps", "GB/s (x read and y written)"},
                                           {"roof_ratio", "share of the copy roof"},
                                           {"row_ulp_max", "largest error (row ULP)"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], measure) == 0)
            return words[i][1];
    return measure;
}

static void fill_settings(const history_picture *picture, text_buffer *out)
{
    const measure_history *history = picture->history;
    const history_point *first = picture->of_run[0],
                        *last = picture->of_run[picture->run_count - 1];
    double room = (picture->high - picture->low) * 0.08;
    char title[192], subtitle[160], footer[160];
    size_t changes = 0;
    for (size_t i = 0; i < picture->count; i++)
        changes += picture->series[i]->change_count;
    if (!(room > 0))
        room = picture->high != 0 ? fabs(picture->high) * 0.1 : 1;
    snprintf(title, sizeof title, "%zu run%s, %zu change%s", picture->run_count,
             picture->run_count == 1 ? "" : "s", changes, changes == 1 ? "" : "s");
    snprintf(subtitle, sizeof subtitle, "%.10s to %.10s; lines: medians between change points%s",
             first->started, last->started,
             picture->left_out ? "; series with fewer runs left out" : "");
    snprintf(footer, sizeof footer, "%.150s", history->machines[picture->machine]);
    tsv_settings_begin(out, title, subtitle, footer);
    tsv_row(out, "wnw", "measure", 0.0, words_for(history->measure));
    tsv_row(out, "wnw", "ymin",
            picture->low > 0 ? fmax(0, picture->low - room) : picture->low - room, "-");
    tsv_row(out, "wnw", "ymax", picture->high + room, "-");
    tsv_row(out, "wnw", "runs", (double)picture->run_count, "-");
    tsv_row(out, "wnw", "changes", (double)changes, "-");
    tsv_row(out, "wnw", "series", (double)picture->count, "-");
    fill_names(picture, out);
}

static bool write_tables(const history_picture *picture, const char *directory, const char *stem,
                         error *err)
{
    text_buffer points = {0}, segments = {0}, changes = {0}, ticks = {0}, settings = {0};
    fill_points(picture, &points, &segments, &changes);
    fill_ticks(picture, &ticks);
    fill_settings(picture, &settings);
    /* All are freed, saved or not. */
    bool fine = tsv_save(&points, directory, stem, ".tsv", err);
    fine = tsv_save(&segments, directory, stem, "_segments.tsv", fine ? err : NULL) && fine;
    fine = tsv_save(&changes, directory, stem, "_changes.tsv", fine ? err : NULL) && fine;
    fine = tsv_save(&ticks, directory, stem, "_ticks.tsv", fine ? err : NULL) && fine;
    return tsv_save(&settings, directory, stem, "_settings.tsv", fine ? err : NULL) && fine;
}

/* The tables of one machine, and its name among the stems. */
static bool write_machine(history_picture *picture, const char *folder, word_list *stems,
                          error *err)
{
    char stem[32];
    snprintf(stem, sizeof stem, "history_%zu", picture->machine + 1);
    choose_series(picture);
    if (picture->count == 0)
        return true;
    list_runs(picture);
    word_list_add(stems, stem);
    return write_tables(picture, folder, stem, err);
}

bool history_draw(const measure_history *history, const char *directory, const output_file *out,
                  error *err)
{
    word_list stems = {0};
    file_draft draft;
    bool fine = draft_begin(&draft, directory, err);
    for (size_t i = 0; fine && i < history->machine_count; i++) {
        history_picture picture = {.history = history, .machine = i};
        fine = write_machine(&picture, draft.folder.path, &stems, err);
        free(picture.of_run);
    }
    fine = fine && charts_draw_alone(&draft, &stems, "history", out, err);
    draft_end(&draft);
    word_list_free(&stems);
    return fine;
}

/* The winner per shape as a map: regimes over hidden sizes. */
#include "report_parts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAP_TOP = 70, CELL_HEIGHT = 74, KEY_LINE = 20, TIES_SHOWN = 3 };

/* A cell: the fastest kernel there, and those that this run does not tell apart from it. */
typedef struct map_cell {
    const view_case *best;
    size_t column, line; /* of the map */
    size_t ties;
    char tied[48]; /* their letters */
} map_cell;

typedef struct winner_map {
    size_t *hidden, columns;
    const char *regimes[REGIME_COUNT];
    size_t lines;
    map_cell *cells;
    size_t cell_count;
    size_t *letters; /* of each kernel, from 1; 0: it wins and ties nowhere */
    size_t letter_count;
} winner_map;

static int by_size(const void *a, const void *b)
{
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    return (left > right) - (left < right);
}

/* Every hidden size timed in any regime, and the regimes that have one. */
static bool find_axes(const report_data *data, winner_map *map)
{
    map->hidden = calloc(REGIME_COUNT * (data->view->cases.count + 1), sizeof *map->hidden);
    if (!map->hidden)
        return false;
    for (size_t i = 0; i < REGIME_COUNT; i++) {
        size_t *sizes, count;
        if (!report_hidden_sizes(data, report_regimes[i], &sizes, &count))
            return false;
        if (count > 0)
            map->regimes[map->lines++] = report_regimes[i];
        memcpy(map->hidden + map->columns, sizes, count * sizeof *sizes);
        map->columns += count;
        free(sizes);
    }
    qsort(map->hidden, map->columns, sizeof *map->hidden, by_size);
    size_t distinct = 0;
    for (size_t i = 0; i < map->columns; i++)
        if (i == 0 || map->hidden[i] != map->hidden[i - 1])
            map->hidden[distinct++] = map->hidden[i];
    map->columns = distinct;
    return true;
}

/* A to Z, then A1 ...: a key below the map has the names. */
static const char *letter_words(size_t letter, char buffer[24])
{
    if (letter <= 26)
        snprintf(buffer, 24, "%c", (char)('A' + letter - 1));
    else
        snprintf(buffer, 24, "%c%zu", (char)('A' + (letter - 1) % 26), (letter - 1) / 26);
    return buffer;
}

static size_t letter_of(winner_map *map, size_t kernel)
{
    if (map->letters[kernel] == 0)
        map->letters[kernel] = ++map->letter_count;
    return map->letters[kernel];
}

/* Those whose time in the same rounds has an interval that holds 1. */
static bool find_ties(const report_data *data, winner_map *map, map_cell *cell, error *error)
{
    const view *view = data->view;
    const case_key *best = &cell->best->stored->key;
    for (size_t i = 0; i < data->kernel_count; i++) {
        const view_case *other =
            report_point(data, data->kernels[i].name, map->regimes[cell->line], best->hidden);
        speed_pair pair;
        char letter[24];
        if (!other || other == cell->best || other->stored->key.rows != best->rows ||
            report_at_fault(data, data->kernels[i].name))
            continue;
        if (!speed_of_pair(&view->cases, (size_t)(other - view->views),
                           (size_t)(cell->best - view->views), &pair, error))
            return false;
        if (!(pair.lo <= 1) || cell->ties++ >= TIES_SHOWN)
            continue;
        size_t length = strlen(cell->tied);
        snprintf(cell->tied + length, sizeof cell->tied - length, "%s%s", length ? ", " : "",
                 letter_words(letter_of(map, i), letter));
    }
    return true;
}

static bool fill_cells(const report_data *data, winner_map *map, error *error)
{
    for (size_t line = 0; line < map->lines; line++)
        for (size_t column = 0; column < map->columns; column++) {
            const view_case *best =
                report_fastest(data, map->regimes[line], map->hidden[column], false);
            if (!best)
                continue;
            map_cell *cell = &map->cells[map->cell_count++];
            *cell = (map_cell){.best = best, .column = column, .line = line};
            letter_of(map, report_kernel_index(data, best->stored->key.kernel));
            if (!find_ties(data, map, cell, error))
                return false;
        }
    return true;
}

static void cell_line(const report_data *data, const winner_map *map, const map_cell *cell,
                      text *out)
{
    const case_key *key = &cell->best->stored->key;
    const speed *speed = &cell->best->speed;
    size_t kernel = report_kernel_index(data, key->kernel);
    char words[300], letter[24], gbps[16];
    tsv_number(out, (double)kernel + 1);
    tsv_number(out, (double)cell->column);
    tsv_number(out, (double)cell->line);
    tsv_text(out, letter_words(map->letters[kernel], letter));
    snprintf(words, sizeof words, "%s GB/s", number_short(speed->gbps, gbps));
    tsv_text(out, words);
    snprintf(words, sizeof words, cell->ties > TIES_SHOWN ? "= %s ..." : "= %s", cell->tied);
    tsv_text(out, cell->ties ? words : "");
    snprintf(words, sizeof words, "%s: %s GB/s, %.3f of the roof, at %zu x %zu (%s)%s", key->kernel,
             gbps, speed->roof_ratio, key->rows, key->hidden, map->regimes[cell->line],
             cell->ties ? "; not told apart from others" : "");
    tsv_text(out, words);
    tsv_end(out);
}

/* The key: letter, name and in how many cells it is the fastest. */
static void key_lines(const report_data *data, const winner_map *map, text *out)
{
    text_add(out, "series\tletter\tname\twins\n");
    for (size_t letter = 1; letter <= map->letter_count; letter++)
        for (size_t i = 0; i < data->kernel_count; i++) {
            size_t wins = 0;
            char words[24];
            if (map->letters[i] != letter)
                continue;
            for (size_t j = 0; j < map->cell_count; j++)
                wins += strcmp(map->cells[j].best->stored->key.kernel, data->kernels[i].name) == 0;
            tsv_number(out, (double)i + 1);
            tsv_text(out, letter_words(letter, words));
            tsv_text(out, data->kernels[i].name);
            tsv_number(out, (double)wins);
            tsv_end(out);
        }
}

static bool write_map(const report_data *data, const winner_map *map, const char *directory,
                      chart *chart, error *error)
{
    text cells = {0}, key = {0}, axes = {0}, settings = {0}, words = {0};
    size_t key_rows = (map->letter_count + 1) / 2;
    double bottom = MAP_TOP + CELL_HEIGHT * (double)map->lines;
    double height = bottom + 76 + KEY_LINE * (double)key_rows + 36;
    report_group_words(&data->group, &words);
    text_add(&words, ", normal input; kernels at fault left out; =: not told apart at 95 %");
    tsv_common(&settings, data, chart->title, words.bytes ? words.bytes : "", 1000, height);
    tsv_setting(&settings, "left", 76);
    tsv_setting(&settings, "right", 980);
    tsv_setting(&settings, "top", MAP_TOP);
    tsv_setting(&settings, "bottom", bottom);
    tsv_setting(&settings, "columns", (double)map->columns);
    tsv_setting(&settings, "lines", (double)map->lines);
    text_add(&cells, "series\tcolumn\tline\tletter\tspeed\tties\ttip\n");
    for (size_t i = 0; i < map->cell_count; i++)
        cell_line(data, map, &map->cells[i], &cells);
    key_lines(data, map, &key);
    text_add(&axes, "axis\tplace\tlabel\n");
    for (size_t i = 0; i < map->columns + map->lines; i++) {
        char label[24];
        bool is_column = i < map->columns;
        snprintf(label, sizeof label, "%zu", is_column ? map->hidden[i] : 0);
        tsv_text(&axes, is_column ? "x" : "y");
        tsv_number(&axes, (double)(is_column ? i : i - map->columns));
        tsv_text(&axes, is_column ? label : map->regimes[i - map->columns]);
        tsv_end(&axes);
    }
    settings.failed = settings.failed || words.failed;
    text_free(&words);
    bool fine = tsv_save(&cells, directory, chart->stem, ".tsv", error) &&
                tsv_save(&key, directory, chart->stem, "_key.tsv", error) &&
                tsv_save(&axes, directory, chart->stem, "_axes.tsv", error) &&
                tsv_save(&settings, directory, chart->stem, "_settings.tsv", error);
    text_free(&cells);
    text_free(&key);
    text_free(&axes);
    text_free(&settings);
    return fine;
}

bool chart_winner_map(const report_data *data, const char *directory, chart *chart, error *error)
{
    winner_map map = {0};
    *chart = chart_begin(data, "winner_map", "winner_map.gp",
                         "The fastest kernel by hidden size and regime");
    map.letters = calloc(data->kernel_count + 1, sizeof *map.letters);
    bool fine = map.letters && find_axes(data, &map);
    map.cells = fine ? calloc(map.lines * map.columns + 1, sizeof *map.cells) : NULL;
    if (!fine || !map.cells)
        fine = fail_memory(error, "a map of winners");
    else if (!fill_cells(data, &map, error))
        fine = false;
    else if (map.cell_count == 0)
        snprintf(chart->reason, sizeof chart->reason, "no kernel without fault was timed");
    else
        fine = write_map(data, &map, directory, chart, error);
    free(map.letters);
    free(map.hidden);
    free(map.cells);
    return fine;
}

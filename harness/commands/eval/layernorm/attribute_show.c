#include "commands/eval/layernorm/attribute_show.h"
#include "base/paths.h"
#include "report/charts/chart.h"
#include "domain/reproducible.h"
#include "base/text.h"
#include "answer/run_view.h"
#include <math.h>

/* Of the mean square of all stages together: what a bar shows. */
static double share(const attribution *found, error_stage stage)
{
    double sum = 0;
    for (int s = 0; s < STAGE_TOTAL; s++)
        sum += found->stages[s].rms * found->stages[s].rms;
    return sum > 0 ? found->stages[stage].rms * found->stages[stage].rms / sum : 0;
}

static bool has_figures(const attribution *found)
{
    return found->verdict.kind == VERDICT_OK && found->rows > 0;
}

static const char *statistics_of(const attribution *found)
{
    return !has_figures(found) ? "-" : found->fitted ? "fitted" : "given";
}

bool attribution_print(const attributed *all, size_t count, const output_file *out, error *err)
{
    static const char *const headings[] = {
        "kernel", "mean and rstd", "mean",     "variance",       "rstd",
        "apply",  "rounding",      "total",    "at worst: mean", "variance",
        "rstd",   "apply",         "rounding", "total",          "reproducible"};
    text_table *table = table_create(headings, sizeof headings / sizeof *headings);
    for (size_t i = 0; table && i < count; i++) {
        const attribution *found = &all[i].found;
        char described[256], number[16];
        table_cell(table, all[i].kernel->facts.name);
        table_cell(table, found->verdict.kind != VERDICT_OK
                              ? verdict_describe(&found->verdict, described, sizeof described)
                              : statistics_of(found));
        for (int stage = 0; stage < 2 * STAGES; stage++) {
            const stage_error *stage_result = &found->stages[stage % STAGES];
            double value = stage < STAGES ? stage_result->rms : stage_result->at_worst;
            table_cell(table, number_short(has_figures(found) ? value : NAN, number));
        }
        table_cell(table, all[i].reproducible);
    }
    if (!output_table(out, table, err))
        return false;
    output_line(out, "\nrow ULP: the root mean square of each stage, then what it is, signed, at "
                     "the worst element, where the five sum up to the total");
    return true;
}

static json_t *stages_json(const attribution *found)
{
    json_t *stages = json_object();
    for (int stage = 0; stages && stage < STAGES; stage++) {
        const stage_error *stage_result = &found->stages[stage];
        json_t *entry = json_pack(
            "{s:o, s:o, s:o, s:o}", "max", json_figure(stage_result->max), "rms",
            json_figure(stage_result->rms), "at_worst", json_figure(stage_result->at_worst),
            "share",
            stage == STAGE_TOTAL ? json_null() : json_figure(share(found, (error_stage)stage)));
        if (!entry || json_object_set_new(stages, stage_name((error_stage)stage), entry) != 0) {
            json_decref(stages);
            return NULL;
        }
    }
    return stages;
}

json_t *attribution_json(const attributed *all, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; array && i < count; i++) {
        const attribution *found = &all[i].found;
        json_t *entry = json_pack(
            "{s:s, s:o, s:o, s:I, s:I, s:I, s:I, s:o}", "kernel", all[i].kernel->facts.name,
            "reproducibility", reproducible_json(all[i].reproducible), "statistics",
            has_figures(found) ? json_string(statistics_of(found)) : json_null(), "rows",
            (json_int_t)found->rows, "left_out", (json_int_t)found->left_out, "worst_row",
            (json_int_t)found->worst_row, "worst_column", (json_int_t)found->worst_column, "stages",
            has_figures(found) ? stages_json(found) : json_null());
        json_put_verdict(entry, &found->verdict);
        if (!entry || json_array_append_new(array, entry) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

/* place stage from to: the bar of each stage, from left to right; then the rows' names and totals.
 */
static size_t fill_bars(const attributed *all, size_t count, text_buffer *bars, text_buffer *names)
{
    size_t place = 0;
    tsv_row(bars, "wwww", "place", "stage", "from", "to");
    tsv_row(names, "wwww", "place", "kernel", "total", "statistics");
    for (size_t i = 0; i < count; i++) {
        double from = 0;
        char number[16];
        if (!has_figures(&all[i].found))
            continue;
        place++;
        for (int stage = 0; stage < STAGE_TOTAL; stage++) {
            double to = from + share(&all[i].found, (error_stage)stage);
            tsv_row(bars, "znnn", place, (double)stage + 1, from, to);
            from = to;
        }
        tsv_row(names, "zsss", place, all[i].kernel->facts.name,
                number_short(all[i].found.stages[STAGE_TOTAL].rms, number),
                statistics_of(&all[i].found));
    }
    return place;
}

static void fill_settings(const char *subtitle, size_t rows, text_buffer *out)
{
    char words[400], footer[400], key[24];
    snprintf(words, sizeof words, "%.200s; total: RMS error in row ULP", subtitle);
    tsv_footer_here("fitted: mean and rstd as seen from outside, rstd in variance | ", footer);
    tsv_settings_begin(out, "Where the error comes from: shares of the mean square", words, footer);
    tsv_row(out, "wnw", "rows", (double)rows, "-");
    for (int stage = 0; stage < STAGE_TOTAL; stage++) {
        snprintf(key, sizeof key, "stage_%d", stage + 1);
        tsv_row(out, "wnw", key, 0.0, stage_name((error_stage)stage));
    }
}

static bool write_tables(const attributed *all, size_t count, const char *subtitle,
                         const char *directory, const char *stem, error *err)
{
    text_buffer bars = {0}, names = {0}, settings = {0};
    size_t rows = fill_bars(all, count, &bars, &names);
    fill_settings(subtitle, rows, &settings);
    /* All are freed, saved or not. */
    bool fine = tsv_save(&bars, directory, stem, ".tsv", err);
    fine = tsv_save(&names, directory, stem, "_more.tsv", fine ? err : NULL) && fine;
    fine = tsv_save(&settings, directory, stem, "_settings.tsv", fine ? err : NULL) && fine;
    return fine && (rows > 0 || fail(err, EXIT_CODE_ENVIRONMENT,
                                     "no kernel gave finite rows: there is nothing to draw"));
}

bool attribution_chart(const attributed *all, size_t count, const char *subtitle,
                       const char *directory, const output_file *out, error *err)
{
    static const char *stem = "attribution";
    const word_list stems = {&stem, 1};
    file_draft draft;
    bool fine = draft_begin(&draft, directory, err) &&
                write_tables(all, count, subtitle, draft.folder.path, stem, err) &&
                charts_draw_alone(&draft, &stems, "attribution", out, err);
    draft_end(&draft);
    return fine;
}

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

static json_t *stages_json(const attribution *found)
{
    json_t *stages = json_object();
    for (int stage = 0; stage < STAGES; stage++) {
        const stage_error *own = &found->stages[stage];
        double part = stage == STAGE_TOTAL ? NAN : share(found, (error_stage)stage);
        json_object_set_new(stages, stage_name((error_stage)stage),
                            json_pack("{s:o, s:o, s:o, s:o}", "max", json_figure(own->max), "rms",
                                      json_figure(own->rms), "at_worst", json_figure(own->at_worst),
                                      "share", json_figure(part)));
    }
    return stages;
}

static void add_attribution(relation *rows, const attributed *one)
{
    const attribution *found = &one->found;
    bool known = has_figures(found);
    char described[256];
    const char *statistics = found->verdict.kind == VERDICT_OK
                                 ? statistics_of(found)
                                 : verdict_describe(&found->verdict, described, sizeof described);
    relation_row(
        rows, as_text(one->kernel->facts.name),
        as_json(known ? json_string(statistics) : json_null(), statistics), as_count(found->rows),
        as_count(found->left_out), as_count(found->worst_row), as_count(found->worst_column),
        as_json(known ? stages_json(found) : json_null(), ""), as_verdict(&found->verdict));
    for (int stage = 0; stage < STAGES; stage++)
        relation_add(rows, as_figure(known ? found->stages[stage].rms : NAN));
    for (int stage = 0; stage < STAGES; stage++)
        relation_add(rows, as_figure(known ? found->stages[stage].at_worst : NAN));
    relation_add(rows, as_class(one->reproducible));
}

bool attribution_print(const attributed *all, size_t count, const output_file *out, error *err)
{
    static const relation_column columns[] = {
        COLUMN("kernel", "kernel"),
        COLUMN("mean and rstd", "statistics"),
        FOR_PROGRAMS("rows"),
        FOR_PROGRAMS("left_out"),
        FOR_PROGRAMS("worst_row"),
        FOR_PROGRAMS("worst_column"),
        FOR_PROGRAMS("stages"),
        FOR_PROGRAMS(EACH_MEMBER),
        FOR_PEOPLE("mean"),
        FOR_PEOPLE("variance"),
        FOR_PEOPLE("rstd"),
        FOR_PEOPLE("apply"),
        FOR_PEOPLE("rounding"),
        FOR_PEOPLE("total"),
        FOR_PEOPLE("at worst: mean"),
        FOR_PEOPLE("variance"),
        FOR_PEOPLE("rstd"),
        FOR_PEOPLE("apply"),
        FOR_PEOPLE("rounding"),
        FOR_PEOPLE("total"),
        COLUMN("reproducible", "reproducibility"),
    };
    relation *rows = relation_create(COLUMNS(columns));
    for (size_t i = 0; i < count; i++)
        add_attribution(rows, &all[i]);
    if (!relation_print(rows, out, err))
        return false;
    output_line(out, "\nrow ULP: the root mean square of each stage, then what it is, signed, at "
                     "the worst element, where the five sum up to the total");
    return true;
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

#include "commands/eval/layernorm/attribute_show.h"
#include "report/charts/chart.h"
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
    return found->verdict.kind == VERDICT_RIGHT && found->rows > 0;
}

/* STAGE_MEAN, or the one behind it where the operation has no mean. */
static int first_stage(const kernel_entry *kernel)
{
    return operation_has(operations[kernel->facts.operation], ROLE_MEAN) ? STAGE_MEAN
                                                                         : STAGE_MEAN + 1;
}

static const char *statistics_of(const attribution *found)
{
    return !has_figures(found) ? "-" : found->fitted ? "fitted" : "given";
}

static json_t *stages_json(const attribution *found, int first)
{
    json_t *stages = json_object();
    for (int stage = first; stage < STAGES; stage++) {
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
    const int first = first_stage(one->kernel);
    char described[256];
    const char *statistics = found->verdict.kind == VERDICT_RIGHT
                                 ? statistics_of(found)
                                 : verdict_describe(&found->verdict, described, sizeof described);
    relation_row(
        rows, as_text(one->kernel->facts.name),
        as_json(known ? json_string(statistics) : json_null(), statistics), as_count(found->rows),
        as_count(found->left_out), as_count(found->worst_row), as_count(found->worst_column),
        as_json(known ? stages_json(found, first) : json_null(), ""), as_verdict(&found->verdict));
    for (int stage = first; stage < STAGES; stage++)
        relation_add(rows, as_figure(known ? found->stages[stage].rms : NAN));
    for (int stage = first; stage < STAGES; stage++)
        relation_add(rows, as_figure(known ? found->stages[stage].at_worst : NAN));
    relation_add(rows, as_class(one->reproducible));
}

bool attribution_print(const attributed *all, size_t count, const output_file *out, error *err)
{
    enum { FIXED = 8 };
    const bool mean = count == 0 || first_stage(all[0].kernel) == STAGE_MEAN;
    size_t width = FIXED;
    relation_column columns[FIXED + 2 * STAGES + 1] = {
        COLUMN("kernel", "kernel"), COLUMN(mean ? "mean and rstd" : "root", "statistics"),
        FOR_PROGRAMS("rows"),       FOR_PROGRAMS("left_out"),
        FOR_PROGRAMS("worst_row"),  FOR_PROGRAMS("worst_column"),
        FOR_PROGRAMS("stages"),     FOR_PROGRAMS(EACH_MEMBER),
    };
    for (int at_worst = 0; at_worst < 2; at_worst++)
        for (int stage = mean ? 0 : 1, first = stage; stage < STAGES; stage++)
            columns[width++].heading = stage > first || !at_worst ? stage_name((error_stage)stage)
                                       : mean                     ? "at worst: mean"
                                                                  : "at worst: variance";
    columns[width++] = (relation_column)COLUMN("reproducible", "reproducibility");
    relation *rows = relation_create(columns, width);
    for (size_t i = 0; i < count; i++)
        add_attribution(rows, &all[i]);
    if (!relation_print(rows, out, err))
        return false;
    output_line(out, "\nrow ULP: the root mean square of each stage, then what it is, signed, at "
                     "the worst element, where they sum up to the total");
    return true;
}

typedef struct attribution_picture {
    const attributed *all;
    size_t count;
    const char *subtitle;
} attribution_picture;

static bool put_stages(result_store *store, const attribution *found, const kernel_entry *kernel,
                       size_t place, error *err)
{
    char total[16];
    bool fine = true;
    number_short(found->stages[STAGE_TOTAL].rms, total);
    for (int stage = first_stage(kernel); fine && stage < STAGE_TOTAL; stage++)
        fine = store_put_line(store, "stages", err, "iissdss", (int64_t)place, (int64_t)stage + 1,
                              stage_name((error_stage)stage), kernel->facts.name,
                              found->stages[stage].rms, total, statistics_of(found));
    return fine;
}

/* What plots/attribution.sql reads. */
static bool put_attribution(result_store *store, const void *what, size_t number,
                            const char *made_on, error *err)
{
    const attribution_picture *picture = what;
    size_t place = 0;
    (void)number;
    bool fine =
        store_put_table(store, "asked", "subtitle, made_on", err) &&
        store_put_line(store, "asked", err, "ss", picture->subtitle, made_on) &&
        store_put_table(store, "stages", "place, stage, name, kernel, rms, total, statistics", err);
    for (size_t i = 0; fine && i < picture->count; i++)
        fine = !has_figures(&picture->all[i].found) ||
               put_stages(store, &picture->all[i].found, picture->all[i].kernel, ++place, err);
    return fine;
}

bool attribution_chart(const attributed *all, size_t count, const char *subtitle,
                       const char *directory, const output_file *out, error *err)
{
    const attribution_picture picture = {all, count, subtitle};
    return charts_draw_alone("attribution", 0, put_attribution, &picture, directory, out, err);
}

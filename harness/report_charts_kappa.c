/* The charts over kappa: of the error of y, and of that of the variance. */
#include "report_parts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUCKETS_A_DECADE = 4,
    BUCKETS = 4 * 40,
};

/* What the rows drawn have in common. */
typedef struct row_group {
    const char *convention;
    ln_type dtype;
    size_t hidden, rows;
} row_group;

/* What of a row a chart shows. */
typedef struct row_figure {
    double value, bound; /* NaN: nothing to show; no bound */
    bool wrong;
} row_figure;
typedef row_figure figure_of_row(const view *view, const stored_row *row);

/* The worst row of a kernel within a quarter of a decade of kappa. */
typedef struct kappa_point {
    bool any, wrong;
    double kappa, value, bound, wrong_kappa;
    const char *input;
} kappa_point;

typedef struct kappa_chart {
    const report_data *data;
    row_group group;
    figure_of_row *figure;
    const char *unit; /* of the value, for tips */
    double kappa_max, low, high;
} kappa_chart;

static const case_key *row_key(const view *view, const stored_row *row)
{
    return row->case_index < view->cases.count ? &view->cases.cases[row->case_index].key : NULL;
}

/* The error of y, and what is proved of it. */
static row_figure error_of_row(const view *view, const stored_row *row)
{
    const stored_case *stored = &view->cases.cases[row->case_index];
    bool wrong = !isfinite(row->row_ulp) &&
                 (stored->verdict.kind == VERDICT_WRONG_CLASS || stored->metrics.mismatches > 0);
    return (row_figure){row->row_ulp, row->bound_row_ulp, wrong};
}

/* The relative error of 1/rstd^2, which is var + eps where eps is in the variance: e of rstd is
 * (1 + e)^-2 - 1 of it. A kernel that gives a mean but no number for rstd gives a wrong class. */
static row_figure variance_of_row(const view *view, const stored_row *row)
{
    (void)view;
    double e = row->rstd_error;
    bool wrong = !isfinite(e) && isfinite(row->mean_error);
    double value = fabs(e) < 1e-8 ? 2 * fabs(e) : fabs(1 / ((1 + e) * (1 + e)) - 1);
    return (row_figure){isfinite(e) ? value : NAN, NAN, wrong};
}

static bool is_drawable(const view *view, const stored_row *row, figure_of_row *figure)
{
    if (!row_key(view, row) || !isfinite(row->kappa) || !(row->kappa > 0))
        return false;
    row_figure of_row = figure(view, row);
    return isfinite(of_row.value) || of_row.wrong;
}

static bool in_row_group(const row_group *group, const case_key *key)
{
    return group->hidden == key->hidden && group->dtype == key->dtype &&
           strcmp(group->convention, key->convention) == 0;
}

/* The rows of each group; false: memory. */
static bool count_groups(const report_data *data, figure_of_row *figure, row_group **groups,
                         size_t *count)
{
    const view *view = data->view;
    size_t at = 0;
    *count = 0;
    *groups = calloc(view->cases.count + 1, sizeof **groups);
    if (!*groups)
        return false;
    for (size_t i = 0; i < view->rows.count; i++) {
        if (!is_drawable(view, &view->rows.rows[i], figure))
            continue;
        const case_key *key = row_key(view, &view->rows.rows[i]);
        if (*count == 0 || !in_row_group(&(*groups)[at], key)) /* they come in runs */
            for (at = 0; at < *count && !in_row_group(&(*groups)[at], key);)
                at++;
        if (at == *count)
            (*groups)[(*count)++] = (row_group){key->convention, key->dtype, key->hidden, 0};
        (*groups)[at].rows++;
    }
    return true;
}

/* The convention of the speed charts if it has rows, then the hidden size with most of them. */
static bool choose_rows(const report_data *data, figure_of_row *figure, row_group *best)
{
    row_group *groups;
    size_t count;
    bool best_matches = false;
    *best = (row_group){0};
    if (!count_groups(data, figure, &groups, &count))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (data->is_other_type && groups[i].dtype != data->judged.dtype)
            continue;
        bool matches = data->judged.cases && groups[i].dtype == data->judged.dtype &&
                       strcmp(groups[i].convention, data->judged.convention) == 0;
        if (best->rows == 0 || (matches && !best_matches) ||
            (matches == best_matches && groups[i].rows > best->rows)) {
            *best = groups[i];
            best_matches = matches;
        }
    }
    free(groups);
    return true;
}

static void gather_points(const kappa_chart *chart, size_t kernel, kappa_point points[BUCKETS])
{
    const view *view = chart->data->view;
    memset(points, 0, BUCKETS * sizeof *points);
    for (size_t i = 0; i < view->rows.count; i++) {
        const stored_row *row = &view->rows.rows[i];
        const case_key *key = row_key(view, row);
        if (!key || !in_row_group(&chart->group, key) ||
            strcmp(key->kernel, chart->data->kernels[kernel].name) != 0 ||
            !is_drawable(view, row, chart->figure))
            continue;
        row_figure figure = chart->figure(view, row);
        double place = round(BUCKETS_A_DECADE * log10(row->kappa));
        kappa_point *point = &points[(size_t)fmax(0, fmin(BUCKETS - 1, place))];
        if (figure.wrong) {
            point->wrong = true;
            point->wrong_kappa = row->kappa;
        } else if (!point->any || figure.value > point->value) {
            point->any = true;
            point->kappa = row->kappa;
            point->value = figure.value;
            point->bound = figure.bound;
            point->input = key->input;
        }
    }
}

static void found_line(kappa_chart *chart, size_t panel, size_t kernel, const kappa_point *point,
                       text *out)
{
    char tip[300], kappa[16], value[16], bound[16];
    snprintf(tip, sizeof tip, "%s: kappa %s, found %s %s (%.60s)%s%s",
             chart->data->kernels[kernel].name, number_short(point->kappa, kappa),
             number_short(point->value, value), chart->unit, point->input,
             isnan(point->bound) ? "" : ", proved ",
             isnan(point->bound)      ? ""
             : isfinite(point->bound) ? number_short(point->bound, bound)
                                      : "nothing");
    panel_point(
        chart->data, panel, kernel,
        &(panel_point_facts){point->input, tip, point->kappa, point->value, point->bound, false},
        out);
    chart->kappa_max = fmax(chart->kappa_max, point->kappa);
    if (point->value > 0) {
        chart->low = fmin(chart->low, point->value);
        chart->high = fmax(chart->high, point->value);
    }
}

static void wrong_line(kappa_chart *chart, size_t panel, size_t kernel, const kappa_point *point,
                       text *out)
{
    char tip[300], kappa[16];
    snprintf(tip, sizeof tip, "%s: wrong class at kappa %s", chart->data->kernels[kernel].name,
             number_short(point->wrong_kappa, kappa));
    panel_point(chart->data, panel, kernel,
                &(panel_point_facts){" ", tip, point->wrong_kappa, NAN, NAN, true}, out);
    chart->kappa_max = fmax(chart->kappa_max, point->wrong_kappa);
}

/* Writes one kernel's points and widens the range; returns whether there was one. */
static bool fill_kernel(void *context, size_t panel, size_t kernel, text *out)
{
    kappa_chart *chart = context;
    kappa_point points[BUCKETS];
    bool any = false;
    gather_points(chart, kernel, points);
    for (size_t i = 0; i < BUCKETS; i++) {
        if (points[i].any)
            found_line(chart, panel, kernel, &points[i], out);
        if (points[i].wrong)
            wrong_line(chart, panel, kernel, &points[i], out);
        any = any || points[i].any || points[i].wrong;
    }
    return any;
}

static bool same_theory(const theory *a, const theory *b)
{
    return a->kind == b->kind && a->two_parts == b->two_parts && a->depth == b->depth &&
           a->unit == b->unit && a->rstd == b->rstd && a->apply == b->apply;
}

/* To first order, hence up to where the variance has lost all its digits. */
static void draw_theory(panels *panels, size_t panel, size_t line, const theory *theory,
                        const chart_frame *frame, double (*value)(const struct theory *, double))
{
    enum { STEPS = 80 };
    for (int i = 0; i <= STEPS; i++) {
        double kappa = pow(frame->x_max, i / (double)STEPS);
        double y = value(theory, kappa);
        if (theory_variance(theory, kappa) < 1 && y <= frame->y_max)
            panel_line_point(panels, panel, 1, line, kappa, fmax(y, frame->y_min));
    }
}

/* A line for each way of summing, and depth of it, that a panel's kernels have. */
static void theory_lines(const kappa_chart *chart, panels *panels, const chart_frame *frame,
                         double (*value)(const struct theory *, double))
{
    enum { MOST = 8 };
    for (size_t panel = 0; panel < panels->count; panel++) {
        theory drawn[MOST];
        size_t count = 0;
        for (size_t i = 0; i < chart->data->kernel_count && count < MOST; i++) {
            bool seen =
                panels->of[i] != panel + 1 ||
                !theory_of(&chart->data->kernels[i].facts, chart->group.hidden, &drawn[count]);
            for (size_t j = 0; j < count && !seen; j++)
                seen = same_theory(&drawn[j], &drawn[count]);
            if (!seen) {
                draw_theory(panels, panel, count, &drawn[count], frame, value);
                count++;
            }
        }
    }
}

static void kappa_ticks(const chart_frame *frame, text *out)
{
    double ticks[64];
    size_t count = layout_log_ticks(1, frame->x_max, ticks, 64);
    text_add(out, "value\tlabel\n");
    for (size_t i = 0; i < count; i++) {
        tsv_number(out, ticks[i]);
        tsv_text(out, "=");
        tsv_end(out);
    }
}

static bool write_kappa(kappa_chart *over, panels *panels, bool is_error, const char *directory,
                        chart *chart, error *error)
{
    char subtitle[300];
    chart_frame frame = {.x_min = 0.7, .x_log = true, .y_log = true};
    frame.x_max = pow(10, ceil(log10(over->kappa_max) - 0.01)) * 1.5;
    frame.y_min = pow(10, fmax(is_error ? -4 : -17, floor(log10(over->low))));
    frame.y_max = pow(10, ceil(log10(over->high)) + 1) * 1.001; /* so that the top has its tick */
    theory_lines(over, panels, &frame, is_error ? theory_row_ulp : theory_variance_seen);
    snprintf(
        subtitle, sizeof subtitle,
        "%s, %s, hidden %zu; each mark: the worst judged row within a quarter decade of kappa, "
        "offset and kappa inputs",
        dtype_name(over->group.dtype), over->group.convention, over->group.hidden);
    text *settings = &panels->settings;
    tsv_setting_text(settings, "found", "found");
    tsv_setting_text(settings, "proved", is_error ? "proved of that row" : "");
    tsv_setting_words(settings, "line1",
                      is_error ? "κ·δmean + max|x̂|·δvar/2 + c·u, at the kernel's depth"
                               : "Chan, Golub, LeVeque (1983) at the kernel's depth, + 5u of rstd");
    tsv_setting_text(settings, "line2", "");
    tsv_setting_text(settings, "line3", "");
    tsv_setting_text(settings, "wrong", "wrong class (at the top edge)");
    tsv_setting_words(settings, "xlabel", "κ, condition number of the row");
    tsv_setting_text(settings, "ylabel", is_error ? "error (row ULP)" : "relative error");
    kappa_ticks(&frame, &panels->xticks);
    return panels_save(over->data, panels, &frame, chart, subtitle, directory, error);
}

static bool draw_kappa(const report_data *data, bool is_error, const char *directory, chart *chart,
                       error *error)
{
    panels panels;
    kappa_chart over = {.data = data,
                        .figure = is_error ? error_of_row : variance_of_row,
                        .unit = is_error ? "row ULP" : "of var",
                        .kappa_max = 10,
                        .low = is_error ? 1 : 1e-7,
                        .high = is_error ? 10 : 1e-6};
    if (!choose_rows(data, over.figure, &over.group))
        return fail_memory(error, "groups of rows");
    if (over.group.rows == 0) {
        snprintf(chart->reason, sizeof chart->reason,
                 is_error ? "no judged row has a finite kappa"
                          : "no kernel gave mean and rstd of a row with a finite kappa");
        return true;
    }
    bool fine = panels_gather(data, fill_kernel, &over, &panels);
    if (!fine)
        fail_memory(error, "panels of a chart");
    fine = fine && write_kappa(&over, &panels, is_error, directory, chart, error);
    panels_free(&panels);
    return fine;
}

bool chart_error_kappa(const report_data *data, const char *directory, chart *chart, error *error)
{
    *chart =
        chart_begin(data, "error_kappa", "panels.gp", "Error over the condition number of the row");
    return draw_kappa(data, true, directory, chart, error);
}

bool chart_variance_kappa(const report_data *data, const char *directory, chart *chart,
                          error *error)
{
    *chart = chart_begin(data, "variance_kappa", "panels.gp",
                         "Error of the variance over the condition number of the row");
    return draw_kappa(data, false, directory, chart, error);
}

/* The chart of row ULP over kappa. */
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

/* The worst row of a kernel within a quarter of a decade of kappa, and its own bound. */
typedef struct kappa_point {
    bool any, wrong_class;
    double kappa, row_ulp, bound, wrong_kappa;
    const char *input;
} kappa_point;

typedef struct kappa_range {
    double kappa_max, low, high;
} kappa_range;

static const case_key *row_key(const view *view, const stored_row *row)
{
    return row->case_index < view->cases.count ? &view->cases.cases[row->case_index].key : NULL;
}

static bool is_wrong_class(const view *view, const stored_row *row)
{
    const stored_case *stored = &view->cases.cases[row->case_index];
    return !isfinite(row->row_ulp) &&
           (stored->verdict.kind == VERDICT_WRONG_CLASS || stored->metrics.mismatches > 0);
}

static bool is_drawable(const view *view, const stored_row *row)
{
    return row_key(view, row) && isfinite(row->kappa) && row->kappa > 0 &&
           (isfinite(row->row_ulp) || is_wrong_class(view, row));
}

static bool in_row_group(const row_group *group, const case_key *key)
{
    return group->hidden == key->hidden && group->dtype == key->dtype &&
           strcmp(group->convention, key->convention) == 0;
}

/* The convention of the speed charts if it has rows, then the hidden size with most of them. */
static row_group choose_rows(const report_data *data)
{
    const view *view = data->view;
    row_group best = {0};
    bool best_matches = false;
    for (size_t i = 0; i < view->rows.count; i++) {
        if (!is_drawable(view, &view->rows.rows[i]))
            continue;
        const case_key *key = row_key(view, &view->rows.rows[i]);
        if (best.rows && in_row_group(&best, key))
            continue;
        row_group group = {key->convention, key->dtype, key->hidden, 0};
        for (size_t j = 0; j < view->rows.count; j++)
            group.rows += is_drawable(view, &view->rows.rows[j]) &&
                          in_row_group(&group, row_key(view, &view->rows.rows[j]));
        bool matches = data->judged.cases && report_same_judged(&data->judged, key);
        if (best.rows == 0 || (matches && !best_matches) ||
            (matches == best_matches && group.rows > best.rows)) {
            best = group;
            best_matches = matches;
        }
    }
    return best;
}

static void gather_points(const report_data *data, const row_group *group, size_t kernel,
                          kappa_point points[BUCKETS])
{
    const view *view = data->view;
    memset(points, 0, BUCKETS * sizeof *points);
    for (size_t i = 0; i < view->rows.count; i++) {
        const stored_row *row = &view->rows.rows[i];
        if (!is_drawable(view, row))
            continue;
        const case_key *key = row_key(view, row);
        if (!in_row_group(group, key) || strcmp(key->kernel, data->kernels[kernel].name) != 0)
            continue;
        double place = round(BUCKETS_A_DECADE * log10(row->kappa));
        kappa_point *point = &points[(size_t)fmax(0, fmin(BUCKETS - 1, place))];
        if (!isfinite(row->row_ulp)) {
            point->wrong_class = true;
            point->wrong_kappa = row->kappa;
        } else if (!point->any || row->row_ulp > point->row_ulp) {
            point->any = true;
            point->kappa = row->kappa;
            point->row_ulp = row->row_ulp;
            point->bound = row->bound_row_ulp;
            point->input = key->input;
        }
    }
}

static void point_line(const report_data *data, size_t panel, size_t kernel, double kappa,
                       double row_ulp, double bound, bool wrong, const char *input, text *out)
{
    tsv_number(out, (double)panel + 1);
    tsv_number(out, (double)kernel + 1);
    tsv_text(out, data->kernels[kernel].name);
    tsv_text(out, input);
    tsv_number(out, kappa);
    tsv_number(out, row_ulp);
    tsv_number(out, bound);
    tsv_number(out, wrong);
    char tip[300], kappa_words[16], error_words[16], bound_words[16];
    number_short(kappa, kappa_words);
    if (wrong)
        snprintf(tip, sizeof tip, "%s: wrong class at kappa %s", data->kernels[kernel].name,
                 kappa_words);
    else
        snprintf(tip, sizeof tip, "%s: kappa %s, found %s row ULP (%.60s), proved %s",
                 data->kernels[kernel].name, kappa_words, number_short(row_ulp, error_words), input,
                 isfinite(bound) ? number_short(bound, bound_words) : "nothing");
    tsv_text(out, tip);
    tsv_end(out);
}

/* Writes one kernel's points and widens the range; returns whether there was one. */
static bool kernel_points(const report_data *data, const row_group *group, size_t panel,
                          size_t kernel, kappa_range *range, text *out)
{
    kappa_point points[BUCKETS];
    bool any = false;
    gather_points(data, group, kernel, points);
    for (size_t i = 0; i < BUCKETS; i++) {
        const kappa_point *point = &points[i];
        if (point->any) {
            point_line(data, panel, kernel, point->kappa, point->row_ulp, point->bound, false,
                       point->input, out);
            range->kappa_max = fmax(range->kappa_max, point->kappa);
            if (point->row_ulp > 0) {
                range->low = fmin(range->low, point->row_ulp);
                range->high = fmax(range->high, point->row_ulp);
            }
        }
        if (point->wrong_class) {
            point_line(data, panel, kernel, point->wrong_kappa, NAN, NAN, true, " ", out);
            range->kappa_max = fmax(range->kappa_max, point->wrong_kappa);
        }
        any = any || point->any || point->wrong_class;
    }
    return any;
}

static size_t fill_panels(const report_data *data, const row_group *group, const char **titles,
                          kappa_range *range, text *out)
{
    size_t panels = 0;
    text_add(out,
             "panel\tseries\tkernel\tinput\tkappa\trow_ulp\tbound_row_ulp\twrong_class\ttip\n");
    for (size_t first = 0; first < data->kernel_count; first++) {
        const char *title = panel_title(&data->kernels[first]);
        bool seen = false, any = false;
        for (size_t i = 0; i < first; i++)
            seen = seen || strcmp(panel_title(&data->kernels[i]), title) == 0;
        for (size_t i = first; i < data->kernel_count && !seen; i++)
            if (strcmp(panel_title(&data->kernels[i]), title) == 0)
                any = kernel_points(data, group, panels, i, range, out) || any;
        if (any)
            titles[panels++] = title;
    }
    return panels;
}

/* Where the names of u kappa and N u kappa^2 stand: where the lines leave the frame. In row
 * ULP, u * kappa is kappa at most: ulp(s) > u * s for every s that is not subnormal. */
static void theory_labels(const chart_frame *frame, size_t hidden, text *settings)
{
    double n = (double)hidden;
    double end = fmin(frame->x_max, frame->y_max);
    double square_end = fmin(frame->x_max, sqrt(frame->y_max / n));
    tsv_setting(settings, "theory_x", end);
    tsv_setting(settings, "theory_y", end);
    tsv_setting(settings, "square_shown", square_end > frame->x_min);
    tsv_setting(settings, "square_x", square_end);
    tsv_setting(settings, "square_y", square_end * square_end * n);
    tsv_setting(settings, "hidden", n);
}

static bool write_kappa(const report_data *data, const row_group *group, const char **titles,
                        const char *directory, chart *chart, error *error)
{
    text points = {0}, panel_lines = {0}, ticks = {0}, settings = {0}, layout = {0};
    kappa_range range = {10, 1, 10};
    chart_frame frame = {.x_min = 0.7, .x_log = true, .y_log = true};
    double height;
    char subtitle[300];
    size_t panels = fill_panels(data, group, titles, &range, &points);
    frame.x_max = pow(10, ceil(log10(range.kappa_max) - 0.01)) * 1.5;
    frame.y_min = pow(10, fmax(-4, floor(log10(range.low))));
    frame.y_max = pow(10, ceil(log10(range.high)) + 1);
    panel_frames(data, titles, panels, 1000, &frame, &height, &layout, &panel_lines);
    snprintf(subtitle, sizeof subtitle,
             "%s, %s, hidden %zu; each mark is the worst judged row within a quarter decade of "
             "kappa, all input families",
             dtype_name(group->dtype), group->convention, group->hidden);
    tsv_common(&settings, data, chart->title, subtitle, 1000, height);
    tsv_frame(&settings, "", &frame);
    tsv_setting(&settings, "panels", (double)panels);
    text_add(&settings, layout.bytes ? layout.bytes : "");
    settings.failed = settings.failed || layout.failed;
    text_free(&layout);
    theory_labels(&frame, group->hidden, &settings);
    text_add(&ticks, "axis\tvalue\n");
    tsv_log_ticks(&ticks, "x", 1, frame.x_max);
    tsv_log_ticks(&ticks, "y", frame.y_min, frame.y_max);
    bool fine = tsv_save(&points, directory, chart->stem, ".tsv", error) &&
                tsv_save(&panel_lines, directory, chart->stem, "_panels.tsv", error) &&
                tsv_save(&ticks, directory, chart->stem, "_ticks.tsv", error) &&
                tsv_save(&settings, directory, chart->stem, "_settings.tsv", error);
    text_free(&points);
    text_free(&panel_lines);
    text_free(&ticks);
    text_free(&settings);
    return fine;
}

bool chart_error_kappa(const report_data *data, const char *directory, chart *chart, error *error)
{
    *chart = (struct chart){.stem = "error_kappa", .script = "error_kappa.gp"};
    row_group group = choose_rows(data);
    snprintf(chart->title, sizeof chart->title, "Error over the condition number of the row");
    if (group.rows == 0) {
        snprintf(chart->reason, sizeof chart->reason, "no judged row has a finite kappa");
        return true;
    }
    const char **titles = calloc(data->kernel_count + 1, sizeof *titles);
    if (!titles)
        return fail_memory(error, "panels of a chart");
    bool fine = write_kappa(data, &group, titles, directory, chart, error);
    free(titles);
    return fine;
}

/* The charts of error: row ULP over kappa, and speed against error. */
#include "report_parts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- error over kappa ---- */

enum { BUCKETS_A_DECADE = 4, BUCKETS = 4 * 40, PANEL_HEIGHT = 300, TICKS_MOST = 64 };

/* What the rows drawn have in common. */
typedef struct row_group {
    const char *convention;
    ln_type dtype;
    size_t hidden, rows;
} row_group;

typedef struct kappa_panel {
    const char *title;
    size_t column, line;
} kappa_panel;

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

/* A panel a statistic; a kernel that does not say what it does has one of its own. */
static const char *panel_title(const report_kernel *kernel)
{
    return kernel->statistics[0] ? kernel->statistics : kernel->name;
}

static size_t fill_panels(const report_data *data, const row_group *group, const char **titles,
                          kappa_range *range, text *out)
{
    size_t panels = 0;
    text_add(out, "panel\tseries\tkernel\tinput\tkappa\trow_ulp\tbound_row_ulp\twrong_class\n");
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

static void log_ticks(double low, double high, const char *axis, text *out)
{
    double ticks[TICKS_MOST];
    size_t count = layout_log_ticks(low, high, ticks, TICKS_MOST);
    for (size_t i = 0; i < count; i++) {
        tsv_text(out, axis);
        tsv_number(out, ticks[i]);
        tsv_end(out);
    }
}

static void kappa_frames(const char **titles, size_t panels, double width, chart_frame *frame,
                         double *height, text *out)
{
    size_t columns = panels <= 1 ? 1 : panels <= 4 ? 2 : 3;
    size_t lines = (panels + columns - 1) / columns;
    double pitch = (width - 64) / (double)columns;
    double tall = columns == 1 ? 1.5 * PANEL_HEIGHT : PANEL_HEIGHT;
    text_add(out, "panel\ttitle\tleft\tright\ttop\tbottom\n");
    for (size_t i = 0; i < panels; i++) {
        frame->left = 64 + pitch * (double)(i % columns);
        frame->right = frame->left + pitch - 40;
        frame->top = 166 + (tall + 112) * (double)(i / columns);
        frame->bottom = frame->top + tall;
        tsv_number(out, (double)i + 1);
        tsv_text(out, titles[i]);
        tsv_number(out, frame->left);
        tsv_number(out, frame->right);
        tsv_number(out, frame->top);
        tsv_number(out, frame->bottom);
        tsv_end(out);
    }
    *height = 166 + (tall + 112) * (double)lines - 20;
}

static bool write_kappa(const report_data *data, const row_group *group, const char **titles,
                        const char *directory, chart *chart, error *error)
{
    text points = {0}, panel_lines = {0}, ticks = {0}, settings = {0};
    kappa_range range = {10, 1, 10};
    chart_frame frame = {.x_min = 0.7, .x_log = true, .y_log = true};
    double height;
    char subtitle[300];
    size_t panels = fill_panels(data, group, titles, &range, &points);
    frame.x_max = pow(10, ceil(log10(range.kappa_max) - 0.01)) * 1.5;
    frame.y_min = pow(10, fmax(-4, floor(log10(range.low))));
    frame.y_max = pow(10, ceil(log10(range.high)) + 1);
    kappa_frames(titles, panels, 1000, &frame, &height, &panel_lines);
    snprintf(subtitle, sizeof subtitle,
             "%s, %s, hidden %zu; each mark is the worst judged row within a quarter decade of "
             "kappa, all input families",
             dtype_name(group->dtype), group->convention, group->hidden);
    tsv_common(&settings, data, chart->title, subtitle, 1000, height);
    tsv_frame(&settings, "", &frame);
    tsv_setting(&settings, "panels", (double)panels);
    theory_labels(&frame, group->hidden, &settings);
    text_add(&ticks, "axis\tvalue\n");
    log_ticks(1, frame.x_max, "x", &ticks);
    log_ticks(frame.y_min, frame.y_max, "y", &ticks);
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

/* ---- speed against error ---- */

typedef struct trade {
    size_t kernel;
    double gbps, row_ulp; /* row_ulp NaN: a failure, shown at the top edge */
    const char *failure;
} trade;

static int by_trade(const void *a, const void *b)
{
    const trade *left = a, *right = b;
    if (left->gbps != right->gbps)
        return left->gbps < right->gbps ? 1 : -1;
    return (left->kernel > right->kernel) - (left->kernel < right->kernel);
}

/* Only what went wrong as such (a class, a crash) leaves the scale; a large error is on it. */
static const char *failure_word(const report_error *worst)
{
    if (!worst->failed || worst->failed->verdict.kind == VERDICT_INACCURATE)
        return NULL;
    return verdict_name(worst->failed->verdict.kind);
}

static size_t gather_trades(const report_data *data, const char *input, trade *trades)
{
    size_t count = 0;
    for (size_t i = 0; data->has_shape && i < data->kernel_count; i++) {
        const char *name = data->kernels[i].name;
        const view_case *at = report_case_at(data, name, &data->shape);
        report_error worst = report_worst_error(data, &data->judged, name, input);
        const char *failure = failure_word(&worst);
        if (!at || !report_timed(at) || (!failure && !isfinite(worst.row_ulp)))
            continue;
        trades[count++] = (trade){i, at->speed.gbps, failure ? NAN : worst.row_ulp, failure};
    }
    qsort(trades, count, sizeof *trades, by_trade);
    return count;
}

static void trade_range(const trade *trades, size_t count, chart_frame *frame)
{
    double slow = INFINITY, fast = 0, low = INFINITY, high = 0;
    bool failures = false;
    for (size_t i = 0; i < count; i++) {
        slow = fmin(slow, trades[i].gbps);
        fast = fmax(fast, trades[i].gbps);
        failures = failures || trades[i].failure;
        if (trades[i].row_ulp > 0) {
            low = fmin(low, trades[i].row_ulp);
            high = fmax(high, trades[i].row_ulp);
        }
    }
    if (!(high > 0)) /* every error is zero, or every kernel failed */
        low = high = 1;
    double spread = fmax(fast / slow, 2), decades = fmax(high / low, 10);
    low /= sqrt(decades / (high / low));
    high = low * decades;
    frame->x_min = slow / pow(spread, 0.12);
    frame->x_max = fast * pow(spread, 0.16);
    frame->y_min = low / pow(decades, 0.12);
    frame->y_max = high * pow(decades, failures ? 0.25 : 0.15);
}

static double trade_y(const trade *trade, const chart_frame *frame)
{
    if (trade->failure)
        return frame->y_max;
    return fmax(trade->row_ulp, frame->y_min);
}

/* "naive_f32_avx2", or with what went wrong "naive_f32_avx2 (wrong-class)". */
static void trade_label(const report_data *data, const trade *trade, char label[128])
{
    const char *name = data->kernels[trade->kernel].name;
    if (trade->failure)
        snprintf(label, 128, "%s (%s)", name, trade->failure);
    else
        snprintf(label, 128, "%s", name);
}

/* The corner points of the front: nothing measured is both faster and more accurate. Trades come
 * fastest first. `corners` holds twice as many and one; returns how many there are. */
typedef struct corner {
    double gbps, row_ulp;
} corner;

static size_t pareto_corners(const trade *trades, size_t count, const chart_frame *frame,
                             corner *corners)
{
    size_t made = 0;
    double best = frame->y_max;
    for (size_t i = 0; i < count; i++) {
        double y = trade_y(&trades[i], frame);
        if (trades[i].failure || y >= best)
            continue;
        corners[made++] = (corner){trades[i].gbps, best};
        corners[made++] = (corner){trades[i].gbps, y};
        best = y;
    }
    if (made > 0)
        corners[made++] = (corner){frame->x_min, best};
    return made;
}

static void place_labels(const report_data *data, const trade *trades, size_t count,
                         const chart_frame *frame, const corner *corners, size_t corner_count,
                         label_box *labels, chart_line *lines)
{
    for (size_t i = 0; i < count; i++) {
        char label[128];
        trade_label(data, &trades[i], label);
        labels[i] = (label_box){.x = frame_x(frame, trades[i].gbps),
                                .y = frame_y(frame, trade_y(&trades[i], frame)),
                                .width = layout_text_width(label),
                                .height = 14};
    }
    for (size_t i = 0; i + 1 < corner_count; i++)
        lines[i] = (chart_line){frame_x(frame, corners[i].gbps), frame_y(frame, corners[i].row_ulp),
                                frame_x(frame, corners[i + 1].gbps),
                                frame_y(frame, corners[i + 1].row_ulp)};
    layout_place(labels, count, frame, lines, corner_count ? corner_count - 1 : 0);
}

static void trade_line(const report_data *data, const trade *trade, const label_box *box,
                       size_t panel, const chart_frame *frame, text *out)
{
    char label[128];
    trade_label(data, trade, label);
    tsv_number(out, (double)panel);
    tsv_number(out, (double)trade->kernel + 1);
    tsv_text(out, label);
    tsv_number(out, trade->gbps);
    tsv_number(out, trade->row_ulp);
    tsv_number(out, trade_y(trade, frame));
    tsv_number(out, trade->failure != NULL);
    tsv_number(out, box->left);
    tsv_number(out, box->top);
    tsv_number(out, box->width);
    tsv_number(out, box->height);
    tsv_end(out);
}

typedef struct trade_texts {
    text points, front, ticks, settings;
} trade_texts;

static bool write_trade_panel(const report_data *data, const trade *trades, size_t count,
                              size_t panel, chart_frame *frame, trade_texts *texts)
{
    char prefix[16], axis[16];
    corner *corners = calloc(2 * count + 1, sizeof *corners);
    label_box *labels = calloc(count + 1, sizeof *labels);
    chart_line *lines = calloc(2 * count + 1, sizeof *lines);
    bool fine = corners && labels && lines;
    trade_range(trades, count, frame);
    snprintf(prefix, sizeof prefix, "panel%zu_", panel);
    tsv_frame(&texts->settings, prefix, frame);
    snprintf(axis, sizeof axis, "x%zu", panel);
    log_ticks(frame->x_min, frame->x_max, axis, &texts->ticks);
    axis[0] = 'y';
    log_ticks(frame->y_min, frame->y_max, axis, &texts->ticks);
    size_t corner_count = fine ? pareto_corners(trades, count, frame, corners) : 0;
    for (size_t i = 0; i < corner_count; i++) {
        tsv_number(&texts->front, (double)panel);
        tsv_number(&texts->front, corners[i].gbps);
        tsv_number(&texts->front, corners[i].row_ulp);
        tsv_end(&texts->front);
    }
    if (fine)
        place_labels(data, trades, count, frame, corners, corner_count, labels, lines);
    for (size_t i = 0; i < count && fine; i++)
        trade_line(data, &trades[i], &labels[i], panel, frame, &texts->points);
    free(corners);
    free(labels);
    free(lines);
    return fine;
}

static const struct {
    const char *input, *title;
} trade_panels[] = {
    {"normal", "normal input"},
    {"offset", "offset input: the mean of a row far from zero, kappa as large as was judged"},
    {NULL, "the worst of all input families"},
};
enum { TRADE_PANELS = sizeof trade_panels / sizeof *trade_panels };

static bool write_trades(const report_data *data, trade *trades, const char *directory,
                         chart *chart, error *error)
{
    trade_texts texts = {0};
    text words = {0};
    double tall = fmax(330, 200 + 11 * (double)data->kernel_count);
    bool fine = true;
    size_t wanted = 0;
    for (size_t i = 0; i < TRADE_PANELS; i++)
        wanted += gather_trades(data, trade_panels[i].input, trades) > 0;
    double height = 110 + (double)wanted * (tall + 84) + 8;
    report_group_words(&data->group, &words);
    text_format(&words, "; speed at %zu rows x hidden %zu on normal input, error: worst judged row",
                data->shape.rows, data->shape.hidden);
    tsv_common(&texts.settings, data, chart->title, words.bytes ? words.bytes : "", 1000, height);
    text_add(&texts.points, "panel\tseries\tlabel\tgbps\trow_ulp\tdrawn_at\tfailed\tlabel_left\t"
                            "label_top\tlabel_width\tlabel_height\n");
    text_add(&texts.front, "panel\tgbps\trow_ulp\n");
    text_add(&texts.ticks, "axis\tvalue\n");
    size_t panels = 0;
    for (size_t i = 0; i < TRADE_PANELS && fine; i++) {
        size_t count = gather_trades(data, trade_panels[i].input, trades);
        if (count == 0)
            continue;
        panels++;
        chart_frame frame = {.left = 76,
                             .right = 980,
                             .top = 110 + (tall + 84) * (double)(panels - 1),
                             .x_log = true,
                             .y_log = true};
        frame.bottom = frame.top + tall;
        char key[24];
        snprintf(key, sizeof key, "panel%zu_title", panels);
        tsv_setting_text(&texts.settings, key, trade_panels[i].title);
        fine = write_trade_panel(data, trades, count, panels, &frame, &texts);
    }
    tsv_setting(&texts.settings, "panels", (double)panels);
    if (!fine)
        fail_memory(error, "labels of a chart");
    texts.settings.failed = texts.settings.failed || words.failed;
    fine = fine && tsv_save(&texts.points, directory, chart->stem, ".tsv", error) &&
           tsv_save(&texts.front, directory, chart->stem, "_front.tsv", error) &&
           tsv_save(&texts.ticks, directory, chart->stem, "_ticks.tsv", error) &&
           tsv_save(&texts.settings, directory, chart->stem, "_settings.tsv", error);
    text_free(&words);
    text_free(&texts.points);
    text_free(&texts.front);
    text_free(&texts.ticks);
    text_free(&texts.settings);
    return fine;
}

bool chart_speed_error(const report_data *data, const char *directory, chart *chart, error *error)
{
    *chart = (struct chart){.stem = "speed_error", .script = "speed_error.gp"};
    snprintf(chart->title, sizeof chart->title, "Speed against error");
    trade *trades = calloc(data->kernel_count + 1, sizeof *trades);
    if (!trades)
        return fail_memory(error, "speed against error");
    bool fine = true;
    if (gather_trades(data, NULL, trades) == 0)
        snprintf(chart->reason, sizeof chart->reason,
                 "no kernel has both a speed and a judged error");
    else
        fine = write_trades(data, trades, directory, chart, error);
    free(trades);
    return fine;
}

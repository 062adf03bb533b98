/* The chart of speed against error. */
#include "report_parts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct trade {
    size_t kernel;
    double gbps, row_ulp; /* row_ulp NaN: a failure, shown at the top edge */
    double low, high;     /* of gbps, 95 % */
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
    return worst->unusable ? verdict_name(worst->unusable->verdict.kind) : NULL;
}

/* Of many kernels: those on the front, and of the others the fastest ISA of each method. */
static size_t thin_out(const report_data *data, trade *trades, size_t count)
{
    double best = INFINITY;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        bool on_front = !trades[i].failure && trades[i].row_ulp < best;
        if (on_front)
            best = trades[i].row_ulp;
        if (on_front || report_leads_method(data, trades[i].kernel))
            trades[kept++] = trades[i];
    }
    return kept;
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
        trade *made = &trades[count++];
        *made = (trade){.kernel = i,
                        .gbps = at->speed.gbps,
                        .row_ulp = failure ? NAN : worst.row_ulp,
                        .failure = failure};
        report_gbps_interval(&at->speed, &made->low, &made->high);
    }
    qsort(trades, count, sizeof *trades, by_trade);
    return report_is_crowded(data) ? thin_out(data, trades, count) : count;
}

static void trade_range(const trade *trades, size_t count, chart_frame *frame)
{
    double slow = INFINITY, fast = 0, low = INFINITY, high = 0;
    size_t failures = 0;
    for (size_t i = 0; i < count; i++) {
        slow = fmin(slow, trades[i].gbps);
        fast = fmax(fast, trades[i].gbps);
        failures += trades[i].failure != NULL;
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
    frame->y_max = high * pow(decades, failures ? fmin(0.22 + 0.03 * (double)failures, 0.7) : 0.15);
}

static double trade_y(const trade *trade, const chart_frame *frame)
{
    if (trade->failure)
        return frame->y_max;
    return fmax(trade->row_ulp, frame->y_min);
}

/* "naive_f32_avx2", or with what went wrong "naive_f32_avx2 (crashed)"; the legend says that it is
 * a wrong class where a failure says nothing. */
static void trade_label(const report_data *data, const trade *trade, char label[128])
{
    const char *name = data->kernels[trade->kernel].name;
    if (trade->failure && strcmp(trade->failure, verdict_name(VERDICT_WRONG_CLASS)) != 0)
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
    char tip[300], gbps[16], from[16], to[16], error[16];
    snprintf(tip, sizeof tip, "%s: %s GB/s [%s, %s], %s%s", label, number_short(trade->gbps, gbps),
             number_short(trade->low, from), number_short(trade->high, to),
             trade->failure ? trade->failure : number_short(trade->row_ulp, error),
             trade->failure ? "" : " row ULP");
    tsv_text(out, tip);
    tsv_number(out, trade->low);
    tsv_number(out, trade->high);
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
    tsv_log_ticks(&texts->ticks, axis, frame->x_min, frame->x_max);
    axis[0] = 'y';
    tsv_log_ticks(&texts->ticks, axis, frame->y_min, frame->y_max);
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

typedef struct trade_panel {
    const char *input, *title;
} trade_panel;

static const trade_panel trade_panels[] = {
    {"normal", "normal input"},
    {"offset", "offset input: means far from zero"},
    {NULL, "the worst of all input families"},
};
enum { TRADE_PANELS = sizeof trade_panels / sizeof *trade_panels };

/* "offset input: means far from zero; kappa up to 1e+08". */
static void trade_title(const report_data *data, const trade_panel *panel, text *settings,
                        const char *key)
{
    const stored_cases *cases = &data->view->cases;
    double kappa = 0;
    char title[128];
    for (size_t i = 0; i < cases->count && panel->input; i++)
        if (cases->cases[i].judged && report_same_judged(&data->judged, &cases->cases[i].key) &&
            report_of_family(cases->cases[i].key.input, panel->input))
            kappa = fmax(kappa, cases->cases[i].metrics.kappa_max);
    if (isfinite(kappa) && kappa >= 10)
        snprintf(title, sizeof title, "%s; kappa up to %.0e", panel->title, kappa);
    else
        snprintf(title, sizeof title, "%s", panel->title);
    tsv_setting_text(settings, key, title);
}

static bool write_trades(const report_data *data, trade *trades, const char *directory,
                         chart *chart, error *error)
{
    trade_texts texts = {0};
    text words = {0};
    bool fine = true;
    size_t wanted = 0, shown = 0;
    for (size_t i = 0; i < TRADE_PANELS; i++) {
        size_t count = gather_trades(data, trade_panels[i].input, trades);
        shown = count > shown ? count : shown;
        wanted += count > 0;
    }
    double tall = fmax(330, 200 + 11 * (double)shown);
    double height = 118 + (double)wanted * (tall + 92) + 8;
    report_group_words(&data->group, &words);
    text_format(&words,
                "; speed at %zu rows x hidden %zu on normal input, error: worst judged row%s",
                data->shape.rows, data->shape.hidden,
                report_is_crowded(data) ? "; the fastest ISA of each method, and the front" : "");
    tsv_common(&texts.settings, data, chart->title, words.bytes ? words.bytes : "", 1000, height);
    text_add(&texts.points, "panel\tseries\tlabel\tgbps\trow_ulp\tdrawn_at\tfailed\tlabel_left\t"
                            "label_top\tlabel_width\tlabel_height\ttip\tgbps_lo\tgbps_hi\n");
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
                             .top = 118 + (tall + 92) * (double)(panels - 1),
                             .x_log = true,
                             .y_log = true};
        frame.bottom = frame.top + tall;
        char key[24];
        snprintf(key, sizeof key, "panel%zu_title", panels);
        trade_title(data, &trade_panels[i], &texts.settings, key);
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
    *chart = chart_begin(data, "speed_error", "speed_error.gp", "Speed against error");
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

/* The charts of speed: throughput over hidden, and the share of the roof at one shape. */
#include "report_parts.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_GAP = 15, LABEL_MOST = 44, VERDICT_MOST = 30, MOST_LINES = 16 };

static const char *const roof_names[] = {"roof_copy", "roof_copy_nt"};
static const char *const roof_isas[] = {"copy", "copy_nt"};
enum { ROOF_COUNT = 2 };

/* Series are numbered from 1: the kernels, then the roofs. */
static const char *series_name(const report_data *data, size_t series)
{
    return series < data->kernel_count ? data->kernels[series].name
                                       : roof_names[series - data->kernel_count];
}

bool chart_series(const report_data *data, const char *directory, error *error)
{
    text out = {0};
    text_add(&out, "kernel\tstatistics\tisa\n");
    for (size_t i = 0; i < data->kernel_count; i++) {
        tsv_text(&out, data->kernels[i].name);
        tsv_text(&out, data->kernels[i].statistics);
        tsv_text(&out, data->kernels[i].isa);
        tsv_end(&out);
    }
    for (size_t i = 0; i < ROOF_COUNT; i++) {
        tsv_text(&out, roof_names[i]);
        tsv_text(&out, "roof");
        tsv_text(&out, roof_isas[i]);
        tsv_end(&out);
    }
    return tsv_save(&out, directory, "series", ".tsv", error);
}

/* A label at the end of a line. */
typedef struct end_label {
    size_t series;
    double x, y;  /* the line's last point */
    double speed; /* the same as y, for choosing */
} end_label;

static int by_speed_descending(const void *a, const void *b)
{
    const end_label *left = a, *right = b;
    if (left->speed != right->speed)
        return left->speed < right->speed ? 1 : -1;
    return (left->series > right->series) - (left->series < right->series);
}

/* What a kernel's name says without its ISA: "two_pass_f32" of two_pass_f32_avx2. */
static void method_of(const report_kernel *kernel, char method[NAME_MAX_LENGTH])
{
    char suffix[40];
    snprintf(method, NAME_MAX_LENGTH, "%s", kernel->name);
    snprintf(suffix, sizeof suffix, "_%.30s", kernel->isa);
    char *at = strstr(method, suffix);
    if (at)
        memmove(at, at + strlen(suffix), strlen(at + strlen(suffix)) + 1);
}

/* Mean of log speed over the sizes, so that no size weighs more than another. */
static double mean_log_speed(const report_data *data, const char *name, const char *regime,
                             const size_t *hidden, size_t count)
{
    double sum = 0;
    size_t points = 0;
    for (size_t i = 0; i < count; i++) {
        const view_case *point = report_point(data, name, regime, hidden[i]);
        if (!point)
            continue;
        sum += log(point->speed.gbps);
        points++;
    }
    return points ? sum / (double)points : -INFINITY;
}

/* Where there are too many kernels for a line each, a method is drawn by its fastest ISA; the
 * tables have them all. */
static bool is_drawn(const report_data *data, const char *regime, const size_t *hidden,
                     size_t count, size_t series)
{
    if (data->kernel_count <= MOST_LINES || series >= data->kernel_count)
        return true;
    char own[NAME_MAX_LENGTH], other[NAME_MAX_LENGTH];
    method_of(&data->kernels[series], own);
    double speed = mean_log_speed(data, data->kernels[series].name, regime, hidden, count);
    for (size_t i = 0; i < data->kernel_count; i++) {
        method_of(&data->kernels[i], other);
        if (i != series && strcmp(own, other) == 0 &&
            mean_log_speed(data, data->kernels[i].name, regime, hidden, count) > speed)
            return false;
    }
    return true;
}

static void throughput_tip(const view_case *point, double low, double high, text *out)
{
    const case_key *key = &point->stored->key;
    char tip[300], gbps[16], from[16], to[16];
    snprintf(tip, sizeof tip, "%s, %zu x %zu: %s GB/s [%s, %s]", key->kernel, key->rows,
             key->hidden, number_short(point->speed.gbps, gbps), number_short(low, from),
             number_short(high, to));
    tsv_text(out, tip);
}

/* The lines' ends in ends[], their points in the TSV; returns how high the axis must reach: a wide
 * interval may leave the frame rather than flatten all the lines. */
static double throughput_points(const report_data *data, const char *regime, const size_t *hidden,
                                size_t count, text *out, end_label *ends, size_t *end_count)
{
    double most = 0, reach = 0;
    text_add(out, "series\tkernel\trows\thidden\tgbps\tgbps_lo\tgbps_hi\ttip\n");
    for (size_t series = 0; series < data->kernel_count + ROOF_COUNT; series++) {
        const char *name = series_name(data, series);
        bool any = false;
        if (!is_drawn(data, regime, hidden, count, series))
            continue;
        for (size_t i = 0; i < count; i++) {
            const view_case *point = report_point(data, name, regime, hidden[i]);
            if (!point)
                continue;
            const speed *speed = &point->speed;
            double low = speed->gbps * speed->time_ns / speed->time_hi_ns;
            double high = speed->gbps * speed->time_ns / speed->time_lo_ns;
            tsv_number(out, (double)series + 1);
            tsv_text(out, name);
            tsv_number(out, (double)point->stored->key.rows);
            tsv_number(out, (double)hidden[i]);
            tsv_number(out, speed->gbps);
            tsv_number(out, isfinite(low) ? low : speed->gbps);
            tsv_number(out, isfinite(high) ? high : speed->gbps);
            throughput_tip(point, low, high, out);
            tsv_end(out);
            most = fmax(most, speed->gbps);
            reach = fmax(reach, isfinite(high) && !is_roof(name) ? high : 0);
            ends[*end_count] = (end_label){series, (double)hidden[i], speed->gbps, speed->gbps};
            any = true;
        }
        *end_count += any;
    }
    return fmax(most * 1.03, fmin(reach, most * 1.25));
}

static double label_width(const report_data *data, const end_label *ends, size_t count)
{
    double width = 0;
    for (size_t i = 0; i < count; i++)
        width = fmax(width, layout_text_width(series_name(data, ends[i].series)));
    return fmin(width, 6.5 * LABEL_MOST);
}

/* Long names are cut: the table has them in full. */
static void short_name(const char *name, char buffer[64])
{
    if (strlen(name) > LABEL_MOST)
        snprintf(buffer, 64, "%.*s...", LABEL_MOST - 3, name);
    else
        snprintf(buffer, 64, "%s", name);
}

static bool throughput_labels(const report_data *data, const chart_frame *frame, end_label *ends,
                              size_t count, text *out)
{
    qsort(ends, count, sizeof *ends, by_speed_descending);
    double *positions = calloc(count + 1, sizeof *positions);
    if (!positions)
        return false;
    for (size_t i = 0; i < count; i++)
        positions[i] = frame_y(frame, ends[i].y);
    bool fine = layout_spread(positions, count, LABEL_GAP, frame->top, frame->bottom - 6);
    text_add(out, "series\tlabel\thidden\tgbps\tlabel_y\n");
    for (size_t i = 0; fine && i < count; i++) {
        char name[64];
        short_name(series_name(data, ends[i].series), name);
        tsv_number(out, (double)ends[i].series + 1);
        tsv_text(out, name);
        tsv_number(out, ends[i].x);
        tsv_number(out, ends[i].y);
        tsv_number(out, positions[i]);
        tsv_end(out);
    }
    free(positions);
    return fine;
}

void report_hidden_ticks(const chart_frame *frame, const size_t *hidden, size_t count, text *out)
{
    text_add(out, "hidden\tlabel\n");
    double taken = -1e9;
    for (size_t i = 0; i < count; i++) {
        char label[24];
        snprintf(label, sizeof label, "%zu", hidden[i]);
        double x = frame_x(frame, (double)hidden[i]);
        double half = layout_text_width(label) / 2;
        bool fits = x - half > taken + 5;
        tsv_number(out, (double)hidden[i]);
        tsv_text(out, fits ? label : "-");
        tsv_end(out);
        if (fits)
            taken = x + half;
    }
}

static bool write_throughput(const report_data *data, const char *regime, const size_t *hidden,
                             size_t count, end_label *ends, const char *directory, chart *chart,
                             error *error)
{
    text points = {0}, labels = {0}, ticks = {0}, settings = {0}, words = {0};
    size_t end_count = 0;
    double most = throughput_points(data, regime, hidden, count, &points, ends, &end_count);
    double room = label_width(data, ends, end_count);
    double height = fmax(620, 170 + LABEL_GAP * (double)end_count);
    double first = (double)hidden[0], last = (double)hidden[count - 1];
    double edge = count > 1 ? pow(last / first, 0.02) : 1.5;
    chart_frame frame = {.left = 72,
                         .right = 1000 - room - 46,
                         .top = 96,
                         .bottom = height - 88,
                         .x_min = first / edge,
                         .x_max = last * edge,
                         .y_max = layout_round_up(most),
                         .x_log = true};
    report_group_words(&data->group, &words);
    text_format(&words, ", %s regime (x + y), normal input; bars: 95 %% intervals%s", regime,
                data->kernel_count > MOST_LINES ? "; the fastest ISA of each method" : "");
    tsv_common(&settings, data, chart->title, words.bytes ? words.bytes : "", 1000, height);
    tsv_frame(&settings, "", &frame);
    tsv_setting(&settings, "labels", (double)end_count);
    report_hidden_ticks(&frame, hidden, count, &ticks);
    bool fine = throughput_labels(data, &frame, ends, end_count, &labels);
    if (!fine)
        fail_memory(error, "labels of a chart");
    settings.failed = settings.failed || words.failed;
    text_free(&words);
    fine = fine && tsv_save(&points, directory, chart->stem, ".tsv", error) &&
           tsv_save(&labels, directory, chart->stem, "_labels.tsv", error) &&
           tsv_save(&ticks, directory, chart->stem, "_ticks.tsv", error) &&
           tsv_save(&settings, directory, chart->stem, "_settings.tsv", error);
    text_free(&points);
    text_free(&labels);
    text_free(&ticks);
    text_free(&settings);
    return fine;
}

bool chart_throughput(const report_data *data, const char *regime, const char *directory,
                      chart *chart, error *error)
{
    *chart = (struct chart){.script = "throughput.gp"};
    snprintf(chart->stem, sizeof chart->stem, "throughput_%s", regime);
    for (char *letter = chart->stem; *letter; letter++)
        *letter = (char)tolower((unsigned char)*letter);
    snprintf(chart->title, sizeof chart->title, "Throughput over hidden size, data in %s", regime);
    size_t *hidden, count;
    end_label *ends = calloc(data->kernel_count + ROOF_COUNT + 1, sizeof *ends);
    bool fine = report_hidden_sizes(data, regime, &hidden, &count) && ends;
    if (!fine)
        fail_memory(error, "a throughput chart");
    else if (count == 0)
        snprintf(chart->reason, sizeof chart->reason, "nothing was timed in the %s regime", regime);
    else
        fine = write_throughput(data, regime, hidden, count, ends, directory, chart, error);
    free(hidden);
    free(ends);
    return fine;
}

/* ---- share of the roof ---- */

typedef struct share {
    size_t kernel;
    const view_case *at;
} share;

static double share_of(const share *share)
{
    return report_timed(share->at) ? share->at->speed.roof_ratio : -1;
}

static int by_share_descending(const void *a, const void *b)
{
    double left = share_of(a), right = share_of(b);
    if (left != right)
        return left < right ? 1 : -1;
    size_t i = ((const share *)a)->kernel, j = ((const share *)b)->kernel;
    return (i > j) - (i < j);
}

/* A kernel that never came to be timed is shown with what became of it. */
static const view_case *share_case(const report_data *data, const char *kernel)
{
    const view_case *at = report_case_at(data, kernel, &data->shape);
    report_error worst = report_worst_error(data, &data->judged, kernel, NULL);
    if (at || !worst.failed)
        return at;
    return &data->view->views[worst.failed - data->view->cases.cases];
}

static void share_line(const report_data *data, const share *share, size_t place, text *out)
{
    const speed *speed = &share->at->speed;
    const verdict *verdict = &share->at->stored->verdict;
    bool timed = report_timed(share->at);
    bool fine = verdict->kind == VERDICT_OK || verdict->kind == VERDICT_PENDING;
    char name[64], words[DETAIL_MAX_LENGTH + 64], gbps[16];
    short_name(data->kernels[share->kernel].name, name);
    verdict_describe(verdict, words, sizeof words);
    if (strlen(words) > VERDICT_MOST)
        snprintf(words + VERDICT_MOST - 3, 4, "...");
    tsv_number(out, (double)share->kernel + 1);
    tsv_text(out, name);
    tsv_number(out, (double)place);
    tsv_number(out, timed ? speed->roof_ratio : NAN);
    tsv_number(out, timed && isfinite(speed->roof_lo) ? speed->roof_lo : speed->roof_ratio);
    tsv_number(out, timed && isfinite(speed->roof_hi) ? speed->roof_hi : speed->roof_ratio);
    tsv_text(out, timed ? number_short(speed->gbps, gbps) : "-");
    tsv_text(out, fine ? "-" : words);
    tsv_number(out, report_is_failure(verdict));
    char tip[300];
    if (timed)
        snprintf(tip, sizeof tip, "%s: %.3f of the roof [%.3f, %.3f], %s GB/s",
                 data->kernels[share->kernel].name, speed->roof_ratio, speed->roof_lo,
                 speed->roof_hi, gbps);
    else
        snprintf(tip, sizeof tip, "%s: not timed", data->kernels[share->kernel].name);
    tsv_text(out, tip);
    tsv_end(out);
}

static bool write_shares(const report_data *data, share *shares, size_t count,
                         const char *directory, chart *chart, error *error)
{
    text out = {0}, settings = {0}, words = {0};
    double most = 1, room = 0;
    qsort(shares, count, sizeof *shares, by_share_descending);
    text_add(&out,
             "series\tkernel\tplace\troof_ratio\troof_lo\troof_hi\tgbps\tverdict\tfault\ttip\n");
    for (size_t i = 0; i < count; i++) {
        const speed *speed = &shares[i].at->speed;
        share_line(data, &shares[i], i + 1, &out);
        most = fmax(most, isfinite(speed->roof_hi) ? speed->roof_hi : share_of(&shares[i]));
        room = fmax(room, layout_text_width(data->kernels[shares[i].kernel].name));
    }
    double height = 180 + 26 * (double)count;
    chart_frame frame = {.left = 24 + fmin(room, 6.5 * LABEL_MOST),
                         .right = 1000 - 318,
                         .top = 84,
                         .bottom = height - 84,
                         .x_max = most * 1.02,
                         .y_min = (double)count + 0.6,
                         .y_max = 0.4};
    report_group_words(&data->group, &words);
    text_format(&words,
                ", %zu rows x hidden %zu, normal input; bars end at the median, marks "
                "with 95 %% intervals",
                data->shape.rows, data->shape.hidden);
    tsv_common(&settings, data, chart->title, words.bytes ? words.bytes : "", 1000, height);
    tsv_frame(&settings, "", &frame);
    settings.failed = settings.failed || words.failed;
    text_free(&words);
    bool fine = tsv_save(&out, directory, chart->stem, ".tsv", error) &&
                tsv_save(&settings, directory, chart->stem, "_settings.tsv", error);
    text_free(&out);
    text_free(&settings);
    return fine;
}

bool chart_roof_share(const report_data *data, const char *directory, chart *chart, error *error)
{
    *chart = (struct chart){.stem = "roof_share", .script = "roof_share.gp"};
    snprintf(chart->title, sizeof chart->title, "Share of the roof at %zu x %zu (%s)",
             data->shape.rows, data->shape.hidden, data->has_shape ? data->shape_regime : "-");
    share *shares = calloc(data->kernel_count + 1, sizeof *shares);
    if (!shares)
        return fail_memory(error, "shares of the roof");
    size_t count = 0, with_roof = 0;
    for (size_t i = 0; data->has_shape && i < data->kernel_count; i++) {
        const view_case *at = share_case(data, data->kernels[i].name);
        if (!at)
            continue;
        with_roof += report_timed(at) && isfinite(at->speed.roof_ratio);
        shares[count++] = (share){i, at};
    }
    bool fine = true;
    if (with_roof == 0)
        snprintf(chart->reason, sizeof chart->reason, "no kernel was timed together with a roof");
    else
        fine = write_shares(data, shares, count, directory, chart, error);
    free(shares);
    return fine;
}

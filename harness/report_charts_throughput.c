/* The charts of throughput: over hidden with the data in one regime, and at one hidden over how
 * much data there is, through all caches. */
#include "report_parts.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LABEL_GAP = 15,
    LABEL_MOST = 44,
    CACHES = 3,
    NAMED_ALL = 14,  /* lines that are all named; of more the best */
    NAMED_LEAST = 8, /* kernels that are named then */
    NAMED_MOST = 12,
};

static const char *const roof_names[] = {"roof_copy", "roof_copy_nt"};
static const char *const roof_isas[] = {"copy", "copy_nt"};
enum { ROOF_COUNT = 2 };

const char *report_series_name(const report_data *data, size_t series)
{
    return series < data->kernel_count ? data->kernels[series].name
                                       : roof_names[series - data->kernel_count];
}

bool chart_series(const report_data *data, const char *directory, error *error)
{
    text out = {0};
    palette_heading(&out);
    for (size_t i = 0; i < data->kernel_count; i++)
        palette_line(&out, data->kernels[i].name, data->kernels[i].statistics,
                     data->kernels[i].isa);
    for (size_t i = 0; i < ROOF_COUNT; i++)
        palette_line(&out, roof_names[i], "roof", roof_isas[i]);
    return tsv_save(&out, directory, "series", ".tsv", error);
}

/* What is drawn over what: hidden sizes in a regime, or rows of one hidden size. */
typedef struct axis {
    const char *regime; /* NULL: over rows */
    size_t hidden;      /* of an axis of rows */
    size_t *sizes, count;
} axis;

static const view_case *point_at(const report_data *data, const axis *axis, const char *kernel,
                                 size_t size)
{
    if (axis->regime)
        return report_point(data, kernel, axis->regime, size);
    report_shape shape = {size, axis->hidden};
    const view_case *at = report_case_at(data, kernel, &shape);
    return at && report_timed(at) ? at : NULL;
}

/* Bytes of x and y. */
static double bytes_of(const report_data *data, size_t rows, size_t hidden)
{
    return 2.0 * (double)dtype_size(data->group.dtype) * (double)rows * (double)hidden;
}

static double place_of(const report_data *data, const axis *axis, size_t size)
{
    return axis->regime ? (double)size : bytes_of(data, size, axis->hidden);
}

/* A label at the end of a line. */
typedef struct end_label {
    size_t series;
    double x, y;  /* the line's last point */
    double speed; /* the same as y, for choosing */
    bool named;   /* else its line is thin and grey */
} end_label;

static int by_speed_descending(const void *a, const void *b)
{
    const end_label *left = a, *right = b;
    if (left->speed != right->speed)
        return left->speed < right->speed ? 1 : -1;
    return (left->series > right->series) - (left->series < right->series);
}

/* Mean of log speed over the sizes, so that no size weighs more than another. */
static double mean_log_speed(const report_data *data, const axis *axis, const char *name)
{
    double sum = 0;
    size_t points = 0;
    for (size_t i = 0; i < axis->count; i++) {
        const view_case *point = point_at(data, axis, name, axis->sizes[i]);
        if (!point)
            continue;
        sum += log(point->speed.gbps);
        points++;
    }
    return points ? sum / (double)points : -INFINITY;
}

/* Where there are too many kernels for a line each, a method is drawn by its fastest ISA; the
 * tables have them all. */
static bool is_drawn(const report_data *data, const axis *axis, size_t series)
{
    if (!report_is_crowded(data) || series >= data->kernel_count)
        return true;
    char own[NAME_MAX_LENGTH], other[NAME_MAX_LENGTH];
    report_method(&data->kernels[series], own);
    double speed = mean_log_speed(data, axis, data->kernels[series].name);
    for (size_t i = 0; i < data->kernel_count; i++) {
        report_method(&data->kernels[i], other);
        if (i != series && strcmp(own, other) == 0 &&
            mean_log_speed(data, axis, data->kernels[i].name) > speed)
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

void report_gbps_interval(const speed *speed, double *low, double *high)
{
    *low = speed->gbps * speed->time_ns / speed->time_hi_ns;
    *high = speed->gbps * speed->time_ns / speed->time_lo_ns;
    *low = isfinite(*low) ? *low : speed->gbps;
    *high = isfinite(*high) ? *high : speed->gbps;
}

/* The lines' ends in ends[], their points in the TSV; returns how high the axis must reach: a wide
 * interval may leave the frame rather than flatten all the lines. */
static double throughput_points(const report_data *data, const axis *axis, text *out,
                                end_label *ends, size_t *end_count)
{
    double most = 0, reach = 0;
    text_add(out, "series\tkernel\trows\tx\tgbps\tgbps_lo\tgbps_hi\ttip\n");
    for (size_t series = 0; series < data->kernel_count + ROOF_COUNT; series++) {
        const char *name = report_series_name(data, series);
        bool any = false;
        if (!is_drawn(data, axis, series))
            continue;
        for (size_t i = 0; i < axis->count; i++) {
            const view_case *point = point_at(data, axis, name, axis->sizes[i]);
            if (!point)
                continue;
            double gbps = point->speed.gbps, low, high, x = place_of(data, axis, axis->sizes[i]);
            report_gbps_interval(&point->speed, &low, &high);
            tsv_number(out, (double)series + 1);
            tsv_text(out, name);
            tsv_number(out, (double)point->stored->key.rows);
            tsv_number(out, x);
            tsv_number(out, gbps);
            tsv_number(out, low);
            tsv_number(out, high);
            throughput_tip(point, low, high, out);
            tsv_end(out);
            most = fmax(most, gbps);
            reach = fmax(reach, is_roof(name) ? 0 : high);
            ends[*end_count] = (end_label){series, x, gbps, gbps, true};
            any = true;
        }
        *end_count += any;
    }
    return fmax(most * 1.03, fmin(reach, most * 1.25));
}

/* ---- which lines are named ---- */

/* What is to be seen among many lines, the first that is not named yet each time. */
typedef struct ranked {
    end_label *end;
    double speed;       /* mean log */
    report_error worst; /* on any input */
    const char *name;
} ranked;

static int by_mean_speed(const void *a, const void *b)
{
    const ranked *left = a, *right = b;
    if (left->speed != right->speed)
        return left->speed < right->speed ? 1 : -1;
    return (left->end->series > right->end->series) - (left->end->series < right->end->series);
}

static void name_one(ranked *one, size_t *named)
{
    if (!one || one->end->named || *named == NAMED_MOST)
        return;
    one->end->named = true;
    ++*named;
}

/* The fastest at each size. */
static void name_winners(const report_data *data, const axis *axis, ranked *all, size_t count,
                         size_t *named)
{
    for (size_t size = 0; size < axis->count; size++) {
        ranked *best = NULL;
        double most = 0;
        for (size_t i = 0; i < count; i++) {
            const view_case *point = point_at(data, axis, all[i].name, axis->sizes[size]);
            if (point && point->speed.gbps > most) {
                most = point->speed.gbps;
                best = &all[i];
            }
        }
        name_one(best, named);
    }
}

/* Of the fastest first: each library's, the first that is accurate on all inputs, and the most
 * accurate. */
static void name_of_interest(ranked *all, size_t count, size_t *named)
{
    ranked *accurate = NULL, *exact = NULL;
    for (size_t i = 0; i < count; i++) {
        const char *library = palette_peer(all[i].name);
        bool first = library != NULL;
        for (size_t j = 0; j < i && first; j++) {
            const char *other = palette_peer(all[j].name);
            first = !other || strcmp(other, library) != 0;
        }
        if (first)
            name_one(&all[i], named);
        if (!report_is_accurate(&all[i].worst))
            continue;
        accurate = accurate ? accurate : &all[i];
        if (!exact || all[i].worst.row_ulp < exact->worst.row_ulp)
            exact = &all[i];
    }
    name_one(accurate, named);
    name_one(exact, named);
}

/* Names at the ends of many lines would stand in heaps, and their leaders hide the lines. */
static bool choose_named(const report_data *data, const axis *axis, end_label *ends, size_t count)
{
    ranked *all = calloc(count + 1, sizeof *all);
    size_t kernels = 0, named = 0;
    if (!all)
        return false;
    for (size_t i = 0; i < count && count > NAMED_ALL; i++) {
        const char *name = report_series_name(data, ends[i].series);
        if (ends[i].series >= data->kernel_count)
            continue;
        ends[i].named = false;
        all[kernels++] = (ranked){.end = &ends[i],
                                  .speed = mean_log_speed(data, axis, name),
                                  .worst = report_worst_error(data, &data->group, name, NULL),
                                  .name = name};
    }
    qsort(all, kernels, sizeof *all, by_mean_speed);
    name_winners(data, axis, all, kernels, &named);
    name_of_interest(all, kernels, &named);
    for (size_t i = 0; i < kernels && named < NAMED_LEAST; i++)
        name_one(&all[i], &named);
    free(all);
    return true;
}

static int named_first(const void *a, const void *b)
{
    const end_label *left = a, *right = b;
    if (left->named != right->named)
        return left->named ? -1 : 1;
    return by_speed_descending(a, b);
}

static double label_width(const report_data *data, const end_label *ends, size_t count)
{
    double width = 0;
    for (size_t i = 0; i < count; i++)
        width = fmax(width, layout_text_width(report_series_name(data, ends[i].series)));
    return fmin(width, 6.5 * LABEL_MOST);
}

/* Long names are cut: the table has them in full. */
void report_short_name(const char *name, char buffer[64])
{
    if (strlen(name) > LABEL_MOST)
        snprintf(buffer, 64, "%.*s...", LABEL_MOST - 3, name);
    else
        snprintf(buffer, 64, "%s", name);
}

static bool throughput_labels(const report_data *data, const chart_frame *frame, end_label *ends,
                              size_t count, text *out)
{
    double *positions = calloc(count + 1, sizeof *positions);
    if (!positions)
        return false;
    for (size_t i = 0; i < count; i++)
        positions[i] = frame_y(frame, ends[i].y);
    bool fine = layout_spread(positions, count, LABEL_GAP, frame->top, frame->bottom - 6);
    text_add(out, "series\tlabel\tx\tgbps\tlabel_y\n");
    for (size_t i = 0; fine && i < count; i++) {
        char name[64];
        report_short_name(report_series_name(data, ends[i].series), name);
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

/* Ticks with the labels that fit. */
static void add_tick(const chart_frame *frame, double x, const char *label, double *taken,
                     text *out)
{
    double at = frame_x(frame, x), half = layout_text_width(label) / 2;
    bool fits = at - half > *taken + 5;
    tsv_number(out, x);
    tsv_text(out, fits ? label : "-");
    tsv_end(out);
    if (fits)
        *taken = at + half;
}

void report_hidden_ticks(const chart_frame *frame, const size_t *hidden, size_t count, text *out)
{
    text_add(out, "x\tlabel\n");
    double taken = -1e9;
    for (size_t i = 0; i < count; i++) {
        char label[24];
        snprintf(label, sizeof label, "%zu", hidden[i]);
        add_tick(frame, (double)hidden[i], label, &taken, out);
    }
}

/* "48 KiB", "1.5 MiB". */
static void byte_words(double bytes, char words[24])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
    int unit = 0;
    for (; bytes >= 1024 && unit < 3; unit++)
        bytes /= 1024;
    snprintf(words, 24, "%.3g %s", bytes, units[unit]);
}

static void byte_ticks(const report_data *data, const axis *axis, const chart_frame *frame,
                       text *out)
{
    text_add(out, "x\tlabel\n");
    double taken = -1e9;
    for (size_t i = 0; i < axis->count; i++) {
        char label[24];
        double bytes = place_of(data, axis, axis->sizes[i]);
        byte_words(bytes, label);
        add_tick(frame, bytes, label, &taken, out);
    }
}

/* Where x and y together pass a cache: all of them, or over hidden those of one row. */
static void cache_marks(const report_data *data, const axis *axis, const chart_frame *frame,
                        text *out)
{
    const machine *machine = &data->view->machine;
    const size_t sizes[CACHES] = {machine->l1d_bytes, machine->l2_bytes, machine->l3_bytes};
    text_add(out, "x\tlabel\n");
    for (size_t i = 0; i < CACHES; i++) {
        double x = axis->regime ? (double)sizes[i] / bytes_of(data, 1, 1) : (double)sizes[i];
        char words[64], size[24];
        if (!(x > frame->x_min && x < frame->x_max))
            continue;
        byte_words((double)sizes[i], size);
        snprintf(words, sizeof words, axis->regime ? "a row = L%zu, %s" : "L%zu, %s", i + 1, size);
        tsv_number(out, x);
        tsv_text(out, words);
        tsv_end(out);
    }
    tsv_number(out, frame->x_min); /* gnuplot wants a line to read */
    tsv_text(out, "-");
    tsv_end(out);
}

static chart_frame frame_of(const report_data *data, const axis *axis, double most, double room,
                            double height)
{
    double first = place_of(data, axis, axis->sizes[0]);
    double last = place_of(data, axis, axis->sizes[axis->count - 1]);
    double edge = axis->count > 1 ? pow(last / first, 0.02) : 1.5;
    return (chart_frame){.left = 72,
                         .right = 1000 - room - 46,
                         .top = 112,
                         .bottom = height - 88,
                         .x_min = first / edge,
                         .x_max = last * edge,
                         .y_max = layout_round_up(most),
                         .x_log = true};
}

static bool write_throughput(const report_data *data, const axis *axis, end_label *ends,
                             const char *directory, chart *chart, error *error)
{
    text points = {0}, labels = {0}, ticks = {0}, marks = {0}, settings = {0}, words = {0};
    size_t end_count = 0, named = 0;
    double most = throughput_points(data, axis, &points, ends, &end_count);
    bool fine = choose_named(data, axis, ends, end_count);
    qsort(ends, end_count, sizeof *ends, named_first);
    while (named < end_count && ends[named].named)
        named++;
    double height = fmax(620, 190 + LABEL_GAP * (double)named);
    chart_frame frame = frame_of(data, axis, most, label_width(data, ends, named), height);
    report_group_words(&data->group, &words);
    if (axis->regime)
        text_format(&words, ", %s regime (x + y)", axis->regime);
    else
        text_format(&words, ", hidden %zu", axis->hidden);
    text_format(&words, ", normal input; bars: 95 %% intervals%s",
                report_is_crowded(data) ? "; the fastest ISA of each method" : "");
    if (named < end_count)
        text_format(&words, "; grey: %zu others", end_count - named);
    tsv_common(&settings, data, chart->title, words.bytes ? words.bytes : "", 1000, height);
    tsv_frame(&settings, "", &frame);
    tsv_setting(&settings, "labels", (double)named);
    tsv_setting_text(&settings, "xlabel",
                     axis->regime ? "hidden size (elements a row)" : "bytes of x and y together");
    if (axis->regime)
        report_hidden_ticks(&frame, axis->sizes, axis->count, &ticks);
    else
        byte_ticks(data, axis, &frame, &ticks);
    cache_marks(data, axis, &frame, &marks);
    fine = fine && throughput_labels(data, &frame, ends, named, &labels);
    if (!fine)
        fail_memory(error, "labels of a chart");
    settings.failed = settings.failed || words.failed;
    text_free(&words);
    fine = fine && tsv_save(&points, directory, chart->stem, ".tsv", error) &&
           tsv_save(&labels, directory, chart->stem, "_labels.tsv", error) &&
           tsv_save(&ticks, directory, chart->stem, "_ticks.tsv", error) &&
           tsv_save(&marks, directory, chart->stem, "_marks.tsv", error) &&
           tsv_save(&settings, directory, chart->stem, "_settings.tsv", error);
    text_free(&points);
    text_free(&labels);
    text_free(&ticks);
    text_free(&marks);
    text_free(&settings);
    return fine;
}

static bool draw_axis(const report_data *data, const axis *axis, const char *directory,
                      chart *chart, error *error)
{
    end_label *ends = calloc(data->kernel_count + ROOF_COUNT + 1, sizeof *ends);
    bool fine = ends ? write_throughput(data, axis, ends, directory, chart, error)
                     : fail_memory(error, "a throughput chart");
    free(ends);
    return fine;
}

bool chart_throughput(const report_data *data, const char *regime, const char *directory,
                      chart *chart, error *error)
{
    axis axis = {.regime = regime};
    char kind[24], title[96];
    snprintf(kind, sizeof kind, "throughput_%s", regime);
    for (char *letter = kind; *letter; letter++)
        *letter = (char)tolower((unsigned char)*letter);
    snprintf(title, sizeof title, "Throughput over hidden size, data in %s", regime);
    *chart = chart_begin(data, kind, "throughput.gp", title);
    bool fine = report_hidden_sizes(data, regime, &axis.sizes, &axis.count);
    if (!fine)
        fail_memory(error, "a throughput chart");
    else if (axis.count == 0)
        snprintf(chart->reason, sizeof chart->reason, "nothing was timed in the %s regime", regime);
    else
        fine = draw_axis(data, &axis, directory, chart, error);
    free(axis.sizes);
    return fine;
}

static int by_size(const void *a, const void *b)
{
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    return (left > right) - (left < right);
}

/* The numbers of rows that were timed at a hidden size. */
static size_t rows_at(const report_data *data, size_t hidden, size_t *rows)
{
    const view *view = data->view;
    size_t count = 0, distinct = 0;
    for (size_t i = 0; i < view->cases.count && data->group.cases; i++) {
        const case_key *key = &view->cases.cases[i].key;
        if (key->hidden == hidden && !is_roof(key->kernel) && report_timed(&view->views[i]) &&
            report_in_group(&data->group, key))
            rows[count++] = key->rows;
    }
    qsort(rows, count, sizeof *rows, by_size);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || rows[i] != rows[i - 1])
            rows[distinct++] = rows[i];
    return distinct;
}

/* The hidden size with most numbers of rows; of several the nearest to 768. */
static void choose_hidden(const report_data *data, axis *axis)
{
    const view *view = data->view;
    for (size_t i = 0; i < view->cases.count; i++) {
        size_t hidden = view->cases.cases[i].key.hidden;
        size_t count = hidden == axis->hidden ? 0 : rows_at(data, hidden, axis->sizes);
        bool nearer = fabs(log2((double)hidden / 768)) < fabs(log2((double)axis->hidden / 768));
        if (count > axis->count || (count && count == axis->count && nearer)) {
            axis->count = count;
            axis->hidden = hidden;
        }
    }
    axis->count = rows_at(data, axis->hidden, axis->sizes);
}

bool chart_throughput_size(const report_data *data, const char *directory, chart *chart,
                           error *error)
{
    axis axis = {.sizes = calloc(data->view->cases.count + 1, sizeof *axis.sizes)};
    char title[96];
    if (!axis.sizes)
        return fail_memory(error, "a throughput chart");
    choose_hidden(data, &axis);
    snprintf(title, sizeof title, "Throughput through the caches, at hidden size %zu", axis.hidden);
    *chart = chart_begin(data, "throughput_size", "throughput.gp", title);
    bool fine = true;
    if (axis.count < 2)
        snprintf(chart->reason, sizeof chart->reason,
                 "no hidden size was timed with different numbers of rows");
    else
        fine = draw_axis(data, &axis, directory, chart, error);
    free(axis.sizes);
    return fine;
}

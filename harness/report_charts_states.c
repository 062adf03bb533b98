/* The charts of what a kernel makes of threads, and of cold caches. */
#include "report_parts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_GAP = 14, MOST_KERNELS = 10, COUNTS_MOST = 32 };

/* A case of the group that is shown, but for its threads and cache state; NULL: not timed. */
static const view_case *case_in(const report_data *data, const char *kernel,
                                const report_shape *shape, unsigned threads, cache_state cache)
{
    report_data other = *data;
    other.group.threads = threads;
    other.group.cache = cache;
    const view_case *at = report_case_at(&other, kernel, shape);
    return at && report_timed(at) ? at : NULL;
}

static bool is_kernel_of_group(const report_data *data, size_t i)
{
    const case_key *key = &data->view->cases.cases[i].key;
    return report_timed(&data->view->views[i]) && !is_roof(key->kernel) &&
           key->dtype == data->group.dtype && strcmp(key->convention, data->group.convention) == 0;
}

/* ---- threads ---- */

static size_t thread_counts(const report_data *data, unsigned counts[COUNTS_MOST])
{
    size_t count = 0;
    for (size_t i = 0; i < data->view->cases.count; i++) {
        const case_key *key = &data->view->cases.cases[i].key;
        size_t at = 0;
        if (!is_kernel_of_group(data, i) || key->cache != data->group.cache)
            continue;
        while (at < count && counts[at] != key->threads)
            at++;
        if (at == count && count < COUNTS_MOST)
            counts[count++] = key->threads;
    }
    for (size_t last = count; last > 1; last--)
        for (size_t i = 0; i + 1 < last; i++)
            if (counts[i] > counts[i + 1]) {
                unsigned held = counts[i];
                counts[i] = counts[i + 1];
                counts[i + 1] = held;
            }
    return count;
}

typedef struct ranked {
    size_t series;
    double speed;
} ranked;

static int by_speed(const void *a, const void *b)
{
    const ranked *left = a, *right = b;
    if (left->speed != right->speed)
        return left->speed < right->speed ? 1 : -1;
    return (left->series > right->series) - (left->series < right->series);
}

/* How fast a kernel is at a shape with the most threads, or, over caches, hot. */
typedef double rank_of(const report_data *data, const char *kernel, const report_shape *shape,
                       const void *context);

/* Of each method the fastest ISA, of these the fastest few. */
static size_t fastest_few(const report_data *data, const report_shape *shape, rank_of *rank,
                          const void *context, ranked *list)
{
    size_t count = 0;
    for (size_t i = 0; i < data->kernel_count; i++) {
        double speed = rank(data, data->kernels[i].name, shape, context);
        char own[NAME_MAX_LENGTH], other[NAME_MAX_LENGTH];
        size_t at = 0;
        if (!isfinite(speed))
            continue;
        report_method(&data->kernels[i], own);
        for (; at < count && report_is_crowded(data); at++) {
            report_method(&data->kernels[list[at].series], other);
            if (strcmp(own, other) == 0)
                break;
        }
        at = report_is_crowded(data) ? at : count;
        if (at == count || speed > list[at].speed)
            list[at] = (ranked){i, speed};
        count += at == count;
    }
    qsort(list, count, sizeof *list, by_speed);
    return count < MOST_KERNELS ? count : MOST_KERNELS;
}

typedef struct thread_axis {
    unsigned counts[COUNTS_MOST];
    size_t count;
} thread_axis;

/* The most threads that a kernel was timed with at a shape, among at least two numbers of them. */
static double rank_threads(const report_data *data, const char *kernel, const report_shape *shape,
                           const void *context)
{
    const thread_axis *axis = context;
    const view_case *last = NULL;
    size_t points = 0;
    for (size_t i = 0; i < axis->count; i++) {
        const view_case *at = case_in(data, kernel, shape, axis->counts[i], data->group.cache);
        last = at ? at : last;
        points += at != NULL;
    }
    return points > 1 ? last->speed.gbps : NAN;
}

static double rank_cold(const report_data *data, const char *kernel, const report_shape *shape,
                        const void *context)
{
    (void)context;
    const view_case *hot = case_in(data, kernel, shape, data->group.threads, CACHE_HOT);
    const view_case *cold = case_in(data, kernel, shape, data->group.threads, CACHE_COLD);
    return hot && cold ? hot->speed.gbps : NAN;
}

/* The shape of a regime at which most kernels have what `rank` asks for; of several the one nearest
 * to hidden 768, then the one with most rows. */
static bool choose_state_shape(const report_data *data, const char *regime, rank_of *rank,
                               const void *context, report_shape *shape)
{
    size_t most = 0;
    double nearest = 0;
    for (size_t i = 0; i < data->view->cases.count; i++) {
        const case_key *key = &data->view->cases.cases[i].key;
        report_shape own = {key->rows, key->hidden};
        size_t kernels = 0;
        if (!is_kernel_of_group(data, i) || strcmp(data->view->views[i].regime, regime) != 0 ||
            (most && own.rows == shape->rows && own.hidden == shape->hidden))
            continue;
        for (size_t k = 0; k < data->kernel_count; k++)
            kernels += isfinite(rank(data, data->kernels[k].name, &own, context)) ? 1 : 0;
        double distance = fabs(log2((double)own.hidden / 768));
        if (kernels > most ||
            (kernels && kernels == most &&
             (distance < nearest || (distance == nearest && own.rows > shape->rows)))) {
            most = kernels;
            nearest = distance;
            *shape = own;
        }
    }
    return most > 0;
}

typedef struct state_texts {
    text points, labels, panels, ticks, settings;
} state_texts;

static bool save_texts(state_texts *texts, const chart *chart, const char *directory, error *error)
{
    bool fine = tsv_save(&texts->points, directory, chart->stem, ".tsv", error) &&
                tsv_save(&texts->labels, directory, chart->stem, "_labels.tsv", error) &&
                tsv_save(&texts->panels, directory, chart->stem, "_panels.tsv", error) &&
                tsv_save(&texts->ticks, directory, chart->stem, "_ticks.tsv", error) &&
                tsv_save(&texts->settings, directory, chart->stem, "_settings.tsv", error);
    text_free(&texts->points);
    text_free(&texts->labels);
    text_free(&texts->panels);
    text_free(&texts->ticks);
    text_free(&texts->settings);
    return fine;
}

static void thread_point(const report_data *data, size_t panel, size_t series, unsigned threads,
                         const view_case *at, text *out)
{
    const speed *speed = &at->speed;
    bool roof = is_roof(at->stored->key.kernel);
    char tip[300], gbps[16], share[16];
    double low, high;
    report_gbps_interval(speed, &low, &high);
    snprintf(tip, sizeof tip, "%s, %u thread%s: %s GB/s, %s of the roof", at->stored->key.kernel,
             threads, threads == 1 ? "" : "s", number_short(speed->gbps, gbps),
             number_short(speed->roof_ratio, share));
    tsv_number(out, (double)panel + 1);
    tsv_number(out, (double)series + 1);
    tsv_text(out, report_series_name(data, series));
    tsv_number(out, threads);
    tsv_number(out, speed->gbps);
    tsv_number(out, low);
    tsv_number(out, high);
    tsv_number(out, roof ? NAN : speed->roof_ratio);
    tsv_number(out, roof ? NAN : speed->roof_lo);
    tsv_number(out, roof ? NAN : speed->roof_hi);
    tsv_text(out, tip);
    tsv_end(out);
}

enum { THREADS_TOP = 118, THREADS_TALL = 230, THREADS_GAP = 92 };

/* One regime: its points, its frame, and the names between the two plots. */
static bool thread_panel(const report_data *data, const thread_axis *axis, const char *regime,
                         const report_shape *shape, size_t panel, ranked *list, state_texts *texts)
{
    size_t count = fastest_few(data, shape, rank_threads, axis, list);
    double most = 0, share = 1, positions[MOST_KERNELS + REPORT_ROOFS];
    chart_frame frame = {.top = THREADS_TOP + (THREADS_TALL + THREADS_GAP) * (double)panel};
    frame.bottom = frame.top + THREADS_TALL;
    for (size_t i = 0; i < REPORT_ROOFS; i++) {
        size_t series = data->kernel_count + i;
        double speed = rank_threads(data, report_series_name(data, series), shape, axis);
        if (isfinite(speed))
            list[count++] = (ranked){series, speed};
    }
    qsort(list, count, sizeof *list, by_speed);
    for (size_t i = 0; i < count; i++)
        for (size_t t = 0; t < axis->count; t++) {
            const view_case *at = case_in(data, report_series_name(data, list[i].series), shape,
                                          axis->counts[t], data->group.cache);
            if (!at)
                continue;
            thread_point(data, panel, list[i].series, axis->counts[t], at, &texts->points);
            most = fmax(most, at->speed.gbps);
            share = fmax(share, at->speed.roof_ratio);
        }
    frame.y_max = layout_round_up(most * 1.05);
    for (size_t i = 0; i < count; i++)
        positions[i] = frame_y(&frame, list[i].speed);
    if (!layout_spread(positions, count, LABEL_GAP, frame.top, frame.bottom))
        return false;
    for (size_t i = 0; i < count; i++) {
        char name[64];
        report_short_name(report_series_name(data, list[i].series), name);
        tsv_number(&texts->labels, (double)panel + 1);
        tsv_number(&texts->labels, (double)list[i].series + 1);
        tsv_text(&texts->labels, name);
        tsv_number(&texts->labels, list[i].speed);
        tsv_number(&texts->labels, positions[i]);
        tsv_end(&texts->labels);
    }
    char title[96];
    snprintf(title, sizeof title, "data in %s: %zu rows x hidden %zu", regime, shape->rows,
             shape->hidden);
    tsv_number(&texts->panels, (double)panel + 1);
    tsv_text(&texts->panels, title);
    tsv_number(&texts->panels, frame.top);
    tsv_number(&texts->panels, frame.bottom);
    tsv_number(&texts->panels, frame.y_max);
    tsv_number(&texts->panels, fmin(layout_round_up(share * 1.05), 2));
    tsv_end(&texts->panels);
    return true;
}

static bool write_threads(const report_data *data, const thread_axis *axis, const char *directory,
                          chart *chart, error *error)
{
    state_texts texts = {0};
    ranked *list = calloc(data->kernel_count + REPORT_ROOFS + 1, sizeof *list);
    size_t panels = 0;
    bool fine = list != NULL;
    char subtitle[300];
    text_add(&texts.points,
             "panel\tseries\tkernel\tthreads\tgbps\tgbps_lo\tgbps_hi\troof_ratio\troof_lo\t"
             "roof_hi\ttip\n");
    text_add(&texts.labels, "panel\tseries\tlabel\tgbps\tlabel_y\n");
    text_add(&texts.panels, "panel\ttitle\ttop\tbottom\tymax\tshare_max\n");
    text_add(&texts.ticks, "threads\tlabel\n");
    for (size_t i = 0; i < axis->count; i++) {
        tsv_number(&texts.ticks, axis->counts[i]);
        tsv_number(&texts.ticks, axis->counts[i]);
        tsv_end(&texts.ticks);
    }
    for (size_t i = 0; i < REGIME_COUNT && fine; i++) {
        report_shape shape;
        if (choose_state_shape(data, report_regimes[i], rank_threads, axis, &shape))
            fine = thread_panel(data, axis, report_regimes[i], &shape, panels++, list, &texts);
    }
    free(list);
    if (fine && panels == 0)
        snprintf(chart->reason, sizeof chart->reason,
                 "no kernel was timed at one shape with different numbers of threads");
    snprintf(subtitle, sizeof subtitle,
             "%s, %s, %s; normal input; bars: 95 %% intervals; the fastest %d methods",
             dtype_name(data->group.dtype), data->group.convention, cache_name(data->group.cache),
             MOST_KERNELS);
    tsv_common(&texts.settings, data, chart->title, subtitle, 1000,
               THREADS_TOP + (THREADS_TALL + THREADS_GAP) * (double)panels + 20);
    tsv_setting(&texts.settings, "panels", (double)panels);
    tsv_setting(&texts.settings, "xmin", axis->counts[0] / 1.15);
    tsv_setting(&texts.settings, "xmax", axis->counts[axis->count - 1] * 1.15);
    fine = fine || fail_memory(error, "labels of a chart");
    return save_texts(&texts, chart, directory, fine ? error : NULL) && fine;
}

bool chart_threads(const report_data *data, const char *directory, chart *chart, error *error)
{
    thread_axis axis = {.count = 0};
    *chart = chart_begin(data, "threads", "threads.gp", "What threads gain");
    axis.count = thread_counts(data, axis.counts);
    if (axis.count > 1)
        return write_threads(data, &axis, directory, chart, error);
    if (axis.count == 1)
        snprintf(chart->reason, sizeof chart->reason,
                 "the run has %u thread%s only (--threads 1,2 times more)", axis.counts[0],
                 axis.counts[0] == 1 ? "" : "s");
    else
        snprintf(chart->reason, sizeof chart->reason, "no speed was measured");
    return true;
}

/* ---- hot against cold ---- */

enum { STATES_TOP = 96, STATES_LINE = 20, STATES_HEAD = 26, STATES_FOOT = 48 };

static void state_line(const report_data *data, size_t panel, size_t series, double place,
                       const view_case *hot, const view_case *cold, text *out)
{
    char name[64], tip[300], from[16], to[16];
    double low, high, cold_low, cold_high;
    const char *kernel = report_series_name(data, series);
    report_short_name(kernel, name);
    report_gbps_interval(&hot->speed, &low, &high);
    report_gbps_interval(&cold->speed, &cold_low, &cold_high);
    snprintf(tip, sizeof tip, "%s: %s GB/s hot, %s GB/s cold", kernel,
             number_short(hot->speed.gbps, from), number_short(cold->speed.gbps, to));
    tsv_number(out, (double)panel + 1);
    tsv_number(out, (double)series + 1);
    tsv_text(out, name);
    tsv_number(out, place);
    tsv_number(out, hot->speed.gbps);
    tsv_number(out, low);
    tsv_number(out, high);
    tsv_number(out, cold->speed.gbps);
    tsv_number(out, cold_low);
    tsv_number(out, cold_high);
    tsv_text(out, tip);
    tsv_end(out);
}

/* One regime, a line a kernel and two for the roofs, the fastest first; returns where it ends. */
static double state_panel(const report_data *data, const char *regime, const report_shape *shape,
                          size_t panel, double top, ranked *list, double *room, state_texts *texts)
{
    size_t count = fastest_few(data, shape, rank_cold, NULL, list);
    double most = 0, bottom;
    for (size_t i = 0; i < REPORT_ROOFS; i++) {
        size_t series = data->kernel_count + i;
        double speed = rank_cold(data, report_series_name(data, series), shape, NULL);
        if (isfinite(speed))
            list[count++] = (ranked){series, speed};
    }
    qsort(list, count, sizeof *list, by_speed);
    top += STATES_HEAD;
    bottom = top + STATES_LINE * (double)count;
    for (size_t i = 0; i < count; i++) {
        const char *name = report_series_name(data, list[i].series);
        const view_case *hot = case_in(data, name, shape, data->group.threads, CACHE_HOT);
        const view_case *cold = case_in(data, name, shape, data->group.threads, CACHE_COLD);
        state_line(data, panel, list[i].series, (double)i + 0.5, hot, cold, &texts->points);
        most = fmax(most, fmax(hot->speed.gbps, cold->speed.gbps));
        *room = fmax(*room, layout_text_width(name));
    }
    char title[96];
    snprintf(title, sizeof title, "data of the size of %s: %zu rows x hidden %zu", regime,
             shape->rows, shape->hidden);
    tsv_number(&texts->panels, (double)panel + 1);
    tsv_text(&texts->panels, title);
    tsv_number(&texts->panels, top);
    tsv_number(&texts->panels, bottom);
    tsv_number(&texts->panels, (double)count);
    tsv_number(&texts->panels, layout_round_up(most * 1.02));
    tsv_end(&texts->panels);
    return bottom + STATES_FOOT;
}

bool chart_hot_cold(const report_data *data, const char *directory, chart *chart, error *error)
{
    state_texts texts = {0};
    text words = {0};
    size_t panels = 0;
    double top = STATES_TOP, room = 0;
    *chart = chart_begin(data, "hot_cold", "hot_cold.gp", "Hot caches against cold ones");
    ranked *list = calloc(data->kernel_count + REPORT_ROOFS + 1, sizeof *list);
    if (!list)
        return fail_memory(error, "a chart of cache states");
    text_add(&texts.points, "panel\tseries\tkernel\tplace\thot\thot_lo\thot_hi\tcold\tcold_lo\t"
                            "cold_hi\ttip\n");
    text_add(&texts.panels, "panel\ttitle\ttop\tbottom\tlines\txmax\n");
    for (size_t i = 0; i < REGIME_COUNT; i++) {
        report_shape shape;
        if (choose_state_shape(data, report_regimes[i], rank_cold, NULL, &shape))
            top = state_panel(data, report_regimes[i], &shape, panels++, top, list, &room, &texts);
    }
    free(list);
    if (panels == 0)
        snprintf(chart->reason, sizeof chart->reason,
                 data->group.cases ? "no kernel was timed both hot and cold (--cache hot,cold)"
                                   : "no speed was measured");
    text_format(&words,
                "%s, %s, %u thread%s; normal input; bars: 95 %% intervals; the fastest %d "
                "methods",
                dtype_name(data->group.dtype), data->group.convention ? data->group.convention : "",
                data->group.threads, data->group.threads == 1 ? "" : "s", MOST_KERNELS);
    tsv_common(&texts.settings, data, chart->title, words.bytes ? words.bytes : "", 1000, top + 24);
    tsv_setting(&texts.settings, "panels", (double)panels);
    tsv_setting(&texts.settings, "left", 24 + fmin(room, 290));
    text_add(&texts.labels, "-\n");
    text_add(&texts.ticks, "-\n");
    texts.settings.failed = texts.settings.failed || words.failed;
    text_free(&words);
    return save_texts(&texts, chart, directory, error);
}

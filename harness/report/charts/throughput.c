/* Throughput over hidden size as a share of copy speed, a panel a regime. */
#include "report/charts/chart.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES_MOST = 64 };

typedef struct regime_panel {
    const char *regime;
    size_t number, sizes[SIZES_MOST], size_count;
} regime_panel;

static void add_point(chart_output *out, const regime_panel *panel, size_t series,
                      const view_case *at, const char *label)
{
    const speed_figures *speed = &at->speed;
    tsv_row(&out->table, "zzssnnnnn", panel->number, series, label, at->stored->key.kernel,
            (double)at->stored->key.hidden, speed->roof_ratio, speed->roof_lo, speed->roof_hi,
            speed->gbps);
}

/* Lines that have a name: six at most, and the user's own. */
static bool is_named(const report_look *look)
{
    return look->kind != LOOK_NAIVE && look->kind != LOOK_FUSED;
}

/* Returns how many points that are. */
static size_t add_lines(const report_data *data, const regime_panel *panel, chart_output *out)
{
    size_t points = 0;
    for (size_t i = 0; i < data->look_count; i++)
        for (size_t size = 0; size < panel->size_count && is_named(&data->looks[i]); size++) {
            const view_case *at =
                report_best_in(data, &data->looks[i], panel->regime, panel->sizes[size]);
            if (!at || !isfinite(at->speed.roof_ratio))
                continue;
            add_point(out, panel, (size_t)data->looks[i].style, at, data->looks[i].label);
            points++;
        }
    return points;
}

/* Every kernel, faint: its series is beyond those of the names. */
static void add_faint(const report_data *data, const regime_panel *panel, chart_output *out)
{
    enum { FIRST_FAINT = 100 };
    for (size_t kernel = 0; kernel < data->kernel_count; kernel++)
        for (size_t size = 0; size < panel->size_count; size++)
            for (size_t i = 0; i < data->timed_count; i++) {
                const view_case *at = &data->view->views[data->timed[i]];
                if (report_kernel_at(data, at) == &data->kernels[kernel] &&
                    at->stored->key.hidden == panel->sizes[size] &&
                    strcmp(at->regime, panel->regime) == 0 && isfinite(at->speed.roof_ratio))
                    add_point(out, panel, FIRST_FAINT + kernel, at, "-");
            }
}

/* The copy speed in GB/s that stands for the panel: the median over its sizes. */
static double median_roof(const report_data *data, const regime_panel *panel)
{
    double roofs[SIZES_MOST];
    size_t count = 0;
    for (size_t size = 0; size < panel->size_count; size++)
        for (size_t i = 0; i < data->timed_count; i++) {
            const view_case *at = &data->view->views[data->timed[i]];
            if (at->stored->key.hidden == panel->sizes[size] && report_kernel_at(data, at) &&
                strcmp(at->regime, panel->regime) == 0 && isfinite(at->speed.roof_ratio)) {
                double roof = at->speed.gbps / at->speed.roof_ratio;
                size_t place = count++;
                for (; place > 0 && roofs[place - 1] > roof; place--)
                    roofs[place] = roofs[place - 1];
                roofs[place] = roof;
                break;
            }
        }
    return count ? roofs[count / 2] : NAN;
}

static void add_panel_settings(const regime_panel *panel, double roof, chart_output *out)
{
    char key[16];
    snprintf(key, sizeof key, "regime_%zu", panel->number);
    chart_words(out, key, panel->regime);
    snprintf(key, sizeof key, "roof_%zu", panel->number);
    chart_setting(out, key, roof);
    snprintf(key, sizeof key, "sizes_%zu", panel->number);
    chart_setting(out, key, (double)panel->size_count);
}

static void draw_throughput(const report_data *data, chart_output *out)
{
    regime_panel panel = {.number = 0};
    text_buffer words = {0};
    size_t points = 0;
    tsv_row(&out->table, "wwwwwwwww", "panel", "series", "label", "kernel", "hidden", "share", "lo",
            "hi", "gbps");
    for (size_t i = 0; i < REGIMES; i++) {
        panel.regime = regime_names[i];
        panel.size_count = report_hidden_sizes(data, panel.regime, panel.sizes, SIZES_MOST);
        double roof = median_roof(data, &panel);
        if (!panel.size_count || !isfinite(roof))
            continue;
        panel.number++;
        add_faint(data, &panel, out);
        points += add_lines(data, &panel, out);
        add_panel_settings(&panel, roof, out);
    }
    if (!panel.number)
        chart_because(out, "no speed was measured beside a copy");
    else if (!points)
        chart_because(out, "no kernel that people name was timed");
    report_group_words(&data->group, &words);
    text_add(&words, "; at each size the fastest kernel of that name; faint: every kernel");
    chart_subtitle(out, &words);
    chart_setting(out, "panels", (double)panel.number);
}

const chart_kind throughput_chart = {
    "throughput",
    "How close to copy speed is each kernel, by hidden size?",
    "Higher is faster; 100 % is as fast as copying the same bytes, measured in the same minutes. "
    "The "
    "word in front of a panel says which cache holds x and y. Fewer than four sizes are points "
    "without a line.",
    "throughput.gp",
    draw_throughput,
    chart_speed_again,
};

/* Every single timing at the report's shape, a strip a name: how much of an interval is noise, and of
 * which process. */
#include "report/charts/chart.h"

static void draw_timings(const report_data *data, chart_output *out)
{
    text_buffer words = {0};
    size_t strips = 0;
    tsv_row(&out->table, "wwwww", "strip", "style", "label", "process", "relative");
    for (size_t i = 0; i < data->look_count; i++) {
        const view_case *at = report_shown(data, i);
        char name[REPORT_NAME];
        if (!at || at->stored->repetition_count == 0)
            continue;
        strips++;
        for (size_t k = 0; k < at->stored->repetition_count; k++)
            tsv_row(&out->table, "zzszn", strips, (size_t)data->looks[i].style,
                    report_name(data, at, name), (size_t)at->stored->repetitions[k].process,
                    at->stored->repetitions[k].real_ns / at->speed.time_ns);
    }
    if (!strips)
        chart_because(out, "no single timings are stored");
    report_group_words(&data->group, &words);
    text_format(&words, ", %zu rows × %zu; one dot a repetition, its time over the median",
                data->shape.rows, data->shape.hidden);
    chart_subtitle(out, &words);
    chart_setting(out, "strips", (double)strips);
}

const chart_kind timings_chart = {
    "timings",
    "How much do single timings scatter?",
    "Dots near 1 are a quiet machine. Two clusters mean that processes differ, by where their "
    "memory "
    "lies; a long tail to the right means that something else ran.",
    "timings.gp",
    draw_timings,
    chart_speed_again,
};

/* How the errors of single elements are spread: the share of them up to a size, on ordinary rows. */
#include "report/charts/chart.h"
#include "inputs/inputs.h"

typedef struct spread_line {
    double bins[ULP_BINS], elements;
} spread_line;

static spread_line gather(const report_data *data, const report_kernel *kernel)
{
    spread_line line = {.elements = 0};
    const run_view *view = data->view;
    for (size_t i = 0; i < view->cases.count; i++) {
        const stored_case *stored = &view->cases.cases[i];
        if (data->kernel_of[i] != (size_t)(kernel - data->kernels) ||
            !report_is_judged(data, stored) || case_is_extreme(&stored->key) ||
            !(stored->metrics.kappa_max <= 10))
            continue;
        for (size_t bin = 0; bin < ULP_BINS; bin++) {
            line.bins[bin] += (double)stored->metrics.ulp_histogram[bin];
            line.elements += (double)stored->metrics.ulp_histogram[bin];
        }
    }
    return line;
}

static void draw_error_spread(const report_data *data, chart_output *out)
{
    size_t count = 0;
    text_buffer words = {0};
    tsv_row(&out->table, "wwwww", "line", "style", "label", "ulp", "share");
    for (size_t i = 0; i < data->look_count; i++) {
        const report_look *look = &data->looks[i];
        const view_case *at =
            look->kind != LOOK_FUSED && look->kind != LOOK_NAIVE ? report_shown(data, i) : NULL;
        spread_line line = at ? gather(data, report_kernel_at(data, at)) : (spread_line){0};
        double sum = 0;
        char name[REPORT_NAME];
        count += line.elements > 0;
        for (size_t bin = 0; bin + 1 < ULP_BINS && line.elements > 0; bin++) {
            sum += line.bins[bin];
            tsv_row(&out->table, "znsnn", count, (double)look->style, report_name(data, at, name),
                    ulp_bin_from(bin + 1), sum / line.elements);
        }
    }
    if (count == 0)
        chart_because(out, "no judged case of a timed kernel has a histogram");
    text_format(&words, "%s, %s; all elements of rows with kappa up to 10",
                dtype_name(data->judged.dtype),
                data->judged.convention ? data->judged.convention : "-");
    chart_subtitle(out, &words);
    chart_setting(out, "lines", (double)count);
}

const chart_kind error_spread_chart = {
    "error_spread",
    "How large are the errors of single elements?",
    "Further up and to the left is more accurate: the share of all elements whose error is at most "
    "that many units in the last place. Up to half a unit an element is correctly rounded.",
    "error_spread.gp",
    draw_error_spread,
    chart_accuracy_again,
};

/* Speed against error at one shape: who is on the front, and what is wrong with the rest. */
#include "report/charts/chart.h"
#include <math.h>
#include <string.h>

static double error_of(const report_kernel *kernel)
{
    return kernel->standing->errors[SCOPE_ANY].error;
}

/* On the Pareto front: nobody is faster without a larger error. */
static bool is_on_front(const report_data *data, const report_kernel *kernel, double gbps)
{
    for (size_t i = 0; i < data->kernel_count; i++) {
        const report_kernel *other = &data->kernels[i];
        const view_case *at = report_case_at(data, other, &data->shape);
        if (at && other != kernel && other->class != ERROR_UNKNOWN && at->speed.gbps >= gbps &&
            error_of(other) <= error_of(kernel) &&
            (at->speed.gbps > gbps || error_of(other) < error_of(kernel)))
            return false;
    }
    return error_of(kernel) < dtype_no_digit(data->judged.dtype);
}

/* Of a textbook form the fastest ISA, of a library the fastest call. */
static const char *name_of(const report_data *data, const report_kernel *kernel,
                           const view_case *at)
{
    for (size_t i = 0; i < data->look_count; i++) {
        const report_look *look = &data->looks[i];
        bool fastest_of = report_best(data, look, &data->shape) == at;
        if (look->kind == LOOK_PEER && fastest_of)
            return look->label;
        if (look->kind >= LOOK_TWO_PASS && look->kind <= LOOK_PLUGIN && fastest_of)
            return kernel->label;
    }
    return NULL;
}

static void draw_speed_error(const report_data *data, chart_output *out)
{
    size_t shown = 0, failed = 0;
    double most = 2 * dtype_no_digit(data->judged.dtype); /* more is no more wrong */
    text_buffer words = {0};
    tsv_row(&out->table, "wwwwwwww", "kernel", "label", "gbps", "lo", "hi", "error", "class",
            "front");
    for (size_t i = 0; i < data->kernel_count && data->has_shape; i++) {
        const report_kernel *kernel = &data->kernels[i];
        const view_case *at = report_case_at(data, kernel, &data->shape);
        if (!at || kernel->class == ERROR_UNKNOWN)
            continue;
        const speed_figures *speed = &at->speed;
        bool front = is_on_front(data, kernel, speed->gbps);
        const char *name = name_of(data, kernel, at);
        tsv_row(&out->table, "ssnnnnnn", kernel->name,
                name    ? name
                : front ? kernel->label
                        : "-",
                speed->gbps, speed->gbps * speed->time_ns / speed->time_hi_ns,
                speed->gbps * speed->time_ns / speed->time_lo_ns,
                kernel->class == ERROR_NAN ? NAN : fmin(fmax(error_of(kernel), 0.25), most),
                (double)kernel->class, (double)front);
        shown++;
        failed += kernel->class == ERROR_NAN;
    }
    if (shown < 2)
        chart_because(out, "fewer than two kernels were both timed and judged");
    report_heading_words(data, &words);
    text_format(&words, ", %zu rows × %zu; line: nobody is faster with a smaller error",
                data->shape.rows, data->shape.hidden);
    chart_subtitle(out, &words);
    chart_setting(out, "failed", (double)failed);
    chart_setting(out, "rough", error_rough_limit(data->judged.dtype));
    chart_setting(out, "no_digit", dtype_no_digit(data->judged.dtype));
}

const chart_kind speed_error_chart = {
    "speed_error",
    "What does speed cost in accuracy?",
    "To the right is faster, down is more accurate. Nothing measured lies beyond the line: the "
    "kernels on it are the ones to choose from. Kernels in the strip at the top gave NaN or "
    "infinity "
    "on some row.",
    "speed_error.gp",
    draw_speed_error,
    chart_both_again,
};

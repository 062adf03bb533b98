/* The chart of how errors are spread: the share of elements by ULP error. */
#include "report_parts.h"
#include <math.h>
#include <string.h>

typedef struct spread_chart {
    const report_data *data;
    size_t last;  /* the last bin that any element is in */
    double least; /* the smallest share */
} spread_chart;

/* The judged case with most elements on an input; NULL: none has a histogram. */
static const stored_case *spread_case(const report_data *data, const char *kernel,
                                      const char *input)
{
    const stored_cases *cases = &data->view->cases;
    const stored_case *found = NULL;
    size_t count;
    const size_t *own = report_cases_of(data, kernel, &count);
    for (size_t i = 0; i < count; i++) {
        const stored_case *stored = &cases->cases[own[i]];
        uint64_t counted = 0;
        for (size_t bin = 0; bin < ULP_BINS && stored->judged; bin++)
            counted += stored->metrics.ulp_histogram[bin];
        if (counted == 0 || strcmp(stored->key.kernel, kernel) != 0 ||
            !report_of_family(stored->key.input, input) ||
            !report_same_judged(&data->judged, &stored->key))
            continue;
        if (!found || stored->metrics.elements > found->metrics.elements)
            found = stored;
    }
    return found;
}

/* The share of the elements in a bin; NaN: none. */
static double share_of(const stored_case *stored, size_t bin)
{
    uint64_t all = 0;
    for (size_t i = 0; stored && i < ULP_BINS; i++)
        all += stored->metrics.ulp_histogram[i];
    if (!stored || stored->metrics.ulp_histogram[bin] == 0)
        return NAN;
    return (double)stored->metrics.ulp_histogram[bin] / (double)all;
}

/* Where a bin stands on the axis: its middle; that of the first, whose errors may be 0, as if it
 * were a bin like the others. */
static double middle_of(size_t bin)
{
    return exp2((double)bin - 6.5);
}

static void bin_words(size_t bin, char words[48])
{
    char from[16], to[16];
    if (bin == 0)
        snprintf(words, 48, "below %s ulp", number_short(ulp_bin_from(1), to));
    else if (bin + 1 == ULP_BINS)
        snprintf(words, 48, "%s ulp or more", number_short(ulp_bin_from(bin), from));
    else
        snprintf(words, 48, "%s to %s ulp", number_short(ulp_bin_from(bin), from),
                 number_short(ulp_bin_from(bin + 1), to));
}

static bool fill_kernel(void *context, size_t panel, size_t kernel, text *out)
{
    spread_chart *chart = context;
    const char *name = chart->data->kernels[kernel].name;
    const stored_case *normal = spread_case(chart->data, name, "normal");
    const stored_case *offset = spread_case(chart->data, name, "offset");
    for (size_t bin = 0; bin < ULP_BINS && normal; bin++) {
        double of_normal = share_of(normal, bin), of_offset = share_of(offset, bin);
        char tip[300], words[48];
        if (isnan(of_normal) && isnan(of_offset))
            continue;
        bin_words(bin, words);
        snprintf(tip, sizeof tip, "%s: %s: %.3g %% of normal input, %.3g %% of offset input", name,
                 words, isnan(of_normal) ? 0 : 100 * of_normal,
                 isnan(of_offset) ? 0 : 100 * of_offset);
        panel_point(
            chart->data, panel, kernel,
            &(panel_point_facts){"normal", tip, middle_of(bin), of_normal, of_offset, false}, out);
        chart->last = bin > chart->last ? bin : chart->last;
        chart->least = fmin(chart->least, fmin(of_normal, of_offset));
    }
    return normal != NULL;
}

/* Every sixth border of two bins. */
static void spread_ticks(text *out)
{
    static const char *const labels[] = {"1/64", "1", "64", "4096", "2¹⁸", "2²⁴"};
    text_add(out, "value\tlabel\n");
    for (int i = 0; i < 6; i++) {
        tsv_number(out, exp2(6.0 * i - 6));
        text_format(out, "\t%s\n", labels[i]);
    }
}

static bool write_spread(spread_chart *over, panels *panels, const char *directory, chart *chart,
                         error *error)
{
    char subtitle[300];
    chart_frame frame = {.x_min = exp2(-7),
                         .x_max = exp2((double)over->last - 5.5),
                         .y_min = pow(10, floor(log10(over->least))),
                         .y_max = 1.5,
                         .x_log = true,
                         .y_log = true};
    for (size_t panel = 0; panel < panels->count; panel++) {
        panel_line_point(panels, panel, 3, 0, 0.5, frame.y_min);
        panel_line_point(panels, panel, 3, 0, 0.5, frame.y_max);
    }
    snprintf(subtitle, sizeof subtitle,
             "%s, %s; a mark: the share of elements within a factor of 2 of error, the first: "
             "below 1/64 ulp",
             dtype_name(over->data->judged.dtype), over->data->judged.convention);
    text *settings = &panels->settings;
    tsv_setting_text(settings, "found", "normal input");
    tsv_setting_text(settings, "proved", "offset input: means far from zero");
    tsv_setting_text(settings, "line1", "");
    tsv_setting_text(settings, "line2", "");
    tsv_setting_words(settings, "line3", "½ ulp: the most that correct rounding leaves");
    tsv_setting_text(settings, "wrong", "");
    tsv_setting_text(settings, "xlabel", "error (ulp)");
    tsv_setting_text(settings, "ylabel", "share of elements");
    spread_ticks(&panels->xticks);
    return panels_save(over->data, panels, &frame, chart, subtitle, directory, error);
}

bool chart_ulp_histogram(const report_data *data, const char *directory, chart *chart, error *error)
{
    panels panels;
    spread_chart over = {.data = data, .last = 7, .least = 0.1};
    *chart = chart_begin(data, "ulp_histogram", "panels.gp", "How the errors are spread");
    bool fine = panels_gather(data, fill_kernel, &over, &panels);
    if (!fine)
        fail_memory(error, "panels of a chart");
    else if (panels.count == 0)
        snprintf(chart->reason, sizeof chart->reason,
                 "no judged case of normal input has a histogram");
    else
        fine = write_spread(&over, &panels, directory, chart, error);
    panels_free(&panels);
    return fine;
}

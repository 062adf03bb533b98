/* Error over kappa: a line for each name that the reader asks for; equal bits are one line. */
#include "report/charts/chart.h"
#include "inputs/inputs.h"
#include <math.h>
#include <string.h>

enum { DECADES = 16, BINS_A_DECADE = 2, BINS = DECADES * BINS_A_DECADE };

typedef struct kappa_line {
    const report_kernel *kernel;
    char label[2 * REPORT_NAME];
    int style;
    double most[BINS]; /* largest row ULP of the rows in a bin; NaN: none */
} kappa_line;

static size_t bin_of(double kappa)
{
    double bin = floor(log10(fmax(kappa, 1)) * BINS_A_DECADE + 1e-9);
    return bin < BINS ? (size_t)bin : BINS;
}

static bool gather(const report_data *data, kappa_line *line)
{
    const run_view *view = data->view;
    /* Beyond, the elements of a row differ by a few units in the last place: other rows. */
    const double kappa_most = 16 * dtype_no_digit(data->judged.dtype);
    bool any = false;
    for (size_t i = 0; i < BINS; i++)
        line->most[i] = NAN;
    for (size_t i = 0; i < view->rows.count; i++) {
        const stored_row *row = &view->rows.rows[i];
        const stored_case *stored = &view->cases.cases[row->case_index];
        if (strcmp(stored->key.kernel, line->kernel->name) != 0 ||
            !report_is_judged(data, stored) || case_is_extreme(&stored->key) ||
            !(row->kappa <= kappa_most) || bin_of(row->kappa) >= BINS)
            continue;
        /* A row without a figure is as wrong as can be. */
        double row_error = isfinite(row->row_ulp) ? fmax(row->row_ulp, 0.1) : (double)INFINITY;
        double *most = &line->most[bin_of(row->kappa)];
        if (!(*most >= row_error))
            *most = row_error;
        any = true;
    }
    return any;
}

/* The kernel that stands for a look where nothing was timed is the first of it; of no title then. */
static const report_kernel *kernel_of(const report_data *data, const report_look *look,
                                      char name[REPORT_NAME])
{
    const view_case *at = data->has_shape ? report_best(data, look, &data->shape) : NULL;
    if (at) {
        report_name(data, at, name);
        return report_kernel_at(data, at);
    }
    for (size_t i = 0; i < data->kernel_count; i++)
        if (report_in_look(look, &data->kernels[i]) && data->kernels[i].class != ERROR_UNKNOWN)
            return snprintf(name, REPORT_NAME, "%s",
                            look->kind == LOOK_PEER ? look->label : data->kernels[i].label),
                   &data->kernels[i];
    return NULL;
}

/* Adds a line, or its name to the one that it lies on. */
static void add_line(const report_data *data, const report_look *look, kappa_line *lines,
                     size_t *count)
{
    char name[REPORT_NAME];
    kappa_line line = {.kernel = kernel_of(data, look, name), .style = look->style};
    for (size_t i = 0; i < *count; i++)
        if (lines[i].kernel == line.kernel)
            return;
    if (!line.kernel || !gather(data, &line))
        return;
    for (size_t i = 0; i < *count; i++) {
        bool same = true;
        for (size_t bin = 0; bin < BINS && same; bin++)
            same = line.most[bin] == lines[i].most[bin] ||
                   (isnan(line.most[bin]) && isnan(lines[i].most[bin]));
        if (same) {
            size_t length = strlen(lines[i].label);
            snprintf(lines[i].label + length, sizeof lines[i].label - length, ", %s", name);
            return;
        }
    }
    snprintf(line.label, sizeof line.label, "%s", name);
    lines[(*count)++] = line;
}

static void draw_error_kappa(const report_data *data, chart_output *out)
{
    enum { LINES_MOST = 8 };
    kappa_line lines[LINES_MOST];
    size_t count = 0;
    double no_digit = dtype_no_digit(data->judged.dtype);
    text_buffer words = {0};
    for (size_t i = 0; i < data->look_count && count < LINES_MOST; i++)
        if (data->looks[i].kind != LOOK_FUSED)
            add_line(data, &data->looks[i], lines, &count);
    tsv_row(&out->table, "wwwwwww", "line", "style", "label", "kernel", "kappa", "error", "wrong");
    for (size_t i = 0; i < count; i++)
        for (size_t bin = 0; bin < BINS; bin++)
            if (!isnan(lines[i].most[bin]))
                tsv_row(&out->table, "znssnnn", i + 1, (double)lines[i].style, lines[i].label,
                        lines[i].kernel->name, pow(10, ((double)bin + 0.5) / BINS_A_DECADE),
                        fmin(lines[i].most[bin], no_digit * 4), (double)isinf(lines[i].most[bin]));
    if (count == 0)
        chart_because(out, "no judged row has a condition number");
    text_format(&words,
                "%s, %s; the worst of all judged rows of about that kappa; thin: errors that "
                "grow with kappa, and with its square",
                dtype_name(data->judged.dtype),
                data->judged.convention ? data->judged.convention : "-");
    chart_subtitle(out, &words);
    chart_setting(out, "lines", (double)count);
    chart_setting(out, "no_digit", no_digit);
}

const chart_kind error_kappa_chart = {
    "error_kappa",
    "What becomes of the error when the mean is far from zero?",
    "Lower is more accurate. Kappa is large where the mean of a row is large against its spread: "
    "1 for a centred row, 10 000 for a mean ten thousand times the spread. In the band at the top "
    "no "
    "digit is right.",
    "error_kappa.gp",
    draw_error_kappa,
    chart_accuracy_again,
};

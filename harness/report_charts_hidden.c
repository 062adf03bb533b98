/* The charts of row ULP over hidden size, and of the share of elements correctly rounded. */
#include "report_parts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_SHOWN = 44 };

/* ---- error over hidden ---- */

typedef struct hidden_chart {
    const report_data *data;
    size_t *sizes, count;
    double low, high;
} hidden_chart;

/* The worst case of a kernel on normal input at one hidden size; NULL: none was judged there. */
static const stored_case *worst_at(const report_data *data, const char *kernel, size_t hidden)
{
    const stored_cases *cases = &data->view->cases;
    const stored_case *worst = NULL;
    size_t count;
    const size_t *own = report_cases_of(data, kernel, &count);
    for (size_t i = 0; i < count; i++) {
        const stored_case *stored = &cases->cases[own[i]];
        if (!stored->judged || stored->key.hidden != hidden ||
            strcmp(stored->key.kernel, kernel) != 0 || strcmp(stored->key.input, "normal") != 0 ||
            !report_same_judged(&data->judged, &stored->key) ||
            !isfinite(stored->metrics.row_ulp_max))
            continue;
        if (!worst || stored->metrics.row_ulp_max > worst->metrics.row_ulp_max)
            worst = stored;
    }
    return worst;
}

static int by_size(const void *a, const void *b)
{
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    return (left > right) - (left < right);
}

static bool judged_sizes(const report_data *data, size_t **sizes, size_t *count)
{
    const stored_cases *cases = &data->view->cases;
    *count = 0;
    *sizes = calloc(cases->count + 1, sizeof **sizes);
    if (!*sizes)
        return false;
    for (size_t i = 0; i < cases->count && data->judged.cases; i++)
        if (cases->cases[i].judged && !is_roof(cases->cases[i].key.kernel) &&
            strcmp(cases->cases[i].key.input, "normal") == 0 &&
            report_same_judged(&data->judged, &cases->cases[i].key))
            (*sizes)[(*count)++] = cases->cases[i].key.hidden;
    qsort(*sizes, *count, sizeof **sizes, by_size);
    size_t distinct = 0;
    for (size_t i = 0; i < *count; i++)
        if (i == 0 || (*sizes)[i] != (*sizes)[i - 1])
            (*sizes)[distinct++] = (*sizes)[i];
    *count = distinct;
    return true;
}

static bool fill_kernel(void *context, size_t panel, size_t kernel, text *out)
{
    hidden_chart *chart = context;
    const char *name = chart->data->kernels[kernel].name;
    bool any = false;
    for (size_t i = 0; i < chart->count; i++) {
        const stored_case *at = worst_at(chart->data, name, chart->sizes[i]);
        char tip[300], found[16], bound[16];
        if (!at)
            continue;
        double row_ulp = at->metrics.row_ulp_max;
        bool proven = isfinite(at->bound_row_ulp) && at->bound_row_ulp > 0;
        snprintf(tip, sizeof tip, "%s at hidden %zu: found %s row ULP, proved %s", name,
                 chart->sizes[i], number_short(row_ulp, found),
                 proven ? number_short(at->bound_row_ulp, bound) : "nothing");
        panel_point(chart->data, panel, kernel,
                    &(panel_point_facts){"normal", tip, (double)chart->sizes[i], row_ulp,
                                         proven ? at->bound_row_ulp : NAN, false},
                    out);
        chart->low = row_ulp > 0 ? fmin(chart->low, row_ulp) : chart->low;
        chart->high = fmax(chart->high, proven ? at->bound_row_ulp : row_ulp);
        any = true;
    }
    return any;
}

/* The root of N and N rounding units of the sums, in row ULP, and the half of rounding y, within
 * the frame. */
static void draw_growth(panels *panels, size_t panel, size_t line, double unit,
                        const chart_frame *frame)
{
    enum { STEPS = 40 };
    for (int kind = 1; kind <= 2; kind++)
        for (int i = 0; i <= STEPS; i++) {
            double n = frame->x_min * pow(frame->x_max / frame->x_min, i / (double)STEPS);
            double y = 0.5 + unit * (kind == 1 ? sqrt(n) : n);
            if (y >= frame->y_min && y <= frame->y_max)
                panel_line_point(panels, panel, kind, line, n, y);
        }
}

/* Lines for each rounding unit of sums, against that of y, that a panel's kernels have; sums that
 * nobody knows are taken to be of y's type. */
static void growth_lines(const hidden_chart *over, panels *panels, const chart_frame *frame)
{
    enum { MOST = 4 };
    const report_data *data = over->data;
    for (size_t panel = 0; panel < panels->count; panel++) {
        double drawn[MOST];
        size_t count = 0;
        for (size_t i = 0; i < data->kernel_count && count < MOST; i++) {
            theory theory;
            bool seen = panels->of[i] != panel + 1;
            bool known = !seen && theory_of(&data->kernels[i].facts, over->sizes[0], &theory);
            drawn[count] = known ? theory.unit / theory.storage : 1;
            for (size_t j = 0; j < count && !seen; j++)
                seen = drawn[j] == drawn[count];
            if (!seen) {
                draw_growth(panels, panel, count, drawn[count], frame);
                count++;
            }
        }
    }
}

static bool write_hidden(hidden_chart *over, panels *panels, const char *directory, chart *chart,
                         error *error)
{
    char subtitle[300];
    chart_frame frame = {.x_min = (double)over->sizes[0] / 1.3,
                         .x_max = (double)over->sizes[over->count - 1] * 1.3,
                         .y_min = pow(10, fmax(-4, floor(log10(over->low)))),
                         .y_max = pow(10, ceil(log10(over->high) + 0.2)),
                         .x_log = true,
                         .y_log = true};
    const report_data *data = over->data;
    growth_lines(over, panels, &frame);
    snprintf(
        subtitle, sizeof subtitle,
        "%s, %s, normal input; each mark: the worst judged element; u: rounding unit of the sums",
        dtype_name(data->judged.dtype), data->judged.convention);
    text *settings = &panels->settings;
    tsv_setting_text(settings, "found", "found");
    tsv_setting_text(settings, "proved", "proved");
    tsv_setting_words(settings, "line1", "½ + √N·u");
    tsv_setting_words(settings, "line2", "½ + N·u");
    tsv_setting_text(settings, "line3", "");
    tsv_setting_text(settings, "wrong", "");
    tsv_setting_text(settings, "xlabel", "hidden size (elements a row)");
    tsv_setting_text(settings, "ylabel", "error (row ULP)");
    chart_frame narrow = frame;
    panels_axis(data, panels, &narrow);
    report_hidden_ticks(&narrow, over->sizes, over->count, &panels->xticks);
    return panels_save(data, panels, &frame, chart, subtitle, directory, error);
}

bool chart_error_hidden(const report_data *data, const char *directory, chart *chart, error *error)
{
    panels panels = {0};
    hidden_chart over = {.data = data, .low = 1, .high = 10};
    *chart = chart_begin(data, "error_hidden", "panels.gp", "Error over hidden size");
    bool fine = judged_sizes(data, &over.sizes, &over.count);
    if (fine && over.count < 2)
        snprintf(chart->reason, sizeof chart->reason, "normal input was judged at %s",
                 over.count ? "one hidden size only" : "no hidden size");
    else if (!fine || !panels_gather(data, fill_kernel, &over, &panels))
        fine = fail_memory(error, "panels of a chart");
    else
        fine = write_hidden(&over, &panels, directory, chart, error);
    free(over.sizes);
    panels_free(&panels);
    return fine;
}

/* ---- share correctly rounded ---- */

typedef struct rounded {
    size_t kernel;
    double normal, offset; /* shares; NaN: not judged */
} rounded;

/* The share on an input: of several sizes that with most elements. */
static double rounded_on(const report_data *data, const char *kernel, const char *input)
{
    const stored_cases *cases = &data->view->cases;
    uint64_t elements = 0;
    double share = NAN;
    size_t count;
    const size_t *own = report_cases_of(data, kernel, &count);
    for (size_t i = 0; i < count; i++) {
        const stored_case *stored = &cases->cases[own[i]];
        if (!stored->judged || !isfinite(stored->metrics.correctly_rounded) ||
            stored->metrics.elements <= elements || strcmp(stored->key.kernel, kernel) != 0 ||
            !report_of_family(stored->key.input, input) ||
            !report_same_judged(&data->judged, &stored->key))
            continue;
        elements = stored->metrics.elements;
        share = stored->metrics.correctly_rounded;
    }
    return share;
}

static int by_rounded(const void *a, const void *b)
{
    const rounded *left = a, *right = b;
    if (left->normal != right->normal)
        return left->normal < right->normal ? 1 : -1;
    return (left->kernel > right->kernel) - (left->kernel < right->kernel);
}

static void rounded_line(const report_data *data, const rounded *share, size_t place, text *out)
{
    const char *name = data->kernels[share->kernel].name;
    char words[300];
    snprintf(words, sizeof words, "%.*s%s", strlen(name) > LABEL_SHOWN ? LABEL_SHOWN - 3 : 64, name,
             strlen(name) > LABEL_SHOWN ? "..." : "");
    tsv_number(out, (double)share->kernel + 1);
    tsv_text(out, words);
    tsv_number(out, (double)place);
    tsv_number(out, 100 * share->normal);
    tsv_number(out, isfinite(share->offset) ? 100 * share->offset : -1); /* not judged */
    int length =
        snprintf(words, sizeof words, "%s: %.2f %% on normal input", name, 100 * share->normal);
    if (isfinite(share->offset) && length > 0)
        snprintf(words + length, sizeof words - (size_t)length, ", %.2f %% on offset input",
                 100 * share->offset);
    tsv_text(out, words);
    tsv_end(out);
}

static bool write_rounded(const report_data *data, rounded *shares, size_t count,
                          const char *directory, chart *chart, error *error)
{
    text out = {0}, settings = {0};
    double room = 0;
    char subtitle[300];
    qsort(shares, count, sizeof *shares, by_rounded);
    text_add(&out, "series\tkernel\tplace\tnormal\toffset\ttip\n");
    for (size_t i = 0; i < count; i++) {
        rounded_line(data, &shares[i], i + 1, &out);
        room = fmax(room, layout_text_width(data->kernels[shares[i].kernel].name));
    }
    double height = 190 + 22 * (double)count;
    chart_frame frame = {.left = 24 + fmin(room, 6.5 * LABEL_SHOWN),
                         .right = 1000 - 140,
                         .top = 96,
                         .bottom = height - 84,
                         .x_max = 100,
                         .y_min = (double)count + 0.6,
                         .y_max = 0.4};
    snprintf(subtitle, sizeof subtitle,
             "%s, %s; elements that equal the correctly rounded result bit for bit%s",
             dtype_name(data->judged.dtype), data->judged.convention,
             report_is_crowded(data) ? "; the widest ISA of each method" : "");
    tsv_common(&settings, data, chart->title, subtitle, 1000, height);
    tsv_frame(&settings, "", &frame);
    bool fine = tsv_save(&out, directory, chart->stem, ".tsv", error) &&
                tsv_save(&settings, directory, chart->stem, "_settings.tsv", error);
    text_free(&out);
    text_free(&settings);
    return fine;
}

bool chart_rounded(const report_data *data, const char *directory, chart *chart, error *error)
{
    *chart = chart_begin(data, "rounded", "rounded.gp", "Share correctly rounded");
    rounded *shares = calloc(data->kernel_count + 1, sizeof *shares);
    if (!shares)
        return fail_memory(error, "shares correctly rounded");
    size_t count = 0;
    for (size_t i = 0; i < data->kernel_count && data->judged.cases; i++) {
        const char *name = data->kernels[i].name;
        rounded share = {i, rounded_on(data, name, "normal"), rounded_on(data, name, "offset")};
        if (isfinite(share.normal) && data->kernels[i].stands)
            shares[count++] = share;
    }
    bool fine = true;
    if (count == 0)
        snprintf(chart->reason, sizeof chart->reason, "no kernel was judged on normal input");
    else
        fine = write_rounded(data, shares, count, directory, chart, error);
    free(shares);
    return fine;
}

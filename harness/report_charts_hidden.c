/* The charts of row ULP over hidden size, and of the share of elements correctly rounded. */
#include "report_parts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_SHOWN = 44 };

/* ---- error over hidden ---- */

typedef struct hidden_range {
    double x_low, x_high, low, high;
} hidden_range;

/* The worst case of a kernel on normal input at one hidden size; NULL: none was judged there. */
static const stored_case *worst_at(const report_data *data, const char *kernel, size_t hidden)
{
    const stored_cases *cases = &data->view->cases;
    const stored_case *worst = NULL;
    for (size_t i = 0; i < cases->count; i++) {
        const stored_case *stored = &cases->cases[i];
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

static bool kernel_points(const report_data *data, size_t panel, size_t kernel, const size_t *sizes,
                          size_t count, hidden_range *range, text *out)
{
    const char *name = data->kernels[kernel].name;
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        const stored_case *at = worst_at(data, name, sizes[i]);
        char tip[300], error[16], bound[16];
        if (!at)
            continue;
        double row_ulp = at->metrics.row_ulp_max;
        bool proven = isfinite(at->bound_row_ulp) && at->bound_row_ulp > 0;
        snprintf(tip, sizeof tip, "%s at hidden %zu: found %s row ULP, proved %s", name, sizes[i],
                 number_short(row_ulp, error),
                 proven ? number_short(at->bound_row_ulp, bound) : "nothing");
        tsv_number(out, (double)panel + 1);
        tsv_number(out, (double)kernel + 1);
        tsv_text(out, name);
        tsv_number(out, (double)sizes[i]);
        tsv_number(out, row_ulp);
        tsv_number(out, proven ? at->bound_row_ulp : NAN);
        tsv_text(out, tip);
        tsv_end(out);
        range->low = row_ulp > 0 ? fmin(range->low, row_ulp) : range->low;
        range->high = fmax(range->high, proven ? at->bound_row_ulp : row_ulp);
        any = true;
    }
    return any;
}

static size_t fill_panels(const report_data *data, const size_t *sizes, size_t count,
                          const char **titles, hidden_range *range, text *out)
{
    size_t panels = 0;
    text_add(out, "panel\tseries\tkernel\thidden\trow_ulp\tbound_row_ulp\ttip\n");
    for (size_t first = 0; first < data->kernel_count; first++) {
        const char *title = panel_title(&data->kernels[first]);
        bool seen = false, any = false;
        for (size_t i = 0; i < first; i++)
            seen = seen || strcmp(panel_title(&data->kernels[i]), title) == 0;
        for (size_t i = first; i < data->kernel_count && !seen; i++)
            if (strcmp(panel_title(&data->kernels[i]), title) == 0)
                any = kernel_points(data, panels, i, sizes, count, range, out) || any;
        if (any)
            titles[panels++] = title;
    }
    return panels;
}

static bool write_hidden(const report_data *data, const size_t *sizes, size_t count,
                         const char **titles, const char *directory, chart *chart, error *error)
{
    text points = {0}, panel_lines = {0}, ticks = {0}, sizes_text = {0}, settings = {0};
    text layout = {0};
    hidden_range range = {(double)sizes[0], (double)sizes[count - 1], 1, 10};
    double height;
    char subtitle[300];
    size_t panels = fill_panels(data, sizes, count, titles, &range, &points);
    chart_frame frame = {.x_min = range.x_low / 1.3,
                         .x_max = range.x_high * 1.3,
                         .y_min = pow(10, fmax(-4, floor(log10(range.low)))),
                         .y_max = pow(10, ceil(log10(range.high) + 0.2)),
                         .x_log = true,
                         .y_log = true};
    panel_frames(data, titles, panels, 1000, &frame, &height, &layout, &panel_lines);
    snprintf(subtitle, sizeof subtitle,
             "%s, %s, normal input; the worst judged element at each size, and what is proved",
             dtype_name(data->judged.dtype), data->judged.convention);
    tsv_common(&settings, data, chart->title, subtitle, 1000, height);
    tsv_frame(&settings, "", &frame);
    tsv_setting(&settings, "panels", (double)panels);
    text_add(&settings, layout.bytes ? layout.bytes : "");
    settings.failed = settings.failed || layout.failed;
    text_free(&layout);
    text_add(&ticks, "axis\tvalue\n");
    report_hidden_ticks(&frame, sizes, count, &sizes_text);
    tsv_log_ticks(&ticks, "y", frame.y_min, frame.y_max);
    bool fine = tsv_save(&points, directory, chart->stem, ".tsv", error) &&
                tsv_save(&panel_lines, directory, chart->stem, "_panels.tsv", error) &&
                tsv_save(&ticks, directory, chart->stem, "_ticks.tsv", error) &&
                tsv_save(&sizes_text, directory, chart->stem, "_sizes.tsv", error) &&
                tsv_save(&settings, directory, chart->stem, "_settings.tsv", error);
    text_free(&points);
    text_free(&panel_lines);
    text_free(&ticks);
    text_free(&sizes_text);
    text_free(&settings);
    return fine;
}

bool chart_error_hidden(const report_data *data, const char *directory, chart *chart, error *error)
{
    size_t *sizes, count;
    *chart = (struct chart){.stem = "error_hidden", .script = "error_hidden.gp"};
    snprintf(chart->title, sizeof chart->title, "Error over hidden size");
    const char **titles = calloc(data->kernel_count + 1, sizeof *titles);
    bool fine = judged_sizes(data, &sizes, &count) && titles;
    if (!fine)
        fail_memory(error, "panels of a chart");
    else if (count < 2)
        snprintf(chart->reason, sizeof chart->reason, "normal input was judged at %s",
                 count ? "one hidden size only" : "no hidden size");
    else
        fine = write_hidden(data, sizes, count, titles, directory, chart, error);
    free(sizes);
    free(titles);
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
    for (size_t i = 0; i < cases->count; i++) {
        const stored_case *stored = &cases->cases[i];
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
             "%s, %s; the share of elements that equal the correctly rounded result bit for bit",
             dtype_name(data->judged.dtype), data->judged.convention);
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
    *chart = (struct chart){.stem = "rounded", .script = "rounded.gp"};
    snprintf(chart->title, sizeof chart->title, "Share correctly rounded");
    rounded *shares = calloc(data->kernel_count + 1, sizeof *shares);
    if (!shares)
        return fail_memory(error, "shares correctly rounded");
    size_t count = 0;
    for (size_t i = 0; i < data->kernel_count && data->judged.cases; i++) {
        const char *name = data->kernels[i].name;
        rounded share = {i, rounded_on(data, name, "normal"), rounded_on(data, name, "offset")};
        if (isfinite(share.normal))
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

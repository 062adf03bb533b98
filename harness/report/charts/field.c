/* The field: what people write, what lnbench has, and other libraries, at one shape. */
#include "report/charts/chart.h"
#include <math.h>
#include <string.h>

typedef struct field_state {
    const report_data *data;
    chart_output *out;
    size_t place;
    double fastest;
} field_state;

static void add_heading(field_state *field, const char *words)
{
    tsv_row(&field->out->table, "znwwwnnnnnw", ++field->place, 1.0, words, "-", "-", 0.0, 0.0, 0.0,
            0.0, 0.0, "-");
}

static void add_bar(field_state *field, const char *label, const view_case *at)
{
    const report_kernel *kernel = report_kernel_at(field->data, at);
    const speed_figures *speed = &at->speed;
    const error_sum *errors = kernel->standing->errors;
    char buffer[ERROR_WORDS], shown[64], titles[64];
    const char *words =
        view_error_words(field->data->view, &errors[SCOPE_ANY], field->data->judged.dtype, buffer);
    snprintf(shown, sizeof shown, "%s%s",
             strcmp(words, "NaN") == 0 ? "NaN or infinite" : words, /* gnuplot drops a bare NaN */
             isinf(errors[SCOPE_EXTREME].error) ? " *" : "");
    tsv_row(&field->out->table, "znsssnnnnns", ++field->place, 0.0, label, kernel->name,
            report_titles(field->data, at, titles)[0] ? titles : "-", speed->gbps,
            speed->gbps * speed->time_ns / speed->time_hi_ns,
            speed->gbps * speed->time_ns / speed->time_lo_ns,
            isfinite(speed->roof_ratio) ? speed->roof_ratio : 0.0, (double)kernel->class, shown);
    field->fastest = fmax(field->fastest, speed->gbps);
}

/* Whether no kernel of its form is faster. */
static bool is_best_of_form(const report_data *data, const report_kernel *kernel,
                            const view_case *at)
{
    for (size_t i = 0; i < data->kernel_count; i++) {
        const report_kernel *other = &data->kernels[i];
        const view_case *theirs = other->standing->role == ROLE_TEXTBOOK
                                      ? report_case_at(data, other, &data->shape)
                                      : NULL;
        if (theirs && strcmp(other->form, kernel->form) == 0 && view_by_speed(theirs, at) < 0)
            return false;
    }
    return true;
}

/* What people write, in the order of the table: every ISA of the forms that have a name of their
 * own on the other charts, the fastest ISA of the others. */
static void add_textbook(field_state *field)
{
    const report_data *data = field->data;
    bool begun = false;
    for (size_t i = 0; i < data->kernel_count; i++) {
        const report_kernel *kernel = &data->kernels[i];
        const view_case *at = kernel->standing->role == ROLE_TEXTBOOK
                                  ? report_case_at(data, kernel, &data->shape)
                                  : NULL;
        bool named = false;
        for (size_t look = 0; look < data->look_count; look++)
            named = named || strcmp(data->looks[look].label, kernel->form) == 0;
        char titles[64];
        if (!at ||
            (!named && !is_best_of_form(data, kernel, at) && !report_titles(data, at, titles)[0]))
            continue;
        if (!begun)
            add_heading(field, "What people write");
        begun = true;
        add_bar(field, kernel->label, at);
    }
}

/* Kernels of a role, each by its own name: the library's calls, the user's. */
static void add_role(field_state *field, kernel_role role, const char *heading)
{
    enum { KERNELS_MOST = 8 };
    const report_data *data = field->data;
    size_t count = 0;
    for (size_t i = 0; i < data->kernel_count; i++) {
        const view_case *at = data->kernels[i].standing->role == role
                                  ? report_case_at(data, &data->kernels[i], &data->shape)
                                  : NULL;
        char titles[64];
        if (at && count >= KERNELS_MOST && !report_titles(data, at, titles)[0])
            continue;
        if (at && count++ == 0 && heading)
            add_heading(field, heading);
        if (at)
            add_bar(field, data->kernels[i].label, at);
    }
}

/* The fastest of each look of a kind, but of those that stand under a heading of their own. Returns
 * whether there are any. */
static bool add_looks(field_state *field, int first, int last, const char *heading)
{
    const report_data *data = field->data;
    bool begun = false;
    for (size_t i = 0; i < data->look_count; i++) {
        const report_look *look = &data->looks[i];
        bool wanted = (int)look->kind >= first && (int)look->kind <= last;
        const view_case *at = wanted ? report_shown(data, i) : NULL;
        kernel_role role = at ? report_kernel_at(data, at)->standing->role : ROLE_LIBRARY;
        if (role == ROLE_LIBRARY || role == ROLE_TEXTBOOK || role == ROLE_PLUGIN)
            continue;
        if (!begun)
            add_heading(field, heading);
        begun = true;
        add_bar(field, role == ROLE_PEER ? look->label : report_kernel_at(data, at)->label, at);
    }
    return begun;
}

static void draw_field(const report_data *data, chart_output *out)
{
    field_state field = {.data = data, .out = out};
    text_buffer words = {0};
    if (!data->has_shape) {
        chart_because(out, "no speed was measured");
        return;
    }
    tsv_row(&out->table, "wwwwwwwwwww", "place", "heading", "label", "kernel", "inside", "gbps",
            "lo", "hi", "share", "class", "error");
    add_textbook(&field);
    bool begun = add_looks(&field, LOOK_FASTEST, LOOK_ACCURATE, "lnbench");
    add_role(&field, ROLE_LIBRARY, begun ? NULL : "lnbench");
    add_role(&field, ROLE_PLUGIN, "Your plugin");
    add_looks(&field, LOOK_PEER, LOOK_PEER, "Other libraries");
    snprintf(out->title, sizeof out->title,
             "LayerNorm of %zu rows × %zu in %s: how fast, how wrong", data->shape.rows,
             data->shape.hidden, data->shape_regime);
    report_heading_words(data, &words);
    text_add(&words, "; bars: GB/s and share of copy speed.  * also wrong on extremes");
    if (data->shape_roof_name)
        text_format(&words, "; the copy: %s", roof_words(data->shape_roof_name));
    chart_subtitle(out, &words);
    chart_setting(out, "roof", data->shape_roof);
    chart_setting(out, "fastest", field.fastest);
    chart_setting(out, "rough", error_rough_limit(data->judged.dtype));
    if (!field.place)
        chart_because(out, "no kernel that people name was timed");
}

const chart_kind field_chart = {
    "field",
    "How fast, and how wrong",
    "Longer is faster. Blue kernels can be used on any row; orange and red ones lose digits, or "
    "end "
    "in NaN, on some rows, such as those whose mean is far from zero. The number on the right is "
    "the "
    "largest error on all judged rows.",
    "field.gp",
    draw_field,
    chart_both_again,
};

/* The answer: which kernel to take, what it gains, and what is wrong with the others. Every figure is
 * read from the cells that the tables show. */
#include "report/page/page.h"
#include <math.h>
#include <string.h>

static void add_gain(const report_data *data, const view_case *at, text_buffer *out)
{
    bool first = true;
    for (size_t i = 0; i < data->look_count; i++) {
        const report_look *look = &data->looks[i];
        const view_case *peer =
            look->kind == LOOK_PEER ? report_best(data, look, &data->shape) : NULL;
        char plain[PLAIN_LENGTH];
        if (!peer)
            continue;
        text_format(out, "%s**%.1f times** %s%s", first ? ", " : " and ",
                    at->speed.gbps / peer->speed.gbps, first ? "as fast as " : "",
                    document_plain(look->label, plain));
        first = false;
    }
}

static void add_error(const report_data *data, const report_kernel *kernel, text_buffer *out)
{
    const report_error *any = &kernel->errors[SCOPE_ANY];
    char words[96], plain[PLAIN_LENGTH];
    report_error_words(any, data->judged.dtype, words);
    if (!any->cases)
        text_add(out, "; its error was not judged");
    else
        text_format(out, "; at most **%s** row ULP on all %zu judged case%s",
                    document_plain(words, plain), any->cases, any->cases == 1 ? "" : "s");
}

static void add_choice(const report_data *data, const char *before, const view_case *at,
                       document *page)
{
    const report_kernel *kernel = report_kernel_at(data, at);
    text_buffer words = {0};
    char plain[PLAIN_LENGTH];
    text_format(&words, "%s `%s`: **%.3g GB/s**", before, document_plain(kernel->name, plain),
                at->speed.gbps);
    if (isfinite(at->speed.roof_ratio))
        text_format(&words, ", %.0f %% of copy speed", 100 * at->speed.roof_ratio);
    add_gain(data, at, &words);
    add_error(data, kernel, &words);
    document_paragraph(page, TONE_GOOD, "%s.", words.bytes ? words.bytes : "");
    page->failed = page->failed || words.failed;
    text_free(&words);
}

static void add_faster(const report_data *data, const view_case *taken, const view_case *fastest,
                       document *page)
{
    const report_kernel *kernel = report_kernel_at(data, fastest);
    char words[96], plain[PLAIN_LENGTH];
    report_error_words(&kernel->errors[SCOPE_ANY], data->judged.dtype, words);
    document_paragraph(
        page, TONE_NONE, "`%s` is %.2f times faster still, with errors up to **%s** row ULP.",
        document_plain(kernel->name, plain), fastest->speed.gbps / taken->speed.gbps, words);
}

/* The names whose fastest kernel is of a class: "two-pass, Welford and oneDNN 2.6.3". */
static void add_avoid(const report_data *data, error_class class, const char *what, document *page)
{
    text_buffer words = {0};
    size_t count = 0;
    for (size_t i = 0; i < data->look_count; i++) {
        const view_case *at =
            data->has_shape ? report_best(data, &data->looks[i], &data->shape) : NULL;
        char plain[PLAIN_LENGTH];
        if (!at || report_kernel_at(data, at)->class != class)
            continue;
        text_format(&words, "%s**%s**", count++ ? ", " : "",
                    document_plain(data->looks[i].label, plain));
    }
    if (count)
        document_paragraph(page, TONE_FAULT, "%s: %s.", what, words.bytes ? words.bytes : "");
    page->failed = page->failed || words.failed;
    text_free(&words);
}

static void add_faults(const report_data *data, document *page)
{
    enum { NAMED = 4 };
    text_buffer names = {0};
    size_t faults = 0;
    char plain[PLAIN_LENGTH];
    for (size_t i = 0; i < data->kernel_count; i++) {
        const report_kernel *kernel = &data->kernels[i];
        bool fault = kernel->errors[SCOPE_ANY].fault || kernel->errors[SCOPE_EXTREME].fault;
        if (!fault || kernel->role == ROLE_PEER)
            continue;
        if (faults++ < NAMED)
            text_format(&names, "%s`%s`", names.length ? ", " : "",
                        document_plain(kernel->name, plain));
    }
    if (faults)
        document_paragraph(page, TONE_FAULT,
                           "%zu kernel%s what %s: %s%s. [Which, and on what inputs](#wrong)",
                           faults, faults == 1 ? " breaks" : "s break",
                           faults == 1 ? "it promises" : "they promise", names.bytes,
                           faults > NAMED ? ", ..." : "");
    else if (data->judged.cases)
        document_paragraph(
            page, TONE_NONE,
            "No kernel broke what it promises; [what kernels do wrong](#wrong) elsewhere.");
    page->failed = page->failed || names.failed;
    text_free(&names);
}

void page_answer(const page_contents *contents, document *page)
{
    const report_data *data = contents->data;
    const report_look *accurate = report_look_of(data, LOOK_ACCURATE),
                      *any = report_look_of(data, LOOK_FASTEST);
    const view_case *taken =
        accurate && data->has_shape ? report_best(data, accurate, &data->shape) : NULL;
    const view_case *fastest = any && data->has_shape ? report_best(data, any, &data->shape) : NULL;
    document_section(page, "answer", "Which kernel to take");
    if (data->view->run.state != RUN_COMPLETE)
        document_paragraph(
            page, TONE_FAULT,
            "This run is not complete: only what was measured before it ended is shown.");
    if (taken)
        add_choice(data, "Take", taken, page);
    else if (fastest)
        add_choice(data, "The fastest that can be used is", fastest, page);
    else
        document_paragraph(page, TONE_SOFT,
                           data->has_shape ? "No kernel that was timed can be used on every row."
                                           : "No speed was measured in this run.");
    if (taken && fastest && taken != fastest)
        add_faster(data, taken, fastest, page);
    add_avoid(data, ERROR_LOST, "Lose digits where the mean is far from zero", page);
    add_avoid(data, ERROR_NAN, "End in NaN or infinity on some rows", page);
    add_faults(data, page);
    if (data->has_shape)
        document_paragraph(page, TONE_SOFT, "%zu rows × %zu in %s; %s, %s, %s, %u thread%s.",
                           data->shape.rows, data->shape.hidden, data->shape_regime,
                           dtype_name(data->group.dtype), data->group.convention,
                           cache_phrase(data->group.cache), data->group.threads,
                           data->group.threads == 1 ? "" : "s");
    page_figure(contents, "field", page);
}

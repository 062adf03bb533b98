/* The answer, in the terminal's words, then what is wrong with what. */
#include "report/page/page.h"
#include "base/clean.h"
#include "answer/result_table.h"
#include <math.h>
#include <string.h>

/* Kernels' names, which have an underscore, as code. */
static void add_sentence(const char *line, document_tone tone, document *page)
{
    text_buffer out = {0};
    while (*line) {
        size_t length = strcspn(line, " "), name = length;
        while (name > 0 && strchr(",:.;", line[name - 1]))
            name--;
        const char *mark = memchr(line, '_', name) ? "`" : "";
        clean_format(&out, FORM_PAGE, "%-s%.*s%-s%.*s", mark, (int)name, line, mark,
                     (int)(length - name), line + name);
        line += length;
        text_add(&out, *line ? " " : "");
        line += *line != '\0';
    }
    document_paragraph(page, tone, "%-s", out.bytes ? out.bytes : "");
    text_free(&out);
}

/* The names whose fastest kernel ends in NaN: "two-pass, Welford and oneDNN 2.6.3". */
static void add_avoid(const report_data *data, document *page)
{
    text_buffer words = {0};
    size_t count = 0;
    for (size_t i = 0; i < data->best.rows; i++)
        if (table_whole(&data->best, i, "class") == ERROR_NAN)
            clean_format(&words, FORM_PAGE, "%s**%s**", count++ ? ", " : "",
                         table_text(&data->best, i, "name"));
    if (count)
        document_paragraph(
            page, TONE_FAULT,
            "NaN or infinity in place of a number, on rows that are not extreme: %-s.",
            words.bytes ? words.bytes : "");
    text_free(&words);
}

static void add_faults(const report_data *data, document *page)
{
    enum { NAMED = 4 };
    text_buffer names = {0};
    size_t faults = 0;
    for (size_t i = 0; i < data->kernel_count; i++) {
        const report_kernel *kernel = &data->kernels[i];
        if (!kernel->standing->fault || kernel->standing->role == ROLE_PEER)
            continue;
        if (faults++ < NAMED)
            clean_format(&names, FORM_PAGE, "%s`%s`", names.length ? ", " : "", kernel->name);
    }
    if (faults)
        document_paragraph(page, TONE_FAULT,
                           "%zu kernel%s what %s: %-s%s. [Which, and on what inputs](#wrong)",
                           faults, faults == 1 ? " breaks" : "s break",
                           faults == 1 ? "it promises" : "they promise", names.bytes,
                           faults > NAMED ? ", ..." : "");
    else if (table_whole(&data->about, 0, "has_judged"))
        document_paragraph(
            page, TONE_NONE,
            "No kernel broke what it promises; [what kernels do wrong](#wrong) elsewhere.");
    text_free(&names);
}

/* The terminal's line, where speeds are uncertain. */
static void add_noise(const report_data *data, document *page)
{
    text_buffer line = {0};
    result_noise(&data->answer, &line);
    if (line.bytes && line.bytes[0] == '!')
        document_paragraph(page, TONE_FAULT, "%.*s", (int)strcspn(line.bytes + 2, "\n"),
                           line.bytes + 2);
    text_free(&line);
}

/* The first operation's page has the others in folders below it (draw_report()). */
static void add_others(const run_view *view, document *page)
{
    const unsigned own = OPERATION_BIT(view_operation(view)), all = view->others | own;
    for (int kind = 0; kind < OPERATIONS; kind++)
        if (view->others & OPERATION_BIT(kind))
            document_paragraph(page, TONE_SOFT,
                               "The run has %s too, on a page of its own: "
                               "[%s](%-s%-s%-sindex.html). The counts are of both.",
                               operations[kind]->title, operations[kind]->title,
                               all & (own - 1) ? "../" : "",
                               all & (OPERATION_BIT(kind) - 1) ? operations[kind]->name : "",
                               all & (OPERATION_BIT(kind) - 1) ? "/" : "");
}

void page_answer(const page_contents *contents, document *page)
{
    const report_data *data = contents->data;
    text_buffer words = {0};
    document_section(page, "answer", "Which kernel to take");
    view_add_coverage(data->view, &words);
    if (words.length > 0)
        add_sentence(words.bytes, view_is_partial(data->view) ? TONE_FAULT : TONE_SOFT, page);
    text_free(&words);
    add_others(data->view, page);
    answer_sentences(&data->answer, &words);
    /* What is proven, where the kernel to take is not, and that kernel. */
    size_t good = data->answer.take ? 1 + (data->answer.proven != NULL) : 0;
    for (char *line = words.bytes, *end; line && (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        add_sentence(line, good > 0 ? TONE_GOOD : TONE_NONE, page);
        good -= good > 0;
    }
    text_free(&words);
    add_avoid(data, page);
    add_faults(data, page);
    if (data->shape.rows)
        document_paragraph(page, TONE_SOFT, "%s in %s; %s.", table_text(&data->shape, 0, "words"),
                           table_text(&data->shape, 0, "regime"),
                           table_text(&data->about, 0, "words"));
    add_noise(data, page);
    page_figure(contents, "field", page);
}

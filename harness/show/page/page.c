/* The order of the page. */
#include "show/page/page.h"
#include "show/page/document.h"
#include <stdio.h>
#include <string.h>

void page_figure(const page_contents *contents, const char *stem, document *page)
{
    for (size_t i = 0; i < contents->chart_count; i++) {
        const report_chart *chart = &contents->charts[i];
        if (strcmp(chart->stem, stem) != 0)
            continue;
        if (!chart->reason[0])
            document_figure(page, chart);
        else if (!contents->note[0]) {
            document_paragraph(page, TONE_SOFT, "%s Not drawn: %s.", chart->title, chart->reason);
        }
    }
}

static void add_wrongs(const report_data *data, document *page)
{
    document_section(page, "wrong", "What went wrong");
    if (page_wrongs(data, false, page) == 0)
        document_paragraph(
            page, TONE_GOOD,
            table_whole(&data->about, 0, "has_judged")
                ? "No kernel broke its proven bound, gave NaN or infinity where it promises "
                  "a number, crashed, hung or wrote where it must not."
                : "No output was judged in this run.");
    document_fold(page, "Limits: where no kernel of these types can be right");
    if (page_wrongs(data, true, page) == 0)
        document_paragraph(page, TONE_SOFT, "Nothing was found.");
    document_fold_end(page);
}

static void add_details(const page_contents *contents, document *page)
{
    static const char *const shown[] = {"field", "throughput", "speed_error", "error_kappa",
                                        "conventions"};
    document_section(page, "details", "Details");
    document_fold(page, "More charts: which kernel at which size, spread of errors, threads and "
                        "cold caches, other types");
    for (size_t i = 0; i < contents->chart_count; i++) {
        bool was_shown = false;
        for (size_t j = 0; j < sizeof shown / sizeof *shown; j++)
            was_shown = was_shown || strcmp(contents->charts[i].stem, shown[j]) == 0;
        if (!was_shown)
            page_figure(contents, contents->charts[i].stem, page);
    }
    document_fold_end(page);
    document_fold(page, "Every kernel%s%s", contents->data->shape.rows ? " at " : "",
                  table_text(&contents->data->shape, 0, "words"));
    page_kernels_table(contents->data, page);
    document_fold_end(page);
    document_fold(page, "Errors by input: the largest row ULP on each family of rows");
    page_inputs_table(contents->data, page);
    document_fold_end(page);
    document_fold(page, "The worst row of each kernel, and how to run it again");
    page_worst_table(contents->data, page);
    document_fold_end(page);
}

static void add_how_to_read(document *page)
{
    static const char *const terms[][2] = {
        {"GB/s", "bytes of x read and of y written, by the median time of a call"},
        {"% of copy", "time of a plain copy of the same bytes (the fastest of a plain loop, one of "
                      "non-temporal stores and rep movsb, measured in the same minutes) by the "
                      "time of the kernel, "
                      "with its 95 % interval"},
        {"row ULP", "error against the size of what was added up in the row, in units in the last "
                    "place of gamma times the largest element plus beta: 1 is as good as f32 gets"},
        {"ordinary rows", "rows of the family normal: N(0,1)"},
        {"worst error",
         "the largest on any judged row but edge cases (overflow, underflow, NaN, no "
         "eps), which have a column of their own"},
        {"kappa", "condition number of a row, sqrt(mean of x² / variance): 1 for a centred row, "
                  "10 000 for a mean ten thousand times the spread"},
        {"reproducible", "what the bits of a row depend on: `row` the row alone, `isa` not even on "
                         "the instruction set, `run` on more; in brackets: promised, not measured"},
    };
    document_fold(page, "How to read the figures");
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++)
        document_item(page, TONE_NONE, "**%-s**: %-s.", terms[i][0], terms[i][1]);
    document_fold_end(page);
}

static void add_repeat(const report_data *data, document *page)
{
    const stored_run *run = &data->view->run;
    document_section(page, "repeat", "How to repeat it");
    document_code(page, run->command_line);
    text_buffer cases = {0};
    view_add_coverage(data->view, &cases);
    document_paragraph(
        page, TONE_NONE,
        "Seed %llu, plan %s, commit %.12s%s%s. With this seed the inputs and the order of the "
        "measurements are the same: errors agree to the bit, times as far as the machine "
        "does. The page holds the run: `lnbench report --verify index.html` derives the errors "
        "again, wherever it is.",
        (unsigned long long)run->seed, run->plan,
        machine_fact_value(&data->view->machine, "git_commit"), cases.length ? "; cases: " : "",
        cases.length ? cases.bytes : "");
    text_free(&cases);
    document_paragraph(
        page, TONE_NONE,
        "The folder of `--out` has the figures behind each chart, in `data`, and each chart as PNG "
        "and PDF. `lnbench export --run %lld --format tsv` writes every case with all its "
        "figures, `--format db --out run.db` the whole run: each repetition, judged row and "
        "histogram of errors, the worst rows and the machine.",
        (long long)run->id);
    document_fold(page, "The machine and the build");
    page_machine_table(data, page);
    document_fold_end(page);
    add_how_to_read(page);
}

/* "f32, torch, hot cache, 1 thread; AMD EPYC, 2 cores, in a virtual machine; gcc 12.2.0; oneDNN 2.6.3; ..." */
static void add_title(const report_data *data, document *page)
{
    text_buffer words = {0};
    if (data->about.rows)
        text_format(&words, "%s; ", table_text(&data->about, 0, "words"));
    report_machine_words(data->view, &words);
    text_format(&words, "; %s; ", machine_fact_value(&data->view->machine, "compiler"));
    int64_t named = 0;
    for (size_t i = 0; i < data->looks.rows; i++) {
        int64_t look = table_whole(&data->looks, i, "look");
        if (table_whole(&data->looks, i, "kind") == LOOK_PEER && look != named)
            text_format(&words, "%s; ", table_text(&data->looks, i, "name"));
        named = look;
    }
    text_format(&words, "commit %.12s; %.10s; run %lld",
                machine_fact_value(&data->view->machine, "git_commit"), data->view->run.started,
                (long long)data->view->run.id);
    snprintf(page->title, sizeof page->title, "%s: which kernel is fast, which is wrong",
             view_title(data->view));
    snprintf(page->subtitle, sizeof page->subtitle, "%.390s", words.bytes ? words.bytes : "");
    text_free(&words);
}

void page_make(const page_contents *contents, document *page)
{
    const report_data *data = contents->data;
    add_title(data, page);
    page_answer(contents, page);
    if (contents->note[0])
        document_paragraph(page, TONE_FAULT, "Charts are missing: %s.", contents->note);
    document_section(page, "names", "The kernels by name");
    page_names_table(data, page);
    document_section(page, "speed", "Speed");
    page_figure(contents, "throughput", page);
    document_section(page, "accuracy", "Speed and accuracy");
    page_figure(contents, "speed_error", page);
    if (operation_has(operations[view_operation(data->view)], ROLE_MEAN))
        page_figure(contents, "error_kappa", page);
    if (view_operation(data->view) == LN_OPERATION_LAYERNORM) {
        document_section(page, "conventions-section", "Conventions");
        page_figure(contents, "conventions", page);
    }
    add_wrongs(data, page);
    add_details(contents, page);
    add_repeat(data, page);
}

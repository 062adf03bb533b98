#include "report/report.h"
#include "base/files.h"
#include "base/paths.h"
#include "report/page/page.h"
#include <string.h>

enum { TYPES = 4, CHARTS_MOST = 40 };

/* The data of each type of the run, the report's own first, and all charts. */
typedef struct report_state {
    report_data data[TYPES];
    size_t type_count;
    report_chart charts[CHARTS_MOST];
    size_t chart_count;
} report_state;

static bool prepare(const run_view *view, const char *directory, report_state *state, error *err)
{
    report_data_make(view, NULL, &state->data[0]);
    state->type_count = 1;
    if (!charts_prepare(&state->data[0], directory, state->charts, &state->chart_count, err))
        return false;
    for (ln_type type = LN_F32; type <= LN_F16; type++) {
        report_data *data = &state->data[state->type_count];
        if (type == state->data[0].judged.dtype || state->type_count == TYPES)
            continue;
        report_data_make(view, &type, data);
        state->type_count++;
        if ((data->judged.cases || data->group.cases) &&
            !charts_prepare(data, directory, state->charts, &state->chart_count, err))
            return false;
    }
    return true;
}

static bool draw(report_state *state, const char *plots_directory, const char *directory,
                 report_result *result, error *err)
{
    size_t wanted = 0;
    for (size_t i = 0; i < state->chart_count; i++)
        wanted += !state->charts[i].reason[0];
    size_t drawn = charts_draw(state->charts, state->chart_count, plots_directory, directory, err);
    if (err->code)
        return false;
    for (size_t i = 0; i < state->chart_count; i++) {
        const report_chart *chart = &state->charts[i];
        if (!chart->reason[0])
            report_path(result->charts[result->chart_count++], directory, chart->stem, ".svg",
                        NULL);
        else if (drawn < wanted && strncmp(chart->reason, "gnuplot", 7) == 0 && !result->note[0])
            snprintf(result->note, sizeof result->note, "%s", chart->reason);
    }
    result->charts_drawn = drawn == wanted;
    if (wanted == 0)
        snprintf(result->note, sizeof result->note,
                 "the run has neither speeds nor judged rows to draw");
    return true;
}

static bool write_html(const document *page, const char *plots_directory, const char *directory,
                       bool on_paper, const char *path, error *err)
{
    text_buffer html = {0};
    bool fine = document_html(page, plots_directory, directory, on_paper, &html, err) &&
                write_whole_file(path, &html, err);
    text_free(&html);
    return fine;
}

static bool write_markdown(const document *page, const char *path, error *err)
{
    text_buffer markdown = {0};
    document_markdown(page, &markdown);
    bool fine = write_whole_file(path, &markdown, err);
    text_free(&markdown);
    return fine;
}

static bool write_pages(const report_state *state, const char *plots_directory,
                        const char *directory, bool with_pdf, report_result *result, error *err)
{
    const page_contents contents = {&state->data[0], state->charts, state->chart_count,
                                    result->note};
    document page = {0};
    char print[512];
    page_make(&contents, &page);
    bool fine = report_path(result->index_html, directory, "index", ".html", err) &&
                report_path(result->markdown, directory, "report", ".md", err) &&
                report_path(print, directory, "data/print", ".html", err) &&
                write_html(&page, plots_directory, directory, false, result->index_html, err) &&
                write_markdown(&page, result->markdown, err) &&
                (!with_pdf || write_html(&page, plots_directory, directory, true, print, err));
    if (fine && with_pdf && !document_pdf(directory, result->pdf, result->pdf_note))
        result->pdf[0] = '\0';
    document_free(&page);
    return fine;
}

bool report_write(const run_view *view, const char *plots_directory, const char *directory,
                  bool with_pdf, report_result *result, error *err)
{
    report_state state = {.type_count = 0};
    char data[512];
    *result = (report_result){0};
    bool fine = report_path(data, directory, "data", "", err) && make_directories(data, err) &&
                view_write_tsv(view, directory, err) && prepare(view, directory, &state, err) &&
                draw(&state, plots_directory, directory, result, err) &&
                write_pages(&state, plots_directory, directory, with_pdf, result, err);
    for (size_t i = 0; i < state.type_count; i++)
        report_data_free(&state.data[i]);
    return fine;
}

bool draw_report(const run_view *view, const char *directory, bool with_pdf, FILE *file, error *err)
{
    char plots[1024];
    report_result result;
    if (!path_of_plots(plots, sizeof plots, err) ||
        !report_write(view, plots, directory, with_pdf, &result, err))
        return false;
    if (result.note[0])
        fprintf(stderr, "lnbench: %s\n", result.note);
    if (result.pdf_note[0])
        fprintf(stderr, "lnbench: %s\n", result.pdf_note);
    fprintf(file, "report  %s (%zu charts; %s%s%s)\n", result.index_html, result.chart_count,
            result.markdown, result.pdf[0] ? ", " : "", result.pdf);
    return true;
}

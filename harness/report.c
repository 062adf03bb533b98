#include "report_parts.h"
#include "views_tsv.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHARTS_MOST = 16 };

static bool make_directory(const char *path, error *error)
{
    struct stat facts;
    if (mkdir(path, 0777) == 0)
        return true;
    if (errno == EEXIST && stat(path, &facts) == 0 && S_ISDIR(facts.st_mode))
        return true;
    int why = errno == EEXIST ? ENOTDIR : errno;
    return fail(error, EXIT_CODE_ENVIRONMENT, "%s: cannot be made a directory for the report: %s",
                path, strerror(why));
}

/* Every part of the path, then the place of the charts' TSV. */
static bool make_directories(const char *directory, error *error)
{
    char path[512];
    if (!report_path(path, directory, "data", "", error))
        return false;
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (!make_directory(path, error))
            return false;
        *slash = '/';
    }
    return make_directory(path, error);
}

/* Writes the TSV of every chart; a chart without data has its reason. */
static bool prepare_charts(const report_data *data, const char *directory, chart *charts,
                           size_t *count, error *error)
{
    *count = 0;
    if (!chart_series(data, directory, error))
        return false;
    bool any_speed = false;
    for (size_t i = 0; i < REGIME_COUNT; i++) {
        chart *made = &charts[*count];
        if (!chart_throughput(data, report_regimes[i], directory, made, error))
            return false;
        if (!made->reason[0]) {
            any_speed = true;
            ++*count;
        }
    }
    if (!any_speed) {
        charts[*count] = (chart){.stem = "throughput", .title = "Throughput over hidden size"};
        snprintf(charts[*count].reason, REASON_LENGTH, "no speed was measured");
        ++*count;
    }
    return chart_roof_share(data, directory, &charts[(*count)++], error) &&
           chart_winner_map(data, directory, &charts[(*count)++], error) &&
           chart_error_kappa(data, directory, &charts[(*count)++], error) &&
           chart_error_hidden(data, directory, &charts[(*count)++], error) &&
           chart_rounded(data, directory, &charts[(*count)++], error) &&
           chart_speed_error(data, directory, &charts[(*count)++], error);
}

static void remove_old(const char *directory, const char *stem)
{
    static const char *const formats[] = {".svg", ".png", ".pdf"};
    char path[512];
    for (size_t i = 0; i < 3; i++)
        if (report_path(path, directory, stem, formats[i], NULL))
            unlink(path);
}

/* A report written over an older one must not show the older one's charts. */
static void remove_old_charts(const char *directory)
{
    static const char *const stems[] = {
        "throughput_l1", "throughput_l2", "throughput_l3", "throughput_dram", "roof_share",
        "error_kappa",   "speed_error",   "winner_map",    "error_hidden",    "rounded"};
    for (size_t i = 0; i < sizeof stems / sizeof *stems; i++)
        remove_old(directory, stems[i]);
}

static gnuplot_result draw_chart(chart *chart, const char *plots_directory, const char *directory,
                                 report_result *result)
{
    char note[256] = "";
    gnuplot_result drawn = gnuplot_draw(chart, "svg", plots_directory, directory, note);
    if (drawn == GNUPLOT_DREW)
        drawn = gnuplot_draw(chart, "png", plots_directory, directory, note);
    if (drawn == GNUPLOT_DREW)
        drawn = gnuplot_draw(chart, "pdf", plots_directory, directory, note);
    if (drawn != GNUPLOT_DREW) {
        remove_old(directory, chart->stem);
        snprintf(chart->reason, sizeof chart->reason, "%.*s", REASON_LENGTH - 1, note);
        if (!result->note[0])
            snprintf(result->note, sizeof result->note, "%s", note);
        return drawn;
    }
    report_path(result->charts[result->chart_count++], directory, chart->stem, ".svg", NULL);
    return drawn;
}

static void draw_charts(chart *charts, size_t count, const char *plots_directory,
                        const char *directory, report_result *result)
{
    bool missing = false, failed = false;
    size_t wanted = 0;
    remove_old_charts(directory);
    for (size_t i = 0; i < count; i++) {
        if (charts[i].reason[0])
            continue;
        wanted++;
        if (missing) {
            snprintf(charts[i].reason, REASON_LENGTH, "%.*s", REASON_LENGTH - 1, result->note);
            continue;
        }
        gnuplot_result drawn = draw_chart(&charts[i], plots_directory, directory, result);
        missing = drawn == GNUPLOT_MISSING;
        failed = failed || drawn == GNUPLOT_FAILED;
    }
    result->charts_drawn = !missing && !failed;
    if (wanted == 0)
        snprintf(result->note, sizeof result->note,
                 "the run has neither speeds nor judged rows to draw");
}

static bool write_page(const report_data *data, const chart *charts, size_t count,
                       const char *directory, report_result *result, error *error)
{
    text page = {0}, markdown = {0};
    bool fine = report_path(result->index_html, directory, "index", ".html", error) &&
                report_path(result->markdown, directory, "report", ".md", error) &&
                html_page(data, charts, count, directory, result, false, &page, error) &&
                write_whole_file(result->index_html, &page, error) &&
                report_markdown(page.bytes, &markdown, error) &&
                write_whole_file(result->markdown, &markdown, error);
    text_free(&page);
    text_free(&markdown);
    return fine;
}

/* On paper nothing can be downloaded: the same page without the data. */
static bool write_pdf(const report_data *data, const chart *charts, size_t count,
                      const char *directory, report_result *result, error *error)
{
    text page = {0};
    char path[512];
    bool fine = report_path(path, directory, "data/print", ".html", error) &&
                html_page(data, charts, count, directory, result, true, &page, error) &&
                write_whole_file(path, &page, error);
    text_free(&page);
    if (fine && !report_pdf(directory, result->pdf, result->pdf_note))
        result->pdf[0] = '\0';
    return fine;
}

bool report_write(const view *view, const char *plots_directory, const char *directory,
                  bool with_pdf, report_result *result, error *error)
{
    report_data data;
    chart charts[CHARTS_MOST] = {0};
    size_t count = 0;
    *result = (report_result){0};
    if (!report_data_make(view, &data, error))
        return false;
    bool fine = make_directories(directory, error) && view_write_tsv(view, directory, error) &&
                prepare_charts(&data, directory, charts, &count, error);
    if (fine) {
        draw_charts(charts, count, plots_directory, directory, result);
        fine = write_page(&data, charts, count, directory, result, error) &&
               (!with_pdf || write_pdf(&data, charts, count, directory, result, error));
    }
    report_data_free(&data);
    return fine;
}

#include "report_parts.h"
#include "views_tsv.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHARTS_MOST = 64 };

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

chart chart_begin(const report_data *data, const char *kind, const char *script, const char *title)
{
    chart chart = {.is_other_type = data->is_other_type, .type = data->judged.dtype};
    const char *type = data->is_other_type ? dtype_name(data->judged.dtype) : "";
    snprintf(chart.kind, sizeof chart.kind, "%s", kind);
    snprintf(chart.stem, sizeof chart.stem, "%s%s%s", kind, type[0] ? "_" : "", type);
    snprintf(chart.script, sizeof chart.script, "%s", script);
    snprintf(chart.title, sizeof chart.title, "%s%s%s", title, type[0] ? ", " : "", type);
    return chart;
}

/* Every chart, in the order of the page. */
typedef struct drawing {
    bool (*make)(const report_data *, const char *, chart *, error *); /* NULL: throughput */
    const char *regime;
} drawing;

static const drawing drawings[] = {
    {NULL, "L1"},
    {NULL, "L2"},
    {NULL, "L3"},
    {NULL, "DRAM"},
    {chart_throughput_size, NULL},
    {chart_roof_share, NULL},
    {chart_winner_map, NULL},
    {chart_threads, NULL},
    {chart_hot_cold, NULL},
    {chart_error_kappa, NULL},
    {chart_variance_kappa, NULL},
    {chart_error_hidden, NULL},
    {chart_ulp_histogram, NULL},
    {chart_rounded, NULL},
    {chart_speed_error, NULL},
};
enum { DRAWINGS = sizeof drawings / sizeof *drawings };

static bool make_chart(const drawing *drawing, const report_data *data, const char *directory,
                       chart *chart, error *error)
{
    return drawing->regime ? chart_throughput(data, drawing->regime, directory, chart, error)
                           : drawing->make(data, directory, chart, error);
}

/* One kind of chart: of the report's type first, then of each other that has the data. */
static bool prepare_kind(const report_data *data, const drawing *drawing, const char *directory,
                         chart *charts, size_t *count, error *error)
{
    if (!make_chart(drawing, data, directory, &charts[*count], error))
        return false;
    /* One line for all regimes where nothing was timed, none where another regime was. */
    *count += !drawing->regime || !charts[*count].reason[0];
    for (ln_type type = LN_F32; type <= LN_F16; type++) {
        report_data typed;
        chart *made = &charts[*count];
        if (type == data->judged.dtype || !report_data_of_type(data, type, &typed))
            continue;
        if (!make_chart(drawing, &typed, directory, made, error))
            return false;
        *count += !made->reason[0];
    }
    return true;
}

/* Writes the TSV of every chart; a chart without data has its reason. */
static bool prepare_charts(const report_data *data, const char *directory, chart *charts,
                           size_t *count, error *error)
{
    *count = 0;
    if (!chart_series(data, directory, error))
        return false;
    for (size_t i = 0; i < DRAWINGS; i++) {
        if (!drawings[i].regime && *count == 0) {
            charts[*count] = (chart){.stem = "throughput", .title = "Throughput over hidden size"};
            snprintf(charts[*count].reason, REASON_LENGTH, "no speed was measured");
            ++*count;
        }
        if (!prepare_kind(data, &drawings[i], directory, charts, count, error))
            return false;
    }
    return true;
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
    static const char *const kinds[] = {
        "throughput_l1",  "throughput_l2", "throughput_l3", "throughput_dram", "throughput_size",
        "roof_share",     "winner_map",    "threads",       "hot_cold",        "error_kappa",
        "variance_kappa", "error_hidden",  "ulp_histogram", "rounded",         "speed_error"};
    _Static_assert(sizeof kinds / sizeof *kinds == DRAWINGS, "a kind of chart is not removed");
    for (size_t i = 0; i < DRAWINGS; i++) {
        char stem[STEM_LENGTH];
        remove_old(directory, kinds[i]);
        for (ln_type type = LN_F32; type <= LN_F16; type++) {
            snprintf(stem, sizeof stem, "%s_%s", kinds[i], dtype_name(type));
            remove_old(directory, stem);
        }
    }
}

enum { FORMATS = 3, JOBS_MOST = CHARTS_MOST * FORMATS };

/* As many drawings at once as there are processors, begun in order. Where gnuplot is missing, the
 * rest is not tried. */
static void run_jobs(gnuplot_job *jobs, size_t count, const char *plots_directory,
                     const char *directory)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t at_once = processors < 1 ? 1 : processors < 8 ? (size_t)processors : 8, begun = 0;
    const gnuplot_job *missing = NULL;
    for (size_t ended = 0; ended < count; ended++) {
        while (!missing && begun < count && begun < ended + at_once)
            gnuplot_start(&jobs[begun++], plots_directory, directory);
        if (ended < begun)
            gnuplot_end(&jobs[ended], directory);
        if (missing) {
            jobs[ended].result = GNUPLOT_MISSING;
            memcpy(jobs[ended].note, missing->note, sizeof missing->note);
        } else if (jobs[ended].result == GNUPLOT_MISSING) {
            missing = &jobs[ended];
        }
    }
}

/* A chart is there when all of its formats are; else its reason says what went wrong. */
static void conclude_chart(chart *chart, const gnuplot_job jobs[FORMATS], const char *directory,
                           report_result *result)
{
    for (size_t i = 0; i < FORMATS; i++) {
        if (jobs[i].result == GNUPLOT_DREW)
            continue;
        remove_old(directory, chart->stem);
        snprintf(chart->reason, sizeof chart->reason, "%.*s", REASON_LENGTH - 1, jobs[i].note);
        if (!result->note[0])
            snprintf(result->note, sizeof result->note, "%s", jobs[i].note);
        result->charts_drawn = false;
        return;
    }
    report_path(result->charts[result->chart_count++], directory, chart->stem, ".svg", NULL);
}

static bool draw_charts(chart *charts, size_t count, const char *plots_directory,
                        const char *directory, report_result *result, error *error)
{
    static const char *const formats[FORMATS] = {"svg", "png", "pdf"};
    gnuplot_job *jobs = calloc(JOBS_MOST, sizeof *jobs);
    size_t wanted = 0;
    if (!jobs)
        return fail_memory(error, "charts");
    remove_old_charts(directory);
    for (size_t i = 0; i < count; i++)
        for (size_t f = 0; f < FORMATS && !charts[i].reason[0]; f++)
            jobs[wanted++] =
                (gnuplot_job){.chart = &charts[i], .format = formats[f], .result = GNUPLOT_FAILED};
    result->charts_drawn = true;
    run_jobs(jobs, wanted, plots_directory, directory);
    for (size_t i = 0; i < wanted; i += FORMATS)
        conclude_chart(&charts[jobs[i].chart - charts], &jobs[i], directory, result);
    free(jobs);
    if (wanted == 0)
        snprintf(result->note, sizeof result->note,
                 "the run has neither speeds nor judged rows to draw");
    return true;
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
        fine = draw_charts(charts, count, plots_directory, directory, result, error) &&
               write_page(&data, charts, count, directory, result, error) &&
               (!with_pdf || write_pdf(&data, charts, count, directory, result, error));
    }
    report_data_free(&data);
    return fine;
}

/* Writes the tables of charts and runs gnuplot on them. */
#include "base/program.h"
#include "show/charts/chart.h"
#include "base/text.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One of several drawings in progress. The caller owns the strings. */
typedef struct gnuplot_job {
    const char *stem, *script, *format; /* script: without .gp */
    const char *folder;                 /* has data/STEM*.tsv; receives STEM.FORMAT */
    char note[256];                     /* one line that says why it failed, or "" */
    program_result result;
    bool begun;         /* gnuplot was started */
    whole_file drawing; /* gnuplot writes `part`, which is renamed when it is complete */
    const char *part;
    const char *arguments[8];
    program run;
} gnuplot_job;

void report_path(char path[512], const char *directory, const char *name, const char *suffix)
{
    int length = snprintf(path, 512, "%s/%s%s", directory, name, suffix);
    if (length < 0 || length >= 512)
        die(EXIT_CODE_ENVIRONMENT, "%.200s...: the path of a report must be shorter than 500 bytes",
            directory);
}

/* ---- the tables of a chart ---- */

/* Adds a cell: "NaN" for a number that is not finite; a text without the syntax of gnuplot, TSV and XML. */
static void add_cell(const stored_cell *cell, text_buffer *out)
{
    if (cell->kind == CELL_TEXT)
        clean_add(out, FORM_GNUPLOT, cell->text);
    else if (!isfinite(cell->real))
        text_add(out, "NaN");
    else if (cell->real == rint(cell->real) && fabs(cell->real) < 1e15)
        text_format(out, "%.0f", cell->real); /* 40, not 4e+01 */
    else
        text_number(out, cell->real);
}

/* Writes the table chart as data/STEM.tsv, or chart_more as data/STEM_more.tsv. */
static void save_table(const stored_table *table, const char *name, const report_chart *chart,
                       const char *directory)
{
    char file[64 + STEM_LENGTH], path[512];
    text_buffer out = {0};
    for (size_t i = 0; i < table->columns; i++)
        text_format(&out, "%s%s", i ? "\t" : "", table->names[i]);
    text_add(&out, "\n");
    for (size_t i = 0; i < table->rows * table->columns; i++) {
        add_cell(&table->cells[i], &out);
        text_add(&out, (i + 1) % table->columns ? "\t" : "\n");
    }
    snprintf(file, sizeof file, "data/%s%.40s", chart->stem, name + strlen("chart"));
    report_path(path, directory, file, ".tsv");
    write_whole_file(path, &out);
    text_free(&out);
}

void chart_prepare(result_store *store, const chart_kind *kind, const char *mark,
                   const char *footer, const char *directory, report_chart *chart)
{
    *chart = (report_chart){.kind = kind};
    snprintf(chart->stem, sizeof chart->stem, "%s%s%s", kind->stem, mark[0] ? "_" : "", mark);
    snprintf(chart->title, sizeof chart->title, "%s", kind->title);
    store_scratch_begin(store);
    store_script(store, kind->sql);
    /* Read the settings that the chart shows outside its axes, unless there is nothing to draw. */
    stored_table own = store_ask(
        store,
        "SELECT coalesce((SELECT text FROM chart_settings WHERE key = 'title'), ?1) AS title, "
        "coalesce((SELECT text FROM chart_settings WHERE key = 'footer'), ?2) AS footer, "
        "(SELECT text FROM chart_settings WHERE key = 'again') AS again FROM chart LIMIT 1",
        "ss", kind->title, footer);
    stored_table names = store_ask(store,
                                   "SELECT name FROM sqlite_temp_schema WHERE type = 'table' AND "
                                   "name GLOB 'chart*'",
                                   "");
    if (own.rows == 0) {
        snprintf(chart->reason, sizeof chart->reason, "%s", kind->needs);
    } else {
        snprintf(chart->title, sizeof chart->title, "%s%s%s", table_text(&own, 0, "title"),
                 mark[0] && kind->of_report ? ", " : "", kind->of_report ? mark : "");
        text_copy(chart->footer, sizeof chart->footer, table_text(&own, 0, "footer"));
        text_copy(chart->again, sizeof chart->again, table_text(&own, 0, "again"));
    }
    for (size_t i = 0; i < names.rows && own.rows > 0; i++) {
        const char *name = table_text(&names, i, "name");
        stored_table table =
            strcmp(name, "chart_settings") != 0
                ? store_get_table(store, name)
                : store_ask(store,
                            "SELECT 'title' AS key, 0 AS number, ?1 AS text UNION ALL "
                            "SELECT 'footer', 0, ?2 UNION ALL SELECT * FROM chart_settings "
                            "WHERE key NOT IN ('title', 'footer', 'again')",
                            "ss", chart->title, chart->footer);
        save_table(&table, name, chart, directory);
        stored_table_free(&table);
    }
    stored_table_free(&own);
    stored_table_free(&names);
    store_scratch_end(store);
}

/* ---- drawing ---- */

/* A limit for one drawing, which usually takes half a second. */
static const double most_seconds = 60;

/* Replaces gnuplot's tooltips, which are event handlers of a script to download, by <title> elements: lines of a
 * drawing with a handler become "<g><title>TEXT</title>". */
static void title_tips(const char *path)
{
    static const char mark[] = "<g onmousemove=\"gnuplot_svg.showHypertext(evt,'";
    static const char end[] = "')\" onmouseout=\"gnuplot_svg.hideHypertext()\"><title> </title>";
    FILE *file = fopen(path, "r");
    text_buffer out = {0};
    char *line = NULL;
    size_t size = 0;
    while (file && getline(&line, &size, file) >= 0) {
        char *tip = strstr(line, mark), *after = tip ? strstr(tip, end) : NULL;
        if (after) {
            text_add_bytes(&out, line, (size_t)(tip - line));
            text_format(&out, "<g><title>%.*s</title>%s",
                        (int)(after - tip - (long)sizeof mark + 1), tip + sizeof mark - 1,
                        after + sizeof end - 1);
        } else {
            text_add(&out, line);
        }
    }
    if (!file || ferror(file))
        die(EXIT_CODE_ENVIRONMENT, "%s: cannot read it: %s", path, strerror(errno));
    fclose(file);
    write_whole_file(path, &out);
    free(line);
    text_free(&out);
}

/* Returns whether the file ends as its format requires. */
static bool is_whole(const char *path, const char *format)
{
    char tail[32];
    FILE *file = fopen(path, "rb");
    const char *end = format[0] == 's' ? "</svg>" : format[1] == 'n' ? "IEND" : "%%EOF";
    size_t length = 0;
    if (file && fseek(file, -(long)sizeof tail, SEEK_END) == 0)
        length = fread(tail, 1, sizeof tail, file);
    if (file)
        fclose(file);
    return memmem(tail, length, end, strlen(end));
}

/* Starts gnuplot. Names are passed as arguments and TSV, never as script text; -d ignores start-up files. */
static void gnuplot_start(gnuplot_job *job, arena *memory)
{
    char plots[1024];
    own_path(OWN_PLOTS, plots, sizeof plots);
    const char *named = arena_format(memory, "%s/%s.gp", plots, job->script);
    char *path = realpath(named, NULL); /* gnuplot runs in the folder */
    job->result = PROGRAM_FAILED;
    if (!path) {
        snprintf(job->note, sizeof job->note, "gnuplot's script %.180s: %s", named,
                 strerror(errno));
        return;
    }
    const char *script = arena_format(memory, "%s", path);
    free(path);
    const char *drawing = arena_format(memory, "%s/%s.%s", job->folder, job->stem, job->format);
    whole_file_begin(&job->drawing, drawing);
    job->begun = true;
    job->part = job->drawing.part ? job->drawing.part : drawing;
    const char *const arguments[] = {
        "gnuplot", "-d", "-c", script, job->stem, job->format, strrchr(job->part, '/') + 1, NULL};
    memcpy(job->arguments, arguments, sizeof arguments);
    job->run =
        (program){.arguments = job->arguments, .folder = job->folder, .seconds = most_seconds};
    program_start(&job->run);
}

/* Waits for gnuplot. A complete drawing gets its name; otherwise all of it is removed. */
static program_result gnuplot_end(gnuplot_job *job)
{
    if (!job->begun)
        return job->result;
    job->result = program_end(&job->run);
    if (job->result == PROGRAM_DONE && !is_whole(job->part, job->format)) {
        job->result = PROGRAM_FAILED;
        snprintf(job->run.words, sizeof job->run.words, "it wrote an incomplete drawing");
    }
    if (job->result == PROGRAM_DONE) {
        if (strcmp(job->format, "svg") == 0)
            title_tips(job->part);
        whole_file_end(&job->drawing);
    } else {
        whole_file_drop(&job->drawing);
    }
    if (job->result == PROGRAM_ABSENT)
        snprintf(job->note, sizeof job->note,
                 "gnuplot was not found: install it (Debian: gnuplot-nox)");
    else if (job->result != PROGRAM_DONE)
        snprintf(job->note, sizeof job->note, "gnuplot failed on %s.%s: %.190s", job->stem,
                 job->format, job->run.words);
    return job->result;
}

enum { FORMATS = 3 };
static const char *const formats[FORMATS] = {".svg", ".png", ".pdf"};

/* Runs as many drawings at a time as there are processors, in order. If gnuplot is missing or hangs, the remaining
 * drawings are not tried. */
static void run_jobs(gnuplot_job *jobs, size_t count, arena *memory)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t at_once = processors < 1 ? 1 : processors < 8 ? (size_t)processors : 8, begun = 0;
    const gnuplot_job *last = NULL;
    for (size_t ended = 0; ended < count; ended++) {
        while (!last && begun < count && begun < ended + at_once)
            gnuplot_start(&jobs[begun++], memory);
        if (ended < begun) {
            gnuplot_end(&jobs[ended]);
        } else if (last) {
            jobs[ended].result = last->result;
            memcpy(jobs[ended].note, last->note, sizeof last->note);
        }
        if (!last && (jobs[ended].result == PROGRAM_ABSENT || jobs[ended].result == PROGRAM_LATE))
            last = &jobs[ended];
    }
}

/* Draws the first `format_count` formats of each chart; a chart without one of them gets a reason. */
static void draw_formats(report_chart *charts, size_t count, size_t format_count,
                         const char *folder)
{
    arena memory = {0};
    gnuplot_job *jobs = arena_new(&memory, gnuplot_job, count * format_count);
    size_t wanted = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t f = 0; f < format_count && !charts[i].reason[0]; f++)
            jobs[wanted++] = (gnuplot_job){.stem = charts[i].stem,
                                           .script = charts[i].kind->stem,
                                           .format = formats[f] + 1,
                                           .folder = folder};
    run_jobs(jobs, wanted, &memory);
    for (size_t i = 0, job = 0; i < count; i++) {
        report_chart *chart = &charts[i];
        const size_t end = job + (chart->reason[0] ? 0 : format_count);
        for (; job < end; job++)
            if (jobs[job].result != PROGRAM_DONE && !chart->reason[0]) {
                chart->lost = jobs[job].result != PROGRAM_ABSENT;
                text_copy(chart->reason, sizeof chart->reason, jobs[job].note);
            }
    }
    arena_free(&memory);
}

void charts_draw(report_chart *charts, size_t count, const char *folder)
{
    draw_formats(charts, count, FORMATS, folder);
    if (interrupted())
        die(EXIT_CODE_INTERRUPTED, "interrupted: lnbench report draws what is stored");
    /* Remove the drawings of an earlier report, and what failed drawings left. */
    for (size_t i = 0; i < chart_count; i++)
        for (int type = LN_F32 - 1; type <= LN_F16; type++) {
            char stem[STEM_LENGTH], path[512];
            bool drawn = false;
            snprintf(stem, sizeof stem, "%s%s%s", chart_list[i].stem, type < LN_F32 ? "" : "_",
                     type < LN_F32 ? "" : dtype_name((ln_type)type));
            for (size_t k = 0; k < count; k++)
                drawn = drawn || (!charts[k].reason[0] && strcmp(charts[k].stem, stem) == 0);
            for (size_t f = 0; f < FORMATS && !drawn; f++) {
                report_path(path, folder, stem, formats[f]);
                unlink(path);
            }
        }
}

enum { ALONE = 2 }; /* the number of formats */

static const chart_kind *kind_named(const char *name)
{
    for (size_t i = 0; i < chart_count; i++)
        if (strcmp(chart_list[i].stem, name) == 0)
            return &chart_list[i];
    die(EXIT_CODE_ENVIRONMENT, "%s: no such chart", name);
}

void charts_draw_alone(result_store *store, const char *name, size_t count, const char *each,
                       const char *directory, const output_file *out)
{
    const chart_kind *kind = kind_named(name);
    report_chart *charts = allocate_zeroed(count, sizeof *charts);
    char mark[24], path[512];
    report_path(path, directory, "data", "");
    make_directories(path);
    for (size_t i = 0; i < count; i++) {
        snprintf(mark, sizeof mark, "%zu", i + 1);
        stored_table none = store_ask(store, each, "i", (int64_t)(i + 1));
        stored_table_free(&none);
        chart_prepare(store, kind, mark, "", directory, &charts[i]);
        if (charts[i].reason[0])
            die(EXIT_CODE_ENVIRONMENT, "%s", charts[i].reason);
        for (size_t f = 0; f < ALONE; f++) { /* remove those of earlier tables */
            report_path(path, directory, charts[i].stem, formats[f]);
            unlink(path);
        }
    }
    draw_formats(charts, count, ALONE, directory);
    for (size_t i = 0; i < count; i++)
        for (size_t f = 0; f < ALONE && !charts[i].reason[0]; f++) {
            report_path(path, directory, charts[i].stem, formats[f]);
            output_aside(out, "chart   %s", path);
        }
    for (size_t i = 0; i < count; i++)
        if (charts[i].lost)
            die(interrupted() ? EXIT_CODE_INTERRUPTED : EXIT_CODE_ENVIRONMENT,
                "no chart %s: %s (the tables are in %s/data)", charts[i].stem, charts[i].reason,
                directory);
    if (charts[0].reason[0])
        output_note("no chart: %s (the tables are in %s/data)", charts[0].reason, directory);
    free(charts);
}

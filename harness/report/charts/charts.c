/* How each chart gets its tables and drawings. */
#include "base/interrupt.h"
#include "base/allocate.h"
#include "report/charts/chart.h"
#include <string.h>
#include <unistd.h>

static void add_cell(const stored_cell *cell, text_buffer *out)
{
    if (cell->kind == CELL_TEXT)
        tsv_add_text(out, cell->text);
    else
        tsv_add_number(out, cell->real);
}

/* Keys that have a place of their own. */
static bool is_ours(const stored_table *settings, size_t row, report_chart *chart)
{
    const struct {
        const char *key;
        char *place;
        size_t size;
    } ours[] = {{"title", chart->title, sizeof chart->title},
                {"footer", chart->footer, sizeof chart->footer},
                {"again", chart->again, sizeof chart->again}};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (strcmp(table_text(settings, row, "key"), ours[i].key) == 0) {
            text_copy(ours[i].place, ours[i].size, table_text(settings, row, "text"));
            return true;
        }
    return false;
}

static void add_rows(const stored_table *table, bool settings, report_chart *chart,
                     text_buffer *out)
{
    for (size_t row = 0; row < table->rows; row++) {
        if (settings && is_ours(table, row, chart))
            continue;
        for (size_t i = 0; i < table->columns; i++) {
            text_add(out, i ? "\t" : "");
            add_cell(&table->cells[row * table->columns + i], out);
        }
        text_add(out, "\n");
    }
}

static void add_setting(const char *key, const char *text, text_buffer *out)
{
    text_format(out, "%s\t0\t", key);
    tsv_add_text(out, text);
    text_add(out, "\n");
}

/* data/STEM.tsv of the table chart, data/STEM_more.tsv of chart_more. */
static bool save_table(const stored_table *table, const char *name, const char *mark,
                       const char *directory, report_chart *chart, error *err)
{
    char suffix[64];
    bool settings = strcmp(name, "chart_settings") == 0;
    text_buffer rows = {0}, out = {0};
    for (size_t i = 0; i < table->columns; i++)
        text_format(&out, "%s%s", i ? "\t" : "", table->names[i]);
    text_add(&out, "\n");
    add_rows(table, settings, chart, &rows);
    if (settings) {
        size_t length = strlen(chart->title);
        if (mark[0] && chart->kind->of_report)
            snprintf(chart->title + length, sizeof chart->title - length, ", %s", mark);
        add_setting("title", chart->title, &out);
        add_setting("footer", chart->footer, &out);
    }
    text_add(&out, rows.bytes ? rows.bytes : "");
    text_free(&rows);
    snprintf(suffix, sizeof suffix, "%.40s.tsv", name + strlen("chart"));
    return tsv_save(&out, directory, chart->stem, suffix, err);
}

static bool save_tables(result_store *store, const char *mark, const char *directory,
                        report_chart *chart, error *err)
{
    stored_table names = {0}, table;
    bool fine = store_temp_names(store, "chart*", &names, err);
    for (size_t i = 0; fine && i < names.rows && !chart->reason[0]; i++) {
        const char *name = table_text(&names, i, "name");
        fine = store_get_table(store, name, &table, err);
        if (fine && table.rows == 0 && strcmp(name, "chart") == 0)
            snprintf(chart->reason, sizeof chart->reason, "%s", chart->kind->needs);
        else if (fine)
            fine = save_table(&table, name, mark, directory, chart, err);
        stored_table_free(&table);
    }
    stored_table_free(&names);
    return fine;
}

bool chart_prepare(result_store *store, const chart_kind *kind, const char *mark,
                   const char *footer, const char *directory, report_chart *chart, error *err)
{
    *chart = (report_chart){.kind = kind};
    snprintf(chart->stem, sizeof chart->stem, "%s%s%s", kind->stem, mark[0] ? "_" : "", mark);
    snprintf(chart->title, sizeof chart->title, "%s", kind->title);
    text_copy(chart->footer, sizeof chart->footer, footer);
    if (!store_scratch_begin(store, err))
        return false;
    bool fine =
        store_script(store, kind->sql, err) && save_tables(store, mark, directory, chart, err);
    store_scratch_end(store);
    return fine;
}

/* ---- drawing ---- */

enum { FORMATS = 3 };
static const char *const formats[FORMATS] = {"svg", "png", "pdf"};

void charts_name_all(word_list *names)
{
    char name[STEM_LENGTH + 16];
    for (size_t i = 0; i < chart_count; i++)
        for (size_t f = 0; f < FORMATS; f++) {
            snprintf(name, sizeof name, "%s.%s", chart_list[i].stem, formats[f]);
            word_list_add(names, name);
            for (ln_type type = LN_F32; type <= LN_F16; type++) {
                snprintf(name, sizeof name, "%s_%s.%s", chart_list[i].stem, dtype_name(type),
                         formats[f]);
                word_list_add(names, name);
            }
        }
}

/* As many drawings at once as there are processors, begun in order. Where gnuplot is missing, or
 * hangs, the rest is not tried. */
static void run_jobs(gnuplot_job *jobs, size_t count, const char *plots_directory)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t at_once = processors < 1 ? 1 : processors < 8 ? (size_t)processors : 8, begun = 0;
    const gnuplot_job *last = NULL;
    for (size_t ended = 0; ended < count; ended++) {
        while (!last && begun < count && begun < ended + at_once)
            gnuplot_start(&jobs[begun++], plots_directory);
        if (ended < begun) {
            gnuplot_end(&jobs[ended]);
        } else {
            jobs[ended].result = last->result;
            memcpy(jobs[ended].note, last->note, sizeof last->note);
        }
        if (!last && (jobs[ended].result == PROGRAM_ABSENT || jobs[ended].result == PROGRAM_LATE))
            last = &jobs[ended];
    }
}

/* A chart is there when all of its formats are; else its reason says what went wrong. */
static void conclude(report_chart *chart, const gnuplot_job jobs[FORMATS])
{
    const gnuplot_job *failed = NULL;
    for (size_t i = 0; i < FORMATS && !failed; i++)
        if (jobs[i].result != PROGRAM_DONE)
            failed = &jobs[i];
    if (!failed)
        return;
    chart->lost = failed->result != PROGRAM_ABSENT;
    snprintf(chart->reason, sizeof chart->reason, "%.*s", REASON_LENGTH - 1, failed->note);
    for (size_t i = 0; i < FORMATS; i++) {
        char path[1200];
        snprintf(path, sizeof path, "%s/%s.%s", jobs[i].folder, jobs[i].stem, jobs[i].format);
        unlink(path);
    }
}

bool charts_draw(report_chart *charts, size_t count, const char *plots_directory,
                 const char *folder, error *err)
{
    gnuplot_job *jobs = allocate_zeroed(count * FORMATS + 1, sizeof *jobs);
    size_t wanted = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t f = 0; f < FORMATS && !charts[i].reason[0]; f++)
            jobs[wanted++] = (gnuplot_job){.stem = charts[i].stem,
                                           .script = charts[i].kind->stem,
                                           .format = formats[f],
                                           .folder = folder};
    run_jobs(jobs, wanted, plots_directory);
    for (size_t i = 0, job = 0; i < count; i++)
        if (!charts[i].reason[0]) {
            conclude(&charts[i], &jobs[job]);
            job += FORMATS;
        }
    free(jobs);
    return !interrupted() ||
           fail(err, EXIT_CODE_INTERRUPTED, "interrupted: lnbench report draws what is stored");
}

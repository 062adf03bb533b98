/* How each chart gets its tables and drawings. */
#include "base/interrupt.h"
#include "base/allocate.h"
#include "report/charts/chart.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

void chart_because(chart_output *out, const char *reason)
{
    snprintf(out->reason, sizeof out->reason, "%s", reason);
}

void chart_setting(chart_output *out, const char *key, double value)
{
    /* gnuplot leaves out a line with a missing number. */
    tsv_row(&out->settings, "wnw", key, isfinite(value) ? value : 0.0, "-");
}

void chart_words(chart_output *out, const char *key, const char *words)
{
    tsv_row(&out->settings, "wnw", key, 0.0, words);
}

void chart_subtitle(chart_output *out, text_buffer *words)
{
    chart_words(out, "subtitle", words->bytes ? words->bytes : "-");
    text_free(words);
}

static bool save(const report_data *data, chart_output *out, const report_chart *chart,
                 const char *directory, error *err)
{
    text_buffer settings = {0}, footer = {0};
    report_footer(data->view, &footer);
    text_add(&settings, "key\tnumber\ttext\n");
    tsv_row(&settings, "wnw", "title", 0.0, chart->title);
    tsv_row(&settings, "wns", "footer", 0.0, footer.bytes ? footer.bytes : "");
    text_add(&settings, out->settings.bytes ? out->settings.bytes : "");
    text_free(&footer);
    bool more = out->more.length > 0;
    bool fine = tsv_save(&settings, directory, chart->stem, "_settings.tsv", err);
    fine = tsv_save(&out->table, directory, chart->stem, ".tsv", fine ? err : NULL) && fine;
    return (!more ||
            tsv_save(&out->more, directory, chart->stem, "_more.tsv", fine ? err : NULL)) &&
           fine;
}

static bool prepare_chart(const report_data *data, const chart_kind *kind, const char *directory,
                          report_chart *chart, error *err)
{
    chart_output out = {0};
    text_buffer again = {0};
    const char *type = data->is_other_type ? dtype_name(data->judged.dtype) : "";
    *chart = (report_chart){.kind = kind};
    snprintf(chart->stem, sizeof chart->stem, "%s%s%s", kind->stem, type[0] ? "_" : "", type);
    snprintf(out.title, sizeof out.title, "%s", kind->title);
    kind->make(data, &out);
    snprintf(chart->title, sizeof chart->title, "%.140s%s%s", out.title, type[0] ? ", " : "", type);
    snprintf(chart->reason, sizeof chart->reason, "%s", out.reason);
    kind->command(data, &again);
    snprintf(chart->again, sizeof chart->again, "%s", again.bytes ? again.bytes : "");
    bool fine = out.reason[0] || save(data, &out, chart, directory, err);
    text_free(&again);
    text_free(&out.table);
    text_free(&out.more);
    text_free(&out.settings);
    return fine;
}

bool charts_prepare(const report_data *data, const char *directory, report_chart *charts,
                    size_t *count, error *err)
{
    for (size_t i = 0; chart_kinds[i]; i++) {
        if (!prepare_chart(data, chart_kinds[i], directory, &charts[*count], err))
            return false;
        /* What another type lacks is not missed. */
        *count += !charts[*count].reason[0] || !data->is_other_type;
    }
    return true;
}

/* ---- drawing ---- */

enum { FORMATS = 3 };
static const char *const formats[FORMATS] = {"svg", "png", "pdf"};

void charts_name_all(word_list *names)
{
    char name[STEM_LENGTH + 16];
    for (size_t i = 0; chart_kinds[i]; i++)
        for (size_t f = 0; f < FORMATS; f++) {
            snprintf(name, sizeof name, "%s.%s", chart_kinds[i]->stem, formats[f]);
            word_list_add(names, name);
            for (ln_type type = LN_F32; type <= LN_F16; type++) {
                snprintf(name, sizeof name, "%s_%s.%s", chart_kinds[i]->stem, dtype_name(type),
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
                                           .script = charts[i].kind->script,
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

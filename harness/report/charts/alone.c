/* Charts of what a command has worked out. */
#include "base/interrupt.h"
#include "base/paths.h"
#include "machine/machine.h"
#include "report/charts/chart.h"
#include <string.h>

enum { ALONE = 2, AGAIN = 3 }; /* formats */
static const char *const formats[AGAIN] = {"svg", "png", "pdf"};

/* NULL: there is none. */
static const chart_kind *kind_named(const char *name)
{
    for (size_t i = 0; i < chart_count; i++)
        if (strcmp(chart_list[i].stem, name) == 0)
            return &chart_list[i];
    return NULL;
}

static void describe_machine(char made_on[256])
{
    machine_facts machine = {0};
    machine_read(&machine);
    snprintf(made_on, 256, "%.200s | commit %.12s", machine_fact_value(&machine, "cpu_model"),
             machine_fact_value(&machine, "git_commit"));
    machine_free(&machine);
}

static bool write_tables(const chart_kind *kind, const char *mark, size_t number, chart_input *put,
                         const void *what, const char *folder, word_list *stems, error *err)
{
    char made_on[256];
    report_chart chart;
    result_store *store;
    if (!store_open_memory(&store, err))
        return false;
    describe_machine(made_on);
    bool fine = put(store, what, number, made_on, err) &&
                chart_prepare(store, kind, mark, made_on, folder, &chart, err) &&
                (!chart.reason[0] || fail(err, EXIT_CODE_ENVIRONMENT, "%s", chart.reason));
    store_close(store);
    if (fine)
        word_list_add(stems, chart.stem);
    return fine;
}

static bool draw_stems(const char *folder, const word_list *stems, const char *script,
                       size_t format_count, gnuplot_job *job, error *err)
{
    char plots[1024];
    if (!path_of_plots(plots, sizeof plots, err))
        return false;
    *job = (gnuplot_job){.result = PROGRAM_DONE};
    for (size_t i = 0; i < format_count * stems->count && job->result == PROGRAM_DONE; i++) {
        *job = (gnuplot_job){.stem = stems->words[i / format_count],
                             .script = script,
                             .format = formats[i % format_count],
                             .folder = folder};
        gnuplot_start(job, plots);
        gnuplot_end(job);
    }
    return true;
}

static void name_drawings(const word_list *stems, size_t format_count, word_list *drawings)
{
    char name[64];
    for (size_t i = 0; i < format_count * stems->count; i++) {
        snprintf(name, sizeof name, "%.50s.%s", stems->words[i / format_count],
                 formats[i % format_count]);
        word_list_add(drawings, name);
    }
}

/* What gnuplot did; the files are published. */
static bool tell_drawings(const gnuplot_job *job, const word_list *drawings, const char *directory,
                          const output_file *out, error *err)
{
    for (size_t i = 0; i < drawings->count && job->result == PROGRAM_DONE; i++)
        output_aside(out, "chart   %s/%s", directory, drawings->words[i]);
    if (job->result == PROGRAM_ABSENT)
        output_note("no chart: %s (the tables are in %s/data)", job->note, directory);
    return job->result == PROGRAM_DONE || job->result == PROGRAM_ABSENT ||
           fail(err, interrupted() ? EXIT_CODE_INTERRUPTED : EXIT_CODE_ENVIRONMENT,
                "no chart %s: %s (the tables are in %s/data)", job->stem, job->note, directory);
}

static bool draw_tables(file_draft *draft, const word_list *stems, const char *script,
                        const output_file *out, error *err)
{
    gnuplot_job job;
    word_list drawings = {0};
    name_drawings(stems, ALONE, &drawings);
    bool fine = draw_stems(draft->folder.path, stems, script, ALONE, &job, err) &&
                draft_publish(draft, &drawings, err) &&
                tell_drawings(&job, &drawings, draft->target, out, err);
    word_list_free(&drawings);
    return fine;
}

bool charts_draw_alone(const char *name, size_t count, chart_input *put, const void *what,
                       const char *directory, const output_file *out, error *err)
{
    const chart_kind *kind = kind_named(name);
    word_list stems = {0};
    file_draft draft;
    char mark[24] = "";
    bool fine = draft_begin(&draft, directory, err);
    for (size_t i = 0; fine && i < (count ? count : 1); i++) {
        if (count)
            snprintf(mark, sizeof mark, "%zu", i + 1);
        fine = write_tables(kind, mark, i, put, what, draft.folder.path, &stems, err);
    }
    fine = fine && draw_tables(&draft, &stems, kind->stem, out, err);
    draft_end(&draft);
    word_list_free(&stems);
    return fine;
}

bool charts_draw_again(const char *name, const char *directory, const output_file *out, error *err)
{
    const word_list stems = {&name, 1};
    word_list drawings = {0};
    gnuplot_job job;
    if (!kind_named(name))
        return fail(err, EXIT_CODE_USAGE,
                    "--draw '%.60s': no such chart (docs/report.md lists them)", name);
    name_drawings(&stems, AGAIN, &drawings);
    bool fine = draw_stems(directory, &stems, name, AGAIN, &job, err) &&
                tell_drawings(&job, &drawings, directory, out, err);
    word_list_free(&drawings);
    return fine;
}
